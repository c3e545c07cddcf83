"""The steps of a journal transaction, for any database. See `transactions`."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple, TypeVar


class Statement(NamedTuple):
    """One statement with its parameters."""

    sql: str
    parameters: tuple[Any, ...] = ()


class Statements(NamedTuple):
    """One statement, executed for each tuple of parameters. It returns no rows."""

    sql: str
    parameters: tuple[tuple[Any, ...], ...]


class Now(NamedTuple):
    """The time of the clock shared by all servers of the store, as one row with one number."""


Result = TypeVar("Result")
Step = Statement | Statements | Now
Transaction = Generator[Step, Sequence[Any], Result]


def now_us() -> Transaction[int]:
    """Return the time, in microseconds since the epoch."""
    return int((yield Now())[0][0])
