"""`traceback` and `warnings`. Tracebacks show only frames of the program."""

from __future__ import annotations

import sys
import traceback
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.compilation import FILENAME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sandbox.guest.library.scene import Scene


def extract_tb(tb: Any, limit: int | None = None) -> traceback.StackSummary:
    """Return the frames of the program, outermost first, without source lines."""
    walked = traceback.walk_tb(tb) if tb is not None else ()
    frames = [
        traceback.FrameSummary(FILENAME, line, frame.f_code.co_name, lookup_line=False, line="")
        for frame, line in walked
        if frame.f_code.co_filename == FILENAME
    ]
    kept = frames if limit is None else frames[:limit] if limit >= 0 else frames[limit:]
    return traceback.StackSummary.from_list(kept)


def format_tb(tb: Any, limit: int | None = None) -> list[str]:
    """Return the lines of a traceback."""
    return traceback.format_list(extract_tb(tb, limit))


def format_exception(*arguments: Any, limit: int | None = None, chain: bool = True, **_: Any) -> list[str]:
    """Return the lines of an error: `(error)`, or `(type, error, traceback)`."""
    error = next((value for value in arguments if isinstance(value, BaseException)), None)
    return ["NoneType: None\n"] if error is None else list(_summary(error, limit).format(chain=bool(chain)))


def format_exception_only(*arguments: Any, **_: Any) -> list[str]:
    """Return type and message, and the notes."""
    error = next((value for value in arguments if isinstance(value, BaseException)), None)
    return ["NoneType: None\n"] if error is None else list(_summary(error, 0).format_exception_only())


def format_exc(limit: int | None = None, chain: bool = True) -> str:  # noqa: FBT001, FBT002  # the library's signature
    """Return the text of the error that is being handled."""
    return "".join(format_exception(sys.exception(), limit=limit, chain=chain))


def _summary(error: BaseException, limit: int | None) -> traceback.TracebackException:
    """Return the library's summary of an error, its causes and its group, with only frames of the program."""
    found = traceback.TracebackException(type(error), error, None, lookup_lines=False)
    pending: list[tuple[Any, Any]] = [(found, error)]
    while pending:
        summary, error = pending.pop()
        summary.stack = extract_tb(error.__traceback__, limit) if error.__traceback__ is not None else None
        inner = [(summary.__cause__, error.__cause__), (summary.__context__, error.__context__)]
        if isinstance(error, BaseExceptionGroup):
            inner += zip(summary.exceptions or (), error.exceptions, strict=False)
        pending += [pair for pair in inner if pair[0] is not None]
    return found


def _printed(lines_of: Callable[..., Iterable[str]]) -> Callable[..., None]:
    def write(*arguments: Any, file: Any = None, **options: Any) -> None:
        stream = next((each for each in (file, *arguments) if hasattr(each, "write")), sys.stderr)
        stream.write("".join(lines_of(*(each for each in arguments if each is not stream), **options)))

    return write


TRACEBACK = {
    **{each.__name__: each for each in (extract_tb, format_exc, format_exception, format_exception_only, format_tb)},
    "print_exc": _printed(format_exc),
    "print_exception": _printed(format_exception),
    "print_tb": _printed(format_tb),
}


def warnings_names(scene: Scene) -> dict[str, Any]:
    """Return the names of `warnings`. Warnings are written to standard error; filters have no effect."""

    def warn(message: Any, category: Any = None, *_: Any, **__: Any) -> None:
        kind = type(message) if isinstance(message, Warning) else category or UserWarning
        sys.stderr.write(f"{kind.__name__}: {message}\n")

    class catch_warnings:  # noqa: N801  # the library's name
        def __init__(self, *, record: bool = False, **_: Any) -> None:
            self._record = record

        def __enter__(self) -> Any:
            return [] if self._record else None

        def __exit__(self, *_: object) -> None:
            """Do nothing."""

    catch_warnings.__module__, catch_warnings.__qualname__ = "warnings", "catch_warnings"
    ignore = ("filterwarnings", "simplefilter", "resetwarnings")
    return {"warn": warn, "catch_warnings": catch_warnings, **dict.fromkeys(ignore, lambda *_, **__: None)}
