"""`sys`, `traceback`, `logging`, `warnings`: what they tell of the program itself, and nothing of the process."""

from __future__ import annotations

import contextlib
import io
import sys
from typing import TYPE_CHECKING, Any

from sandbox.guest.names.logging_names import logging_names
from sandbox.guest.output import Stream
from sandbox.guest.runtime.tables import Table
from sandbox.guest.runtime.traces import Trace, program_lines, trace_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.guest.names.scene import Scene

#: Highest recursion limit that a program may ask for: what the C stack of 8 MiB carries.
DEEPEST = 5_000


def _sys(scene: Scene) -> dict[str, Any]:
    def exit_(status: Any = None, /) -> None:
        raise SystemExit(status)

    def exc_info() -> tuple[Any, Any, Any]:
        error = sys.exc_info()[1]
        return (None, None, None) if error is None else (type(error), error, Trace.of(error))

    def setrecursionlimit(limit: int, /) -> None:
        if limit <= 0:
            raise ValueError("recursion limit must be greater or equal than 1")
        sys.setrecursionlimit(max(sys.getrecursionlimit(), min(limit, DEEPEST)))

    def getsizeof(value: object, default: int | None = None) -> int:
        return sys.getsizeof(value)

    stdin = io.StringIO()
    stdout, stderr = Stream(scene.output, "stdout"), Stream(scene.errors, "stderr")
    return {
        "maxsize": sys.maxsize,
        "maxunicode": sys.maxunicode,
        "float_info": sys.float_info,
        "int_info": sys.int_info,
        "hash_info": sys.hash_info,
        "version": sys.version,
        "version_info": sys.version_info,
        "hexversion": sys.hexversion,
        "byteorder": sys.byteorder,
        "platform": "linux",
        "implementation": Table("sys.implementation", {"name": sys.implementation.name, "version": sys.version_info}),
        "argv": ["program"],
        "stdin": stdin,
        "stdout": stdout,
        "stderr": stderr,
        "__stdout__": stdout,
        "__stderr__": stderr,
        "getsizeof": getsizeof,
        "getrecursionlimit": sys.getrecursionlimit,
        "setrecursionlimit": setrecursionlimit,
        "getdefaultencoding": sys.getdefaultencoding,
        "intern": sys.intern,
        "exc_info": exc_info,
        "exception": lambda: sys.exc_info()[1],
        "exit": exit_,
    }


def _traceback(scene: Scene) -> dict[str, Any]:
    def current() -> BaseException | None:
        return sys.exc_info()[1]

    def format_exc(limit: Any = None, chain: Any = True) -> str:  # noqa: FBT002  # the library's signature
        error = current()
        return "NoneType: None\n" if error is None else "".join(format_exception(error))

    def print_exc(limit: Any = None, file: Any = None, chain: Any = True) -> None:  # noqa: FBT002  # the library's signature
        _write(scene, file, format_exc())

    def print_exception(*arguments: Any, file: Any = None, **_: Any) -> None:
        _write(scene, file, "".join(format_exception(*arguments)))

    def print_tb(trace: Any, limit: Any = None, file: Any = None) -> None:
        _write(scene, file, "".join(format_tb(trace)))

    return {
        "format_exc": format_exc,
        "print_exc": print_exc,
        "format_exception": format_exception,
        "format_exception_only": format_exception_only,
        "print_exception": print_exception,
        "format_tb": format_tb,
        "print_tb": print_tb,
        "extract_tb": extract_tb,
        "print_stack": lambda *_, **__: None,
        "format_stack": lambda *_, **__: [],
    }


def format_exception(*arguments: Any, **_: Any) -> list[str]:
    """Return the lines that a program sees of an error: its own frames only."""
    error = _error_of(arguments)
    if error is None:
        return ["NoneType: None\n"]
    lines = ["Traceback (most recent call last):\n"] if error.__traceback__ is not None else []
    return [*lines, *_lines(error), *format_exception_only(error)]


def format_exception_only(*arguments: Any, **_: Any) -> list[str]:
    """Return the last line: type and message."""
    error = _error_of(arguments)
    if error is None:
        return ["NoneType: None\n"]
    kind = type(error)
    name = (
        kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__qualname__}"
    )
    text = str(error)
    return [f"{name}: {text}\n" if text else f"{name}\n"]


def format_tb(trace: Any, limit: Any = None) -> list[str]:
    """Return the lines of a trace."""
    return _lines(trace_error(trace)) if isinstance(trace, Trace) else []


def extract_tb(trace: Any, limit: Any = None) -> list[dict[str, Any]]:
    """Return line and function of each frame of the program."""
    if not isinstance(trace, Trace):
        return []
    return [{"lineno": line, "name": name} for line, name in program_lines(trace_error(trace).__traceback__)]


def _error_of(arguments: tuple[Any, ...]) -> BaseException | None:
    for value in arguments:
        if isinstance(value, BaseException):
            return value
    return None


def _lines(error: BaseException) -> list[str]:
    return [f'  File "<program>", line {line}, in {name}\n' for line, name in program_lines(error.__traceback__)]


def _write(scene: Scene, file: Any, text: str) -> None:
    if file is None:
        scene.errors.write(text)
    else:
        file.write(text)


def _warnings(scene: Scene) -> dict[str, Any]:
    def warn(message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **_: Any) -> None:
        kind = type(message) if isinstance(message, Warning) else category or UserWarning
        scene.errors.write(f"{kind.__name__}: {message}\n")

    return {
        "warn": warn,
        "catch_warnings": nullcontext_of_warnings,
        "filterwarnings": lambda *_, **__: None,
        "simplefilter": lambda *_, **__: None,
    }


def nullcontext_of_warnings(**_: Any) -> contextlib.nullcontext[list[Any]]:
    """Stand for `warnings.catch_warnings`: no warning is kept here."""
    return contextlib.nullcontext([])


def _logging(scene: Scene) -> dict[str, Any]:
    return logging_names(scene)


BUILDERS: dict[str, Callable[[Scene], dict[str, Any]]] = {
    "sys": _sys,
    "traceback": _traceback,
    "warnings": _warnings,
    "logging": _logging,
}
