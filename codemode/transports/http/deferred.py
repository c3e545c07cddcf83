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
    """A transport that opens with its first call.

    `authenticate` reads the credentials, in a thread, and `open_` builds the transport from them. If `authenticate`
    raises ConfigurationError, the call fails and the next call tries again.
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
        """See `HttpTransport.call`. Also raises CredentialsMissing if a secret is missing."""
        return await (await self._transport()).call(tool, arguments, context)

    async def call_page(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Page:
        """See `HttpTransport.call_page`. Also raises CredentialsMissing if a secret is missing."""
        return await (await self._transport()).call_page(tool, arguments, context)

    async def call_response(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Page:
        """See `HttpTransport.call_response`. Also raises CredentialsMissing if a secret is missing."""
        return await (await self._transport()).call_response(tool, arguments, context)

    async def call_result(self, tool: Tool, first: Page, context: CallContext, wait_s: float) -> Page:
        """See `HttpTransport.call_result`. Also raises CredentialsMissing if a secret is missing."""
        return await (await self._transport()).call_result(tool, first, context, wait_s)

    async def aclose(self) -> None:
        """Close the transport if it was opened."""
        if self._opened is not None:
            await self._opened.aclose()

    async def _transport(self) -> HttpTransport:
        async with self._opening:
            if self._opened is None:
                try:
                    self._opened = self._open(await asyncio.to_thread(self._authenticate))
                except ConfigurationError as error:
                    hint = f"the operator has not provided the credentials that {self._source} requires"
                    reason = str(error).removeprefix(f"sources.{self._source}: ")
                    message = f"sources.{self._source}: {reason}; nothing was sent"
                    raise CredentialsMissing(message, hint=hint) from None
        return self._opened
