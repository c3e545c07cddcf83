"""`sys`: the names that describe the program. None describes the process."""

from __future__ import annotations

import io
import operator
import sys
from typing import TYPE_CHECKING, Any

from sandbox.guest.library.tables import TABLE, Table

if TYPE_CHECKING:
    from sandbox.guest.library.scene import Scene

#: The highest recursion limit, which the C stack of 8 MiB carries.
DEEPEST = 5_000


class SystemTable(Table):
    """The names of `sys`. A program may replace the standard streams."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("stdout", "stderr"):
            setattr(sys, name, value)
        elif name == "stdin":
            vars(self)[name] = value
        else:
            super().__setattr__(name, value)

    @property
    def stdout(self) -> Any:
        """The stream that `print` writes to."""
        return sys.stdout

    @property
    def stderr(self) -> Any:
        """The stream whose first lines become a note."""
        return sys.stderr


SystemTable.__name__ = SystemTable.__qualname__ = Table.__name__
SystemTable.__module__ = "builtins"


def leave(status: Any = None, /) -> None:
    """End the program."""
    raise SystemExit(status)


def setrecursionlimit(limit: int, /) -> None:
    """Raise the recursion limit, to `DEEPEST` at most. It is never lowered."""
    limit = operator.index(limit)  # no methods of a subclass
    if limit <= 0:
        raise ValueError("recursion limit must be greater or equal than 1")
    sys.setrecursionlimit(max(sys.getrecursionlimit(), min(limit, DEEPEST)))


def exc_info() -> tuple[Any, Any, Any]:
    """Return class, error and traceback of the error that is being handled."""
    error = sys.exception()
    return (None, None, None) if error is None else (type(error), error, error.__traceback__)


def sys_names(scene: Scene) -> dict[str, Any]:
    """Return the names of `sys` that are not raw."""
    return {
        TABLE: SystemTable,
        "platform": "linux",
        "executable": "",
        "implementation": Table("sys.implementation", {"name": sys.implementation.name, "version": sys.version_info}),
        "argv": ["program"],
        "stdin": io.StringIO(),
        "__stdout__": scene.streams.stdout,
        "__stderr__": scene.streams.stderr,
        "getsizeof": lambda value, default=None: sys.getsizeof(value),
        "setrecursionlimit": setrecursionlimit,
        "exc_info": exc_info,
        "exit": leave,
    }
