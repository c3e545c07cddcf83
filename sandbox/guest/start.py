"""First file of the fork server: `python -P -s -S start.py MAIN CHANNEL PROGRAM FOLDER…`.

The interpreter starts without `site`, environment or the current folder on its path, so the folders that hold this
package, RestrictedPython and greenlet come as arguments. They go behind the standard library: nothing shadows it.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

#: Libraries that the standard library loads where it finds them, and that no program here can use: TLS, compressors,
#: what starts processes. Each is a megabyte to share, five mappings to copy at each fork, and code that need not be
#: there.
_ABSENT = ("_ssl", "_bz2", "_lzma", "_posixsubprocess", "_uuid", "fcntl")


class _NoLog:
    """A logger whose records nobody would read."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: self


#: Modules that the standard library asks for and that do nothing here, and what must be in them: sockets, processes
#: and the selectors of asyncio (the guest has a loop of its own), the log of concurrent.futures, paths at build time.
_HOLLOW: dict[str, dict[str, Any]] = {
    **{
        f"asyncio.{name}": {}
        for name in ("base_events", "protocols", "streams", "subprocess", "transports", "unix_events")
    },
    "logging": {"getLogger": lambda *_: _NoLog(), "StreamHandler": _NoLog, "DEBUG": 10},
    "subprocess": {"PIPE": -1},
    "sysconfig": {"get_config_var": lambda _: None},
}


class _HollowModules:
    """Imports the modules of that table: half a megabyte less in each worker's share, and faster to start."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return ModuleSpec(name, _HollowModules) if name in _HOLLOW else None  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        return None

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        vars(module).update(_HOLLOW[module.__name__], __all__=())


gc.disable()  # modules come to stay: to look for garbage among them takes a tenth of the start
if sys.argv[3] == "sandbox.guest.program":  # another program module may need them
    sys.modules.update(dict.fromkeys(_ABSENT))  # type: ignore[arg-type]  # None: "there is no such module"
    sys.meta_path.insert(0, _HollowModules)
sys.path += sys.argv[4:]
import_module(f"sandbox.guest.{sys.argv[1]}").main(int(sys.argv[2]), sys.argv[3])
