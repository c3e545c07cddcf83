"""What a transaction of a journal is made of, for any database; see `transactions`."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement and its parameters."""

    sql: str
    parameters: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Statements:
    """One statement carried out for each tuple of parameters; it gives no rows."""

    sql: str
    parameters: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class Now:
    """The time by the clock that all servers of the store share, as one row of one number."""


Result = TypeVar("Result")
Step = Statement | Statements | Now
Transaction = Generator[Step, Sequence[Any], Result]


def now_us() -> Transaction[int]:
    """The time, in microseconds since the epoch."""
    return int((yield Now())[0][0])
