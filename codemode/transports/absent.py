"""The way to a source that is not there: every call says why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from codemode.errors import UpstreamUnreachable
from codemode.transports.auth.credentials import NOBODY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.catalog.tool import Tool
    from codemode.transports.auth.credentials import CallerCredentials


class AbsentTransport:
    """Sends nothing. Each call raises UpstreamUnreachable with the reason."""

    def __init__(self, source: str, reason: str) -> None:
        self._source = source
        self._reason = reason

    async def call(self, tool: Tool, arguments: Mapping[str, Any], credentials: CallerCredentials = NOBODY) -> NoReturn:
        """Raises UpstreamUnreachable."""
        message = f"{self._source} is unavailable: {self._reason}; nothing was sent"
        raise UpstreamUnreachable(message, source=self._source)

    async def call_page(
        self, tool: Tool, arguments: Mapping[str, Any], credentials: CallerCredentials = NOBODY
    ) -> NoReturn:
        """Raises UpstreamUnreachable."""
        await self.call(tool, arguments, credentials)

    async def aclose(self) -> None:
        """There is nothing to close."""
