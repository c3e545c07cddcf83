"""The transport of a source with several accounts: one transport for each, which share nothing.

Connections, sessions, tokens, request plans and redaction belong to one account by construction: each has a transport
of its own, opened with its first call.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from codemode.errors import CredentialsMissing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from codemode.catalog.tool import Tool
    from codemode.transports.auth.account import Account
    from codemode.transports.base import AnsweringTransport, CallContext, Page, Transport


class LoginEnded(CredentialsMissing):
    """The login of an account is over, and cannot be renewed."""


#: Transports of one source that stay open. Of more, those that were not used for the longest time are closed.
MOST_OPEN = 128

T = TypeVar("T", bound="Transport")


@dataclass(slots=True)
class _Slot(Generic[T]):
    """The transport of one account, once it is open, and the number of calls that use it now."""

    opening: asyncio.Lock
    transport: T | None = None
    calls: int = 0


class ConnectedTransport(Generic[T]):
    """Carries each call with the transport of its account, which `open_` makes.

    A call without an account is refused: whoever sent it did not ask whose credentials to use.
    """

    def __init__(
        self,
        source: str,
        open_: Callable[[Account], Awaitable[T]],
        *,
        idempotency_header: str = "",
        most_open: int = MOST_OPEN,
    ) -> None:
        self.idempotency_header = idempotency_header
        self._source = source
        self._open = open_
        self._most_open = most_open
        self._slots: OrderedDict[tuple[str, str, str], _Slot[T]] = OrderedDict()

    async def call(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
        """See `Transport.call`. Raises CredentialsMissing for a call without an account."""
        async with self._transport(context) as transport:
            return await transport.call(tool, arguments, context)

    async def call_page(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Page:
        """See `Transport.call_page` and `call`."""
        async with self._transport(context) as transport:
            return await transport.call_page(tool, arguments, context)

    async def call_response(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Page:
        """See `AnsweringTransport.call_response` and `call`."""
        async with self._transport(context) as transport:
            return await cast("AnsweringTransport", transport).call_response(tool, arguments, context)

    async def call_result(self, tool: Tool, first: Page, context: CallContext, wait_s: float) -> Page:
        """See `AnsweringTransport.call_result` and `call`."""
        async with self._transport(context) as transport:
            return await cast("AnsweringTransport", transport).call_result(tool, first, context, wait_s)

    async def aclose(self) -> None:
        """Close all transports."""
        slots, self._slots = list(self._slots.values()), OrderedDict()
        await asyncio.gather(*(slot.transport.aclose() for slot in slots if slot.transport is not None))

    @asynccontextmanager
    async def _transport(self, context: CallContext) -> AsyncIterator[T]:
        """Yield the transport of the account of a call, which stays open meanwhile."""
        account = context.account
        if account is None:
            hint = f"this call did not say which account of {self._source} it uses"
            message = f"{hint}; nothing was sent"
            raise CredentialsMissing(message, hint=hint)
        slot = self._slots.setdefault(account.key, _Slot(asyncio.Lock()))
        self._slots.move_to_end(account.key)
        slot.calls += 1
        try:
            async with slot.opening:
                if slot.transport is None:
                    slot.transport = await self._open(account)
            try:
                yield slot.transport
            except CredentialsMissing as error:
                if account.mark:
                    raise LoginEnded(str(error), hint=f"your login at {self._source} has ended") from None
                raise
        finally:
            slot.calls -= 1
            await self._close_idle()

    async def _close_idle(self) -> None:
        """Close the transports that were not used for the longest time, if there are too many."""
        for key in [key for key, slot in self._slots.items() if not slot.calls]:
            if len(self._slots) <= self._most_open:
                return
            slot = self._slots.pop(key)
            if slot.transport is not None:
                await slot.transport.aclose()
