"""Observers of running programs."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codemode.executions.types.delivery import Delivery
    from codemode.executions.types.ledger import LedgerEntry
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.executions.types.records import PendingCall
    from codemode.executions.types.remembered import Remembered
    from codemode.gateway.caller import Caller

T = TypeVar("T", bound="Observer")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ExecutionStart:
    """An execution that begins: its id, its caller, and the SHA-256 of its program."""

    id: str
    caller: Caller
    digest: str

    @classmethod
    def of(cls, execution: str, caller: Caller, code: str) -> ExecutionStart:
        """Build one from a program. Only the digest of the program is kept."""
        return cls(execution, caller, hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest())


class Observer(Protocol):
    """Receives the events of each execution in order. Its exceptions are logged and suppressed."""

    def started(self, execution: ExecutionStart) -> None:
        """Handle a program that is about to run."""

    def called(self, execution: ExecutionStart, entry: LedgerEntry) -> None:
        """Handle a call that was refused, is about to be sent (`unknown`), or has ended."""

    def ended(self, execution: ExecutionStart, outcome: ExecutionOutcome | None) -> None:
        """Handle the end of a program. `outcome` is None if it was cancelled or could not run."""

    def decided(self, call: PendingCall) -> None:
        """Handle a person's decision on a call of a paused execution."""

    def remembered(self, decision: Remembered) -> None:
        """Handle an approval that will also cover later calls, or the end of one (`revoked_by`)."""

    def notified(self, delivery: Delivery) -> None:
        """Handle an attempt to tell people what waits for them. It may belong to an earlier execution."""

    def close(self) -> None:
        """Release resources. No more events follow."""


class Observers:
    """Passes every event to all observers. A full disk must not end a program, so failures are only logged."""

    def __init__(self, observers: Sequence[Observer] = ()) -> None:
        self._observers = tuple(observers)

    def started(self, execution: ExecutionStart) -> None:
        """Pass the event on."""
        self._each(lambda observer: observer.started(execution))

    def called(self, execution: ExecutionStart, entry: LedgerEntry) -> None:
        """Pass the event on."""
        self._each(lambda observer: observer.called(execution, entry))

    def ended(self, execution: ExecutionStart, outcome: ExecutionOutcome | None) -> None:
        """Pass the event on."""
        self._each(lambda observer: observer.ended(execution, outcome))

    def decided(self, call: PendingCall) -> None:
        """Pass the event on."""
        self._each(lambda observer: observer.decided(call))

    def remembered(self, decision: Remembered) -> None:
        """Pass the event on."""
        self._each(lambda observer: observer.remembered(decision))

    def notified(self, delivery: Delivery) -> None:
        """Pass the event on."""
        self._each(lambda observer: observer.notified(delivery))

    def close(self) -> None:
        """Close all observers."""
        self._each(lambda observer: observer.close())

    def find(self, kind: type[T]) -> T | None:
        """Return the first observer of this kind."""
        return next((observer for observer in self._observers if isinstance(observer, kind)), None)

    def _each(self, deliver: Callable[[Observer], None]) -> None:
        for observer in self._observers:
            try:
                deliver(observer)
            except Exception:
                log.exception("the observer %s failed", type(observer).__name__)
