"""What sessions and saved programs know of each other: the run of a saved program, and what stops it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from sandbox import ProgramStopped, Recording

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from codemode.catalog.saved import SavedProgram
    from codemode.gateway.call import JudgedCall
    from sandbox import Call, Failure

#: Between the path of a saved program's call and those of its own calls.
WITHIN = ":"


class SavedCalls(Protocol):
    """Answers the calls of saved programs."""

    async def answer(self, judged: JudgedCall, program: SavedProgram) -> Any:
        """Run a program and return its value. Raises CallFailed, and ProgramStopped if the execution stops."""
        ...


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
