"""The transport of a source that could not be loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from codemode.errors import UpstreamUnreachable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.catalog.tool import Tool
    from codemode.transports.base import CallContext


class AbsentTransport:
    """Sends nothing. Each call raises UpstreamUnreachable with the reason."""

    idempotency_header = ""

    def __init__(self, source: str, reason: str) -> None:
        self._source = source
        self._reason = reason

    async def call(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> NoReturn:
        """Raises UpstreamUnreachable."""
        message = f"{self._source} is unavailable: {self._reason}; nothing was sent"
        raise UpstreamUnreachable(message, source=self._source)

    async def call_page(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> NoReturn:
        """Raises UpstreamUnreachable."""
        await self.call(tool, arguments, context)

    async def aclose(self) -> None:
        """Do nothing."""
