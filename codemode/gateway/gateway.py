"""The gateway: every call of every face passes `Gateway.call`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from codemode.catalog.arguments import validate
from codemode.catalog.observed import ObservedShapes
from codemode.errors import CallError, CodeModeError, UpstreamTimeout, UpstreamUnreachable
from codemode.gateway.call import CallState, ToolOutcome

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool
    from codemode.gateway.call import ToolCall

    Send = Callable[["Transport", Tool, Mapping[str, Any]], Awaitable[Any]]


class Page(Protocol):
    """One page of a list: the whole answer, its items, and the arguments of the next page, if there is one."""

    @property
    def value(self) -> Any: ...  # noqa: D102
    @property
    def items(self) -> list[Any]: ...  # noqa: D102
    @property
    def next_arguments(self) -> dict[str, Any] | None: ...  # noqa: D102


class Transport(Protocol):
    """How the tools of one source are reached. It alone knows the credentials."""

    async def call(self, tool: Tool, arguments: Mapping[str, Any]) -> Any:
        """Send validated arguments and return JSON data. Raises a CallError."""

    async def call_page(self, tool: Tool, arguments: Mapping[str, Any]) -> Page:
        """The same for one page of a list. Raises a CallError, also where the tool has no pages."""

    async def aclose(self) -> None:
        """Close the connections."""


class Gateway:
    """Resolve, validate, send: one door for all calls against one catalog."""

    def __init__(
        self, catalog: Catalog, transports: Mapping[str, Transport], shapes: ObservedShapes | None = None
    ) -> None:
        self.catalog = catalog
        self._transports = transports
        self._shapes = ObservedShapes() if shapes is None else shapes

    async def call(self, call: ToolCall) -> ToolOutcome:
        """Make one call. Never raises for what the caller or the other side did: the outcome says it."""

        async def send(transport: Transport, tool: Tool, arguments: Mapping[str, Any]) -> Any:
            value = await transport.call(tool, arguments)
            self._shapes.observe(tool, value)
            return value

        return await self._pass(call, send)

    async def call_page(self, call: ToolCall) -> ToolOutcome:
        """Make one call for a page of a list; the value is the transport's page."""
        return await self._pass(call, lambda transport, tool, arguments: transport.call_page(tool, arguments))

    async def _pass(self, call: ToolCall, send: Send) -> ToolOutcome:
        try:
            tool = self.catalog.get(call.tool)
            arguments = validate(tool, call.arguments)
        except CodeModeError as error:
            return ToolOutcome(call.tool, CallState.FAILED, error=error)
        try:
            value = await send(self._transports[tool.source], tool, arguments)
        except UpstreamTimeout as error:
            return ToolOutcome(tool.id, CallState.UNKNOWN, error=error)
        except UpstreamUnreachable as error:
            return ToolOutcome(tool.id, CallState.NOT_STARTED, error=error)
        except CallError as error:
            return ToolOutcome(tool.id, CallState.FAILED, error=error)
        return ToolOutcome(tool.id, CallState.COMMITTED, value=value)
