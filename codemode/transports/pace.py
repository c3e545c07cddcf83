"""How many calls of a source run at once, how many start in a second, and what is tried again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from codemode.errors import UpstreamError
from codemode.transports.exchange import Interrupted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType

#: Methods that change nothing, so that a second attempt can do no harm (RFC 9110, 9.2.1).
SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS", "TRACE", "QUERY"))

#: Statuses that ask for another attempt. 429 says that the request was not processed (RFC 6585): any method may repeat.
_NOT_PROCESSED = 429
_FOR_NOW = frozenset((502, 503, 504))

#: The first wait where the service gives no advice; each further one is twice as long.
_FIRST_WAIT_S = 0.25


class Pace:
    """Lets at most `concurrency` calls run at once, and starts at most `rate_per_s` in a second."""

    def __init__(
        self,
        concurrency: int,
        rate_per_s: float | None = None,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._gate = asyncio.Semaphore(concurrency)
        self._between_s = 1 / rate_per_s if rate_per_s else 0.0
        self._next = 0.0
        self._sleep = sleep
        self._clock = clock

    async def __aenter__(self) -> None:
        await self._gate.acquire()
        try:
            await self._turn()
        except BaseException:
            self._gate.release()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._gate.release()

    async def _turn(self) -> None:
        if not self._between_s:
            return
        now = self._clock() if self._clock else asyncio.get_running_loop().time()
        start = max(now, self._next)
        self._next = start + self._between_s
        if start > now:
            await self._sleep(start - now)


def wait_before_retry(error: Exception, method: str, attempt: int) -> float | None:
    """How long to wait before another attempt, in seconds; None where there must be none. `attempt` counts from 0."""
    usual = _FIRST_WAIT_S * 2**attempt
    if isinstance(error, Interrupted):
        return usual if method in SAFE_METHODS else None
    if not isinstance(error, UpstreamError):
        return None
    is_worth_it = error.status == _NOT_PROCESSED or (error.status in _FOR_NOW and method in SAFE_METHODS)
    if not is_worth_it:
        return None
    return usual if error.retry_after_s is None else error.retry_after_s
