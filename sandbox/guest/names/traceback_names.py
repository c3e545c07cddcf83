"""`traceback`: what the library says of an error, told of the program's own frames, whose place stands for them."""

from __future__ import annotations

import sys
import traceback
from typing import TYPE_CHECKING, Any, NamedTuple

from sandbox.guest.language.compilation import FILENAME
from sandbox.guest.runtime.handed_out import handed_out
from sandbox.guest.runtime.traces import Trace, program_lines, trace_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sandbox.guest.names.scene import Scene


class FrameSummary(NamedTuple):
    """One frame of the program, as the library's frame summary unpacks. The source is not kept: `line` is empty."""

    filename: str
    lineno: int
    name: str
    line: str = ""


FrameSummary.__module__ = "traceback"


@handed_out
class TracebackException:
    """Keeps the text of an error."""

    __slots__ = ("_last", "_lines", "_text", "exc_type", "exc_type_str", "stack")

    def __init__(self, exc_type: Any, exc_value: Any, exc_traceback: Any = None, **_: Any) -> None:
        if not isinstance(exc_value, BaseException):
            raise TypeError("exc_value must be an exception")
        self.exc_type = exc_type = type(exc_value)
        self.exc_type_str = exc_type.__qualname__
        self._lines = {chain: format_exception(exc_value, chain=chain) for chain in (True, False)}
        self._last = format_exception_only(exc_value)
        self._text = str(exc_value)
        self.stack = extract_tb(Trace.of(exc_value))

    @classmethod
    def from_exception(cls, exc: Any, **options: Any) -> TracebackException:
        """Keep the text of this error."""
        return cls(type(exc), exc, **options)

    def format(self, *, chain: bool = True, **_: Any) -> Iterator[str]:
        """Yield what `traceback.format_exception` gives."""
        yield from self._lines[bool(chain)]

    def format_exception_only(self, **_: Any) -> Iterator[str]:
        """Yield what `traceback.format_exception_only` gives."""
        yield from self._last

    def __str__(self) -> str:
        return self._text


TracebackException.__module__ = "traceback"


def format_exception(*arguments: Any, limit: int | None = None, chain: bool = True, **_: Any) -> list[str]:
    """Return the lines that a program sees of an error: its own frames only."""
    error = _error_of(arguments)
    return ["NoneType: None\n"] if error is None else list(_summary(error, limit).format(chain=bool(chain)))


def format_exception_only(*arguments: Any, **_: Any) -> list[str]:
    """Return the last line, type and message, and the notes."""
    error = _error_of(arguments)
    return ["NoneType: None\n"] if error is None else list(_summary(error, 0).format_exception_only())


def extract_tb(trace: Any, limit: int | None = None) -> list[FrameSummary]:
    """Return each frame of the program, outermost first."""
    if not isinstance(trace, Trace):
        return []
    found = [FrameSummary(FILENAME, line, name) for line, name in program_lines(trace_error(trace).__traceback__)]
    return _limited(found, limit)


def format_list(extracted: Iterable[Any]) -> list[str]:
    """Return the lines of frames, or of tuples like them."""
    lines = []
    for filename, line, name, text in extracted:
        source = f"    {str(text).strip()}\n" if text else ""
        lines.append(f'  File "{filename}", line {line}, in {name}\n{source}')
    return lines


def format_tb(trace: Any, limit: int | None = None) -> list[str]:
    """Return the lines of a trace."""
    return format_list(extract_tb(trace, limit))


def _summary(error: BaseException, limit: int | None) -> traceback.TracebackException:
    """Return the library's account of an error, of what caused it and of what it holds, with the program's frames."""
    found = traceback.TracebackException(type(error), error, None, lookup_lines=False)
    pending: list[tuple[Any, Any]] = [(found, error)]
    while pending:
        summary, error = pending.pop()
        summary.stack = _stack(error, limit)
        inner = [(summary.__cause__, error.__cause__), (summary.__context__, error.__context__)]
        if isinstance(error, BaseExceptionGroup):
            inner += zip(summary.exceptions or (), error.exceptions, strict=False)
        pending += [pair for pair in inner if pair[0] is not None]
    return found


def _stack(error: BaseException, limit: int | None) -> Any:
    trace = Trace.of(error)
    if trace is None:
        return None
    frames = [
        traceback.FrameSummary(filename, line, name, lookup_line=False, line=text)
        for filename, line, name, text in extract_tb(trace, limit)
    ]
    return traceback.StackSummary.from_list(frames)


def _limited(frames: list[FrameSummary], limit: int | None) -> list[FrameSummary]:
    if limit is None:
        return frames
    return frames[:limit] if limit >= 0 else frames[limit:]


def _error_of(arguments: tuple[Any, ...]) -> BaseException | None:
    for value in arguments:
        if isinstance(value, BaseException):
            return value
    return None


def traceback_names(scene: Scene) -> dict[str, Any]:
    """Return the names of the module for one program."""

    def write(file: Any, lines: Iterable[str]) -> None:
        (scene.errors if file is None else file).write("".join(lines))

    def format_exc(limit: int | None = None, chain: bool = True) -> str:  # noqa: FBT001, FBT002  # the library's
        return "".join(format_exception(sys.exc_info()[1], limit=limit, chain=chain))

    def print_exc(limit: int | None = None, file: Any = None, chain: bool = True) -> None:  # noqa: FBT001, FBT002
        write(file, format_exc(limit, chain))

    def print_exception(*arguments: Any, file: Any = None, **options: Any) -> None:
        write(file, format_exception(*arguments, **options))

    def print_tb(trace: Any, limit: int | None = None, file: Any = None) -> None:
        write(file, format_tb(trace, limit))

    return {
        "FrameSummary": FrameSummary,
        "TracebackException": TracebackException,
        "extract_tb": extract_tb,
        "format_exc": format_exc,
        "format_exception": format_exception,
        "format_exception_only": format_exception_only,
        "format_list": format_list,
        "format_tb": format_tb,
        "print_exc": print_exc,
        "print_exception": print_exception,
        "print_tb": print_tb,
        "print_stack": lambda *_, **__: None,
        "format_stack": lambda *_, **__: [],
        "extract_stack": lambda *_, **__: [],
    }
