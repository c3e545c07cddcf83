"""Rate limits and retries: how many calls run at once, how many start per second, and which are repeated."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from codemode.errors import UpstreamError
from codemode.transports.allowances import Allowances, Rate
from codemode.transports.http.uncertainty import Interrupted, has_key, is_in_progress

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType

    from codemode.transports.allowances import Allowance
    from codemode.transports.http.request import HttpRequest

#: Methods without effects, which are safe to repeat (RFC 9110, 9.2.1).
_SAFE = frozenset(("GET", "HEAD", "OPTIONS", "TRACE", "QUERY"))

#: Idempotent methods: a repetition has no further effect (9.2.2).
_IDEMPOTENT = _SAFE | {"PUT", "DELETE"}

#: Statuses that ask for a retry. A 429 with a Retry-After is the service's own, which refused the request before it did
#: anything: that is repeated with any method. Another may be passed on half way through the work (RFC 6585, 4).
_TOO_MANY = 429
_UNAVAILABLE = 503
_FOR_NOW = frozenset((502, _UNAVAILABLE, 504))

#: Waits for the limit of a service within one call.
MOST_WAITS = 8

#: First back-off in seconds without the service's advice. Each further one doubles.
FIRST_WAIT_S = 0.25

#: Longest back-off in seconds while the service works on the first request with the same key.
_KEY_WAIT_S = 2.0


@dataclass(slots=True)
class Attempts:
    """The attempts of one call until its `deadline`. `waits` for the limit of the service move it."""

    deadline: float
    made: int = 0
    waits: int = 0


class Pace:
    """Limits calls to `concurrency` at once, and their starts to an allowance. Entering raises RateUnknown."""

    def __init__(
        self,
        concurrency: int,
        allowance: Allowance | None = None,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._gate = asyncio.Semaphore(concurrency)
        self._allowance = allowance
        self._sleep = sleep

    @classmethod
    def of_source(
        cls, source: str, concurrency: int, rate_per_s: float | None, allowances: Allowances | None = None
    ) -> Self:
        """Return the pace of a source: at most `concurrency` calls at once, and `rate_per_s` starts per second."""
        if rate_per_s is None:
            return cls(concurrency)
        return cls(concurrency, (allowances or Allowances()).of(Rate(f"source {source}", rate_per_s)))

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
        if self._allowance is None:
            return
        wait_s = await self._allowance.reserve()
        if wait_s:
            await self._sleep(wait_s)


def is_limit(error: Exception) -> bool:
    """Return whether a service asks to wait for its limit, and says how long."""
    return _status(error) in (_TOO_MANY, _UNAVAILABLE) and getattr(error, "retry_after_s", None) is not None


def _status(error: Exception) -> int | None:
    return error.status if isinstance(error, UpstreamError) else None


def wait_before_retry(error: Exception, request: HttpRequest, attempt: int) -> float | None:
    """Return the back-off before another attempt in seconds, None if there must be none. `attempt` counts from 0.

    A DELETE is repeated after a 429 only: otherwise the first attempt may have succeeded, and the second would return
    404. Other writes are repeated with a key, or after a 429 that says when.
    """
    is_keyed = has_key(request)
    is_repeatable = is_keyed or request.method in _IDEMPOTENT or (is_limit(error) and _status(error) == _TOO_MANY)
    usual = FIRST_WAIT_S * 2**attempt
    if isinstance(error, Interrupted):
        if not is_repeatable or (request.method == "DELETE" and not is_keyed):
            return None
        return 0.0 if error.is_stale and attempt == 0 else usual
    if not isinstance(error, UpstreamError) or not is_repeatable:
        return None
    if is_in_progress(error, request):
        return min(usual, _KEY_WAIT_S) if error.retry_after_s is None else error.retry_after_s
    is_worth_it = error.status == _TOO_MANY or (error.status in _FOR_NOW and (is_keyed or request.method != "DELETE"))
    if not is_worth_it:
        return None
    return usual if error.retry_after_s is None else error.retry_after_s
