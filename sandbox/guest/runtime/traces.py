"""`error.__traceback__`: a token. It can be handed to `traceback` and tells its line; frames stay out of reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox.guest.language.compilation import FILENAME
from sandbox.guest.runtime.handed_out import handed_out

if TYPE_CHECKING:
    from types import TracebackType


@handed_out
class Trace:
    """Stands for the traceback of one error."""

    __slots__ = ("_error", "tb_lineno")

    def __init__(self, error: BaseException) -> None:
        self._error = error
        lines = program_lines(error.__traceback__)
        self.tb_lineno = lines[0][0] if lines else 0  # of the frame that handles the error

    def __eq__(self, other: object) -> bool:
        return type(other) is Trace and other._error is self._error

    def __hash__(self) -> int:
        return hash(self.tb_lineno)

    def __repr__(self) -> str:
        return f"<traceback object at line {self.tb_lineno}>"

    @classmethod
    def of(cls, error: BaseException) -> Trace | None:
        """Return the token of an error that was raised, None for one that was not."""
        return None if error.__traceback__ is None else cls(error)


def program_lines(traceback: TracebackType | None) -> list[tuple[int, str]]:
    """Return line and function of each frame that belongs to the program, outermost first."""
    found = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename == FILENAME:
            found.append((traceback.tb_lineno, code.co_name))
        traceback = traceback.tb_next
    return found


def real_traceback(trace: Trace) -> TracebackType | None:
    """Return what a token stands for, to be put on another error."""
    return trace._error.__traceback__


def trace_error(trace: Trace) -> BaseException:
    """Return the error that a token stands for."""
    return trace._error
