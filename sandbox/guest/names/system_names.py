"""`sys`, `logging`, `warnings`: what they tell of the program itself, and nothing of the process."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any

from sandbox.guest.names.logging_names import logging_names
from sandbox.guest.names.traceback_names import traceback_names
from sandbox.guest.names.warnings_names import warnings_names
from sandbox.guest.output import Stream
from sandbox.guest.runtime.tables import Table
from sandbox.guest.runtime.traces import Trace

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
        "getrefcount": sys.getrefcount,
        "getrecursionlimit": sys.getrecursionlimit,
        "setrecursionlimit": setrecursionlimit,
        "getdefaultencoding": sys.getdefaultencoding,
        "intern": sys.intern,
        "exc_info": exc_info,
        "exception": lambda: sys.exc_info()[1],
        "exit": exit_,
    }


BUILDERS: dict[str, Callable[[Scene], dict[str, Any]]] = {
    "sys": _sys,
    "traceback": traceback_names,
    "warnings": warnings_names,
    "logging": logging_names,
}
