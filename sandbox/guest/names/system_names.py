"""`sys`, `logging`, `warnings`: what they tell of the program itself, and nothing of the process."""

from __future__ import annotations

import io
import operator
import sys
from typing import TYPE_CHECKING, Any

from sandbox.guest.names.logging_names import logging_names
from sandbox.guest.names.traceback_names import traceback_names
from sandbox.guest.names.warnings_names import warnings_names
from sandbox.guest.runtime.access import WRITABLE
from sandbox.guest.runtime.tables import TABLE, Table
from sandbox.guest.runtime.traces import Trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.guest.names.scene import Scene
    from sandbox.guest.output import Streams

#: Highest recursion limit that a program may ask for: what the C stack of 8 MiB carries.
DEEPEST = 5_000


def _sys(scene: Scene) -> dict[str, Any]:
    def exit_(status: Any = None, /) -> None:
        raise SystemExit(status)

    def exc_info() -> tuple[Any, Any, Any]:
        error = sys.exc_info()[1]
        return (None, None, None) if error is None else (type(error), error, Trace.of(error))

    def setrecursionlimit(limit: int, /) -> None:
        limit = operator.index(limit)  # a subclass may lie about its size
        if limit <= 0:
            raise ValueError("recursion limit must be greater or equal than 1")
        sys.setrecursionlimit(max(sys.getrecursionlimit(), min(limit, DEEPEST)))

    def getsizeof(value: object, default: int | None = None) -> int:
        return sys.getsizeof(value)

    streams = scene.streams
    return {
        TABLE: _system_table(streams),
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
        "executable": "",
        "float_repr_style": sys.float_repr_style,
        "get_int_max_str_digits": sys.get_int_max_str_digits,
        "set_int_max_str_digits": sys.set_int_max_str_digits,
        "implementation": Table("sys.implementation", {"name": sys.implementation.name, "version": sys.version_info}),
        "argv": ["program"],
        "stdin": io.StringIO(),
        **streams.current,
        "__stdout__": streams.own["stdout"],
        "__stderr__": streams.own["stderr"],
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


def _system_table(streams: Streams) -> type[Table]:
    class SystemTable(Table):
        """The names of `sys`. A program may put streams of its own in the places of the standard streams."""

        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            streams.shown = vars(self)

        def __setattr__(self, name: str, value: Any) -> None:
            if name in streams.current:
                streams.redirect(name, value)
            elif name == "stdin":
                vars(self)[name] = value
            else:
                super().__setattr__(name, value)

    SystemTable.__name__ = SystemTable.__qualname__ = Table.__name__
    WRITABLE.add(SystemTable)
    return SystemTable


BUILDERS: dict[str, Callable[[Scene], dict[str, Any]]] = {
    "sys": _sys,
    "traceback": traceback_names,
    "warnings": warnings_names,
    "logging": logging_names,
}
