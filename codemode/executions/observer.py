"""Whoever looks on while programs run, and all of them together."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codemode.executions.execution import ExecutionOutcome
    from codemode.executions.ledger import LedgerEntry
    from codemode.gateway.caller import Caller

T = TypeVar("T", bound="Observer")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Started:
    """An execution that begins: its id, who asked for it, and the SHA-256 of the program."""

    id: str
    caller: Caller
    digest: str

    @classmethod
    def of(cls, execution: str, caller: Caller, code: str) -> Started:
        """For a program, which itself is kept nowhere."""
        return cls(execution, caller, hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest())


class Observer(Protocol):
    """Is told of each execution in order. What it raises is logged and goes no further."""

    def started(self, execution: Started) -> None:
        """A program is about to run."""

    def called(self, execution: Started, entry: LedgerEntry) -> None:
        """A call was refused, is about to be sent (`unknown`), or has ended."""

    def ended(self, execution: Started, outcome: ExecutionOutcome | None) -> None:
        """The program has ended; no outcome where it was cancelled or could not run."""

    def close(self) -> None:
        """Nothing more comes."""


class Observers:
    """Passes everything on to each of them. A disk that is full must not end a program: failures are only logged."""

    def __init__(self, observers: Sequence[Observer] = ()) -> None:
        self._observers = tuple(observers)

    def started(self, execution: Started) -> None:
        """Pass it on."""
        self._each(lambda observer: observer.started(execution))

    def called(self, execution: Started, entry: LedgerEntry) -> None:
        """Pass it on."""
        self._each(lambda observer: observer.called(execution, entry))

    def ended(self, execution: Started, outcome: ExecutionOutcome | None) -> None:
        """Pass it on."""
        self._each(lambda observer: observer.ended(execution, outcome))

    def close(self) -> None:
        """Pass it on."""
        self._each(lambda observer: observer.close())

    def find(self, kind: type[T]) -> T | None:
        """Return the first observer of this kind."""
        return next((observer for observer in self._observers if isinstance(observer, kind)), None)

    def _each(self, tell: Callable[[Observer], None]) -> None:
        for observer in self._observers:
            try:
                tell(observer)
            except Exception:
                log.exception("%s could not be told", type(observer).__name__)
