"""The run of a saved program within another program, and what stops it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sandbox import ProgramStopped, Recording

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from datetime import datetime

    from codemode.executions.run.turns import Turns
    from sandbox import Call, Engine, Failure, Limits

#: Between the path of a saved program's call and those of its own calls.
WITHIN = ":"


@dataclass(frozen=True, slots=True)
class InnerPrograms:
    """Where programs within one program run: the engine, their turns and limits, and the names that they see."""

    engine: Engine
    turns: Turns
    limits: Limits
    names: Collection[str]


class InnerRecorder(Recording, Protocol):
    """The recording of one run of a saved program."""

    def identify(self, call: Call) -> None:
        """Register a call of the program. Raises ProgramStopped if another call was recorded."""
        ...


@dataclass(frozen=True, slots=True)
class InnerRun:
    """What one run of a saved program is made from. Without a recording, seed and time are fresh."""

    code: str
    seed: bytes | None = None
    now: datetime | None = None
    recording: InnerRecorder | None = None


class Stop:
    """The failure with which a call or the journal has stopped the whole execution, None while none has."""

    def __init__(self) -> None:
        self.failure: Failure | None = None

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Keep the failure of a ProgramStopped that passes."""
        try:
            yield
        except ProgramStopped as stopped:
            self.failure = self.failure or stopped.failure
            raise
