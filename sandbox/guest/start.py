"""First file of the fork server: `python -P -s -S start.py MAIN CHANNEL PROGRAM FOLDER…`.

The interpreter starts without `site`, without an environment and without the current folder on its path. The folders
of this package, RestrictedPython, greenlet and orjson follow the standard library, so nothing shadows it.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

#: Libraries that programs cannot use: TLS, compressors, process creation. Each costs a megabyte and five mappings.
_ABSENT = ("_ssl", "_bz2", "_lzma", "_posixsubprocess", "_uuid", "fcntl")


class _NoLog:
    """A logger that drops its records."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: self


#: Flags of code objects by their bit: `inspect` takes nothing else from `dis`.
_CODE_FLAGS = (
    "OPTIMIZED NEWLOCALS VARARGS VARKEYWORDS NESTED GENERATOR NOFREE COROUTINE ITERABLE_COROUTINE ASYNC_GENERATOR"
)

#: Stand-ins for modules that other modules import and the guest does not need, with the names read at import.
_STAND_INS: dict[str, dict[str, Any]] = {
    **{
        f"asyncio.{name}": {}  # the guest has an event loop of its own
        for name in ("base_events", "protocols", "streams", "subprocess", "transports", "unix_events")
    },
    "RestrictedPython": {},  # `transformer` is used, the package imports all the rest
    "dis": {"COMPILER_FLAG_NAMES": {1 << bit: name for bit, name in enumerate(_CODE_FLAGS.split())}},
    "locale": {"LC_TIME": 2, "getlocale": lambda *_: (None, None)},  # of the C locale, for `_strptime`
    "logging": {"getLogger": lambda *_: _NoLog(), "StreamHandler": _NoLog, "DEBUG": 10},
    "platform": {"system": lambda: "Linux"},  # for `uuid`
    "subprocess": {"PIPE": -1},
    "sysconfig": {"get_config_var": lambda _: None},
}


class _StandInModules:
    """Finder and loader of the stand-ins."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name not in _STAND_INS:
            return None
        found = ModuleSpec(name, _StandInModules)  # type: ignore[arg-type]
        if name == "RestrictedPython":
            library = PathFinder.find_spec(name)
            found.submodule_search_locations = library.submodule_search_locations if library else None
        return found

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        return None

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        vars(module).update(_STAND_INS[module.__name__], __all__=())


gc.disable()  # imported modules stay: a collection would find nothing and takes a tenth of the start
if sys.argv[3] == "sandbox.guest.program":  # another program module may need these libraries
    sys.modules.update(dict.fromkeys(_ABSENT))  # type: ignore[arg-type]  # None makes an import fail
    sys.modules["socket"] = import_module("_socket")  # without the selectors and enumerations of the Python module
    sys.meta_path.insert(0, _StandInModules)
sys.path += sys.argv[4:]
import_module(f"sandbox.guest.{sys.argv[1]}").main(int(sys.argv[2]), sys.argv[3])
