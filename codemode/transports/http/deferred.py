"""An HTTP transport that opens with its first call, so that start-up needs no secrets."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from codemode.errors import ConfigurationError, CredentialsMissing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.catalog.tool import Tool
    from codemode.transports.auth.requirements import Authentication
    from codemode.transports.base import CallContext, Page
    from codemode.transports.http.transport import HttpTransport


class DeferredTransport:
    """Calls through what `open_` makes of the credentials that `authenticate` reads, in a thread, when first needed.

    `authenticate` may raise ConfigurationError: the call then fails, and the next one tries again.
    """

    def __init__(
        self,
        source: str,
        authenticate: Callable[[], Authentication],
        open_: Callable[[Authentication], HttpTransport],
        *,
        idempotency_header: str = "",
    ) -> None:
        self.idempotency_header = idempotency_header
        self._source = source
        self._authenticate = authenticate
        self._open = open_
        self._opening = asyncio.Lock()
        self._opened: HttpTransport | None = None

    async def call(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
        """See `HttpTransport.call`. Raises CredentialsMissing also where a secret is not there."""
        return await (await self._transport()).call(tool, arguments, context)

    async def call_page(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Page:
        """See `HttpTransport.call_page`. Raises CredentialsMissing also where a secret is not there."""
        return await (await self._transport()).call_page(tool, arguments, context)

    async def aclose(self) -> None:
        """Close what was opened."""
        if self._opened is not None:
            await self._opened.aclose()

    async def _transport(self) -> HttpTransport:
        async with self._opening:
            if self._opened is None:
                try:
                    self._opened = self._open(await asyncio.to_thread(self._authenticate))
                except ConfigurationError as error:
                    hint = f"the operator has not given what {self._source} asks for"
                    said = str(error).removeprefix(f"sources.{self._source}: ")
                    message = f"sources.{self._source}: {said}; nothing was sent"
                    raise CredentialsMissing(message, hint=hint) from None
        return self._opened
