"""The tools of a task for peers. Their calls go through the service, so that they are checked and recorded as ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codemode.catalog.definitions import native

if TYPE_CHECKING:
    from codemode.catalog.tool import Tool
    from codemode.service import CodeMode


class CallFailed(Exception):
    """A tool failed, or its call was rejected. The message is the one that a program gets."""


class ServiceTool:
    """A tool of a service: name, description and parameters for the peer, and the call.

    `shop.orders.list` is `shop_orders_list`: the name is an identifier for peers whose programs call functions.
    """

    def __init__(self, service: CodeMode, tool: Tool) -> None:
        definition = native(tool)["function"]
        self.name = tool.id.replace(".", "_")
        self.description: str = definition["description"]
        self.parameters: dict[str, Any] = definition["parameters"]
        self._service = service
        self._id = tool.id

    async def call(self, **arguments: Any) -> Any:
        """Make a call. Return JSON data. Raises CallFailed."""
        outcome = await self._service.execute(f"{self._id}(**{arguments!r})")
        if outcome.ok:
            return outcome.value
        raise CallFailed(outcome.failure.message if outcome.failure is not None else outcome.status)


async def tools_of(service: CodeMode) -> list[ServiceTool]:
    """Return the tools of a service."""
    return [ServiceTool(service, tool) for tool in (await service.view()).catalog]
