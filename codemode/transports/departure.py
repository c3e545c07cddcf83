"""The moment from which on a call may have been done: who makes it writes it down right before.

A call may have to wait for its turn, and whoever makes it may lose the right to it meanwhile.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class Departure:
    """Tells who makes a call that it is about to be sent, by `again` where it is sent once more.

    What that raises ends the call, and nothing is sent. Where nobody is to be told the call may have left.
    """

    def __init__(
        self, tell: Callable[[], Awaitable[None]] | None = None, again: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self._tell = tell
        self._again = again

    @property
    def has_left(self) -> bool:
        """Whether the call may have been done."""
        return self._tell is None

    async def leave(self) -> None:
        """The call is about to be sent, or sent again."""
        if self._tell is not None:
            await self._tell()
            self._tell = None
        elif self._again is not None:
            await self._again()


#: That of the call which is being made, set by who makes it.
DEPARTURE: ContextVar[Departure] = ContextVar("call_departure", default=Departure())  # noqa: B039 -- this one stays as it is
