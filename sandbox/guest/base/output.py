"""The output of a program: kept within its limit, and sent whenever the program is about to wait."""

from __future__ import annotations

import builtins
import io
import sys
from typing import Any

from sandbox.guest.base.identities import IDENTITIES
from sandbox.protocol.guest_messages import encode_output

_CUT = "\n[output cut here: the limit is {limit:,} bytes; return data as the result instead of printing it]\n"
#: One frame of output; larger text goes out in several.
_FRAME = 512 * 1024


class Output:
    """Collects printed text up to a limit in bytes. The output says so if text is dropped."""

    def __init__(self) -> None:
        self._limit = self._room = 0
        self.is_empty = True
        self._parts: list[str] = []
        self.was_cut = False

    def allow(self, limit_bytes: int) -> None:
        """Set the limit."""
        self._limit = limit_bytes
        self._room = max(0, limit_bytes - len(_CUT.format(limit=limit_bytes)))

    def write(self, text: str) -> None:
        """Take text. Raises TypeError for anything else."""
        text = text if type(text) is str else str.__str__(text)  # a subclass may lie about its length
        if " at 0x" in text:
            text = IDENTITIES.steady(text)
        if self.was_cut or not text:
            return
        self.is_empty = False
        size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        if size <= self._room:
            self._room -= size
            self._parts.append(text)
            return
        kept = text.encode("utf-8", "replace")[: self._room].decode("utf-8", "ignore")
        self._parts.append(kept + _CUT.format(limit=self._limit))
        self.was_cut = True

    def take(self) -> bytes:
        """Return the text printed since the last call as frames, or nothing."""
        if not self._parts:
            return b""
        text = "".join(self._parts)
        self._parts.clear()
        pieces = [text[start : start + _FRAME] for start in range(0, len(text), _FRAME)]
        return b"".join(encode_output(piece, cut=self.was_cut and piece is pieces[-1]) for piece in pieces)


#: Characters of standard error that are kept. The beginning says what went wrong.
_MOST_ERRORS = 900


class Errors:
    """Collects text on standard error. Its beginning becomes a note of the outcome."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._room = _MOST_ERRORS

    def write(self, text: str) -> None:
        """Take text. Raises TypeError for anything else."""
        text = str.__str__(text)
        if self._room > 0 and text:
            self._parts.append(text[: self._room])
            self._room -= len(text)

    @property
    def remark(self) -> str:
        """The collected text as one note, or an empty text."""
        text = IDENTITIES.steady("".join(self._parts)).strip()
        return f"on standard error: {text}{' …' if self._room < 0 else ''}" if text else ""


class Stream(io.TextIOBase):
    """`sys.stdout` and `sys.stderr`."""

    def __init__(self, output: Output | Errors, name: str) -> None:
        super().__init__()
        self._output = output
        self._name = name

    def write(self, text: str) -> int:
        """Take text."""
        if not isinstance(text, str):
            message = f"write() argument must be str, not {type(text).__name__}"
            raise TypeError(message)
        self._output.write(text)
        return len(text)

    def writable(self) -> bool:
        """Return that it can be written."""
        return True

    def close(self) -> None:
        """Do nothing: the stream ends with the program."""

    def __repr__(self) -> str:
        return f"<{self._name}>"


Stream.__module__ = "io"


class Streams:
    """The standard streams of one program."""

    def __init__(self, output: Output, errors: Errors) -> None:
        self.stdout, self.stderr = Stream(output, "stdout"), Stream(errors, "stderr")


def make_print(output: Output, stdout: Stream) -> Any:
    """Return the `print` of a program. It writes each line to standard output in one piece."""

    def print(  # noqa: A001 - its name is what it is
        *values: object, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False
    ) -> None:
        is_ours = file is stdout or (file is None and sys.stdout is stdout)
        if is_ours and type(sep) is str and type(end) is str:
            output.write(sep.join([value if type(value) is str else str(value) for value in values]) + end)
        else:
            builtins.print(*values, sep=sep, end=end, file=file, flush=flush)  # of the program

    print.__qualname__ = "print"
    print.__module__ = "builtins"
    return print
