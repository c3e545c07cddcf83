"""The interface of an observer: it is told of each execution while programs run."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from codemode.executions.execution import ExecutionOutcome
    from codemode.executions.ledger import LedgerEntry
    from codemode.gateway.caller import Caller


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
