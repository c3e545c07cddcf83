"""Tracebacks: which lines of the program an error came through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox.guest.language.compilation import FILENAME

if TYPE_CHECKING:
    from types import TracebackType


def program_lines(traceback: TracebackType | None) -> list[tuple[int, str]]:
    """Return line and function of each frame that belongs to the program, outermost first."""
    found = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename == FILENAME:
            found.append((traceback.tb_lineno, code.co_name))
        traceback = traceback.tb_next
    return found
