"""Copies of library modules: the library's own source, executed over the facades of this sandbox.

`threading`, `queue`, `concurrent.futures`, `logging` and `secrets` are written in Python over a few primitives. In the
copies that a program gets, jobs of the scheduler stand in for `_thread`, and facades for `time`, `os`, `random` and
`traceback`. Programs find what the documentation says, and the library's own modules stay unchanged.
"""

from __future__ import annotations

import builtins
import marshal  # noqa: TID251  # code of modules, as the import system keeps it
import os
from functools import cache, lru_cache
from importlib import import_module
from importlib.machinery import PathFinder
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from sandbox.guest.base.identities import IDENTITIES
from sandbox.guest.library.archive import Archive
from sandbox.guest.library.deferred import marshalled
from sandbox.guest.library.facades.clocks import time_names
from sandbox.guest.library.facades.tracebacks import TRACEBACK
from sandbox.guest.scheduling.threads import thread_module

if TYPE_CHECKING:
    from sandbox.guest.library.scene import Scene

COPIED = (
    *("threading", "_threading_local", "queue", "concurrent.futures._base", "concurrent.futures.thread"),
    *("logging", "secrets"),
)
#: Threads that an executor starts at most, if the program names no number: 32 on every machine (`_CPUS` + 4).
_CPUS = 28


@cache
def read_sources() -> Archive:
    """Read the code of all modules that are copied, while files are in reach."""
    return Archive((name, _read(name)) for name in COPIED)


def _read(name: str) -> bytes:
    package = name.rpartition(".")[0]
    spec: Any = PathFinder.find_spec(name, import_module(package).__path__ if package else None)
    return marshalled(spec.loader, name)


class Copies(dict[str, Any]):
    """The copies of one program, by module. Modules are executed when they are first needed."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(
            _queue=SimpleNamespace(),  # `queue` then defines everything in Python
            _thread=thread_module(scene.hub),
            atexit=SimpleNamespace(register=lambda *_: None),
            os=SimpleNamespace(path=os.path, cpu_count=lambda: _CPUS, process_cpu_count=lambda: _CPUS),
            time=SimpleNamespace(**time_names(scene)),
            traceback=SimpleNamespace(**TRACEBACK),
        )
        scene.hub.prepare()

    def __missing__(self, name: str) -> Any:
        copy = self[name] = ModuleType(name)
        names = {"__import__": self._import, "id": IDENTITIES.shown}
        vars(copy)["__builtins__"] = {**vars(builtins), **names}
        exec(marshal.loads(read_sources()[name]), vars(copy))  # noqa: S102, S302  # code of the library
        return copy

    def _import(self, name: str, *scopes: Any) -> Any:
        if name == "concurrent.futures":
            return SimpleNamespace(_base=self["concurrent.futures._base"])
        return self[name] if name in self or name in COPIED else __import__(name, *scopes)


@lru_cache(maxsize=1)
def copies_of(scene: Scene) -> Copies:
    """Return the copies of one execution, made at their first use."""
    return Copies(scene)
