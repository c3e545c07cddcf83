"""What comes out of an execution, and what crosses between a program and whoever answers its calls."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class Status(StrEnum):
    """How a program ended."""

    COMPLETED = "completed"
    FAILED = "failed"  # it raised, or its result cannot be returned
    REFUSED = "refused"  # language policy or preflight: nothing ran
    TIMED_OUT = "timed_out"  # wall clock or processor time
    OUT_OF_MEMORY = "out_of_memory"
    CRASHED = "crashed"  # the worker died, or broke the protocol
    CANCELLED = "cancelled"  # whoever asked for it gave up


@dataclass(frozen=True, slots=True)
class CallSite:
    """One call of a bound name as it stands in the source, sent before anything runs.

    `keywords` are the names of the keyword arguments; `positional` counts the positional ones; `open_ended` is true
    when the site also has `*x` or `**x`, so that more may come at run time. `line` counts from 1, `column` from 0.
    """

    name: str
    keywords: tuple[str, ...]
    positional: int
    open_ended: bool
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a program must not run: where, what is wrong, and what to write instead."""

    rule: str
    message: str
    line: int
    column: int = 0
    hint: str = ""


async def _at_once() -> None:
    """Wait for nothing."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call that a program makes. `id` grows by one; `path` is its place in the tree of the program's tasks.

    A handler that queues calls awaits `room()` before it makes one: it returns when the program has read enough of its
    earlier answers, and raises CallFailed if the program may get no more.
    """

    id: int
    path: str
    tool: str
    arguments: dict[str, Any]
    room: Callable[[], Awaitable[None]] = field(default=_at_once, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a program did not complete, for the reader who must mend it.

    `type` is the name of the exception or of the limit, `line` counts from 1 in the program as it was sent, `excerpt`
    is the source around that line, `traceback` names lines of the program only.
    """

    type: str
    message: str
    line: int | None = None
    column: int | None = None
    excerpt: str = ""
    hint: str = ""
    traceback: str = ""
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """What an execution used: seconds, bytes and counts, as seen from outside the worker."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    peak_memory_bytes: int = 0
    calls: int = 0
    output_bytes: int = 0


class JsonText:
    """A large value as the JSON text that was checked; `value` is read from it when first asked for, and kept.

    To read 16 MiB takes some .3 s, in which nothing else happens in the process: whoever passes a result on takes
    `data`.
    """

    __slots__ = ("_read", "_value", "data")

    def __init__(self, data: bytes, read: Callable[[bytes], Any] = json.loads) -> None:
        self.data = data
        self._read = read
        self._value: Any = _UNREAD

    @property
    def value(self) -> Any:
        """The value itself."""
        if self._value is _UNREAD:
            self._value = self._read(self.data)
        return self._value

    def __eq__(self, other: object) -> bool:
        return self.data == other.data if isinstance(other, JsonText) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.data)

    def __repr__(self) -> str:
        return f"JsonText({len(self.data)} bytes)"


_UNREAD = object()


def value_of(result: Any) -> Any:
    """Return the value of a result, which may be a text."""
    return result.value if type(result) is JsonText else result


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of an execution: never an exception for something that the program did.

    `result` is JSON data, or a `JsonText` where that is large; `value` is the data in both cases (None, too, when the
    program has no result: `has_value` tells them apart); `output` is what it
    printed; `isolation` names the layers that were in force; `limit` names the limit that was hit; `notes` are remarks
    for the author of the program (calls that ran one after another, a call never awaited …).
    """

    status: Status
    result: Any = None
    has_value: bool = False
    output: str = ""
    output_truncated: bool = False
    failure: Failure | None = None
    usage: Usage = field(default_factory=Usage)
    isolation: tuple[str, ...] = ()
    limit: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def value(self) -> Any:
        """The result as JSON data."""
        return value_of(self.result)

    @property
    def ok(self) -> bool:
        """Whether the program ran to its end."""
        return self.status is Status.COMPLETED
