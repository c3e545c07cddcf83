"""`traceback` and `warnings`: what the library says of an error, told of the program's own frames."""

from __future__ import annotations

import sys
import traceback
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.compilation import FILENAME

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sandbox.guest.library.scene import Scene


def extract_tb(tb: Any, limit: int | None = None) -> traceback.StackSummary:
    """Return each frame of the program, outermost first. The source is not kept."""
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
    """Return the lines that a program sees of an error: its own frames only."""
    error = _error_of(arguments)
    return ["NoneType: None\n"] if error is None else list(_summary(error, limit).format(chain=bool(chain)))


def format_exception_only(*arguments: Any, **_: Any) -> list[str]:
    """Return the last line, type and message, and the notes."""
    error = _error_of(arguments)
    return ["NoneType: None\n"] if error is None else list(_summary(error, 0).format_exception_only())


def format_exc(limit: int | None = None, chain: bool = True) -> str:  # noqa: FBT001, FBT002  # the library's signature
    """Return the text of the error that is being handled."""
    return "".join(format_exception(sys.exc_info()[1], limit=limit, chain=chain))


def _error_of(arguments: tuple[Any, ...]) -> BaseException | None:
    return next((value for value in arguments if isinstance(value, BaseException)), None)


def _summary(error: BaseException, limit: int | None) -> traceback.TracebackException:
    """Return the library's account of an error, of what caused it and of what it holds, with the program's frames."""
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


def _print(lines: Iterable[str], file: Any) -> None:
    (sys.stderr if file is None else file).write("".join(lines))


def print_exc(limit: int | None = None, file: Any = None, chain: bool = True) -> None:  # noqa: FBT001, FBT002  # as above
    """Write the error that is being handled."""
    _print(format_exc(limit, chain), file)


def print_exception(*arguments: Any, file: Any = None, **options: Any) -> None:
    """Write an error."""
    _print(format_exception(*arguments, **options), file)


def print_tb(tb: Any, limit: int | None = None, file: Any = None) -> None:
    """Write a traceback."""
    _print(format_tb(tb, limit), file)


TRACEBACK = {
    each.__name__: each
    for each in (
        *(extract_tb, format_exc, format_exception, format_exception_only, format_tb),
        *(print_exc, print_exception, print_tb),
    )
}


def warnings_names(scene: Scene) -> dict[str, Any]:
    """A warning is written to standard error. Filters are taken, and filter nothing."""

    def warn(message: Any, category: Any = None, *_: Any, **__: Any) -> None:
        kind = type(message) if isinstance(message, Warning) else category or UserWarning
        sys.stderr.write(f"{kind.__name__}: {message}\n")

    class catch_warnings:  # noqa: N801  # the library's name
        def __init__(self, *, record: bool = False, **_: Any) -> None:
            self._record = record

        def __enter__(self) -> Any:
            return [] if self._record else None

        def __exit__(self, *_: object) -> None:
            """Nothing was changed."""

    catch_warnings.__module__, catch_warnings.__qualname__ = "warnings", "catch_warnings"
    ignore = ("filterwarnings", "simplefilter", "resetwarnings")
    return {"warn": warn, "catch_warnings": catch_warnings, **dict.fromkeys(ignore, lambda *_, **__: None)}
