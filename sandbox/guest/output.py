"""What a program prints: kept within its limit, and sent whenever the program is about to wait."""

from __future__ import annotations

import io
from typing import Any

from sandbox.guest.runtime.handed_out import handed_out
from sandbox.guest.runtime.identities import IDENTITIES
from sandbox.protocol.guest_messages import encode_output

_CUT = "\n[output cut here: the limit is {limit:,} bytes; return data as the result instead of printing it]\n"
#: One frame of output; larger text goes out in several.
_FRAME = 512 * 1024


class Output:
    """Collects printed text up to a limit in bytes; what comes after is dropped, and the output says so."""

    def __init__(self) -> None:
        self._limit = self._room = 0
        self.is_empty = True
        self._parts: list[str] = []
        self.was_cut = False
        self.stand_in: Any = None  # where the program sends what it prints

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
        """Return what was printed since the last time as a frame, or nothing."""
        if not self._parts:
            return b""
        text = "".join(self._parts)
        self._parts.clear()
        pieces = [text[start : start + _FRAME] for start in range(0, len(text), _FRAME)]
        return b"".join(encode_output(piece, cut=self.was_cut and piece is pieces[-1]) for piece in pieces)


#: Characters of standard error that are kept: the beginning tells what went wrong.
_MOST_ERRORS = 900


class Errors:
    """Collects what goes to standard error, which is no output: its beginning becomes a remark."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._room = _MOST_ERRORS
        self.stand_in: Any = None

    def write(self, text: str) -> None:
        """Take text. Raises TypeError for anything else."""
        text = str.__str__(text)
        if self._room > 0 and text:
            self._parts.append(text[: self._room])
            self._room -= len(text)

    @property
    def remark(self) -> str:
        """What was written, as one remark; nothing if nothing was."""
        text = IDENTITIES.steady("".join(self._parts)).strip()
        return f"on standard error: {text}{' …' if self._room < 0 else ''}" if text else ""


@handed_out
class Stream(io.TextIOBase):
    """`sys.stdout` and `sys.stderr`."""

    def __init__(self, output: Output | Errors, name: str) -> None:
        super().__init__()
        self.__dict__["_output"] = output
        self.__dict__["_name"] = name

    def write(self, text: str) -> int:
        """Take text."""
        if not isinstance(text, str):
            message = f"write() argument must be str, not {type(text).__name__}"
            raise TypeError(message)
        output = self.__dict__["_output"]
        type(output).write(output, str.__str__(text))  # this stream stays what it is while others stand in its place
        return len(text)

    def writable(self) -> bool:
        """Tell that it can be written."""
        return True

    def isatty(self) -> bool:
        """Tell that nobody watches."""
        return False

    def fileno(self) -> int:
        """Refuse: there is no file behind it."""
        raise OSError("this stream has no file")

    def close(self) -> None:
        """Do nothing: the stream ends with the program."""

    def __repr__(self) -> str:
        return f"<{self.__dict__['_name']}>"


class Streams:
    """`sys.stdout` and `sys.stderr` of one program, and what it puts in their places."""

    def __init__(self, output: Output, errors: Errors) -> None:
        self._targets: dict[str, Any] = {"stdout": output, "stderr": errors}
        self.own = {name: Stream(target, name) for name, target in self._targets.items()}
        self.current: dict[str, Any] = dict(self.own)
        self.shown: dict[str, Any] = {}  # the names of the module `sys`, once it is there

    def redirect(self, name: str, stream: Any) -> Any:
        """Let what is printed go to another stream, which may be the program's own; return the one before."""
        target, before = self._targets[name], self.current[name]
        if stream is self.own[name]:
            target.stand_in = None
            vars(target).pop("write", None)
        else:
            target.write = stream.write
            target.stand_in = stream
        self.current[name] = stream
        self.shown[name] = stream
        return before


def _print_to(file: Any, values: tuple[object, ...], sep: str, end: str) -> None:
    """Write piece by piece, as CPython does: a stream of the program may look at the pieces."""
    for number, value in enumerate(values):
        if number:
            file.write(sep)
        file.write(str(value))
    file.write(end)


def _text_of(what: str, given: object, default: str) -> str:
    if given is None:
        return default
    if isinstance(given, str):
        return given
    message = f"{what} must be None or a string, not {type(given).__name__}"
    raise TypeError(message)


def make_print(output: Output) -> Any:
    """Return the `print` of a program."""

    def print(  # noqa: A001 - its name is what it is
        *values: object, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False
    ) -> None:
        if type(sep) is not str or type(end) is not str:
            sep, end = _text_of("sep", sep, " "), _text_of("end", end, "\n")
        file = output.stand_in if file is None else file
        if file is None or type(file) is Stream:
            text = sep.join([value if type(value) is str else str(value) for value in values]) + end
            (output if file is None else file).write(text)
        else:
            _print_to(file, values, sep, end)
            if flush:
                file.flush()

    print.__qualname__ = "print"
    print.__module__ = "builtins"
    return print
