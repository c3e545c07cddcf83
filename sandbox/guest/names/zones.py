"""Time zones, read while files are still in reach."""

from __future__ import annotations

import io
import os
import zoneinfo
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from zoneinfo import _common

from sandbox.guest.runtime.handed_out import handed_out
from sandbox.isolation.kernel import read_file

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Where systems keep them, as CPython is built.
_FOLDERS = ("/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo")
_MAGIC = b"TZif"
#: Folders of the same zones counted with leap seconds, which `zoneinfo` leaves out, too.
_NOT_ZONES = ("posix", "right")


class _Zone(io.BytesIO):
    """The data of a zone that was read here."""


@cache
def zones() -> dict[str, bytes]:
    """Return the data of all zones that this machine knows, by key. Zones that are the same share their bytes."""
    found: dict[str, bytes] = {}
    shared: dict[bytes, bytes] = {}
    for folder in (*_FOLDERS, *_packaged()):
        for key, data in _read(folder):
            found.setdefault(key, shared.setdefault(data, data))
    return found


def keep_zones() -> None:
    """Read all zones, and let `zoneinfo` take them from memory from now on.

    It takes no others: data that lie end the interpreter.
    """
    known = zones()
    library: Any = _common
    load = library.load_data

    def load_data(file: Any) -> Any:
        if type(file) is not _Zone:
            raise TypeError("there are no files here: write ZoneInfo(key)")
        return load(file)

    def load_tzdata(key: str) -> io.BytesIO:
        try:
            return _Zone(known[key])
        except (KeyError, TypeError):
            message = f"No time zone found with key {key}"
            raise zoneinfo.ZoneInfoNotFoundError(message) from None

    library.load_tzdata, library.load_data = load_tzdata, load_data
    zoneinfo.reset_tzpath(to=())


@handed_out
class ZoneInfo(zoneinfo.ZoneInfo):
    """The library's, by exact text: C has a list of its own zones, and does not survive that it changes while a key is
    asked whether it equals another. Of classes below it C keeps no such list.
    """

    def __new__(cls, key: str) -> ZoneInfo:
        """Return the one of this key that is there, or a new one."""
        return _zone(_exact(key))

    @classmethod
    def no_cache(cls, key: str) -> ZoneInfo:
        """Return a new one."""
        return super().no_cache(_exact(key))

    @classmethod
    def clear_cache(cls, *, only_keys: Iterable[str] | None = None) -> None:
        """Let go of those that are known."""
        _zone.cache_clear()
        super().clear_cache(only_keys=None if only_keys is None else [_exact(key) for key in only_keys])

    def __repr__(self) -> str:
        return f"zoneinfo.ZoneInfo(key={self.key!r})"


def _exact(key: Any) -> str:
    if not isinstance(key, str):
        message = f"the key of a zone must be text, not {type(key).__name__}"
        raise TypeError(message)
    return str.__str__(key)  # a subclass may lie about what it equals


@lru_cache(maxsize=8)
def _zone(key: str) -> ZoneInfo:
    return _LIBRARY.__new__(ZoneInfo, key)


_LIBRARY = zoneinfo.ZoneInfo
ZoneInfo.__module__ = "zoneinfo"


def restrict_zones() -> None:
    """Let programs have this class. Again is no error."""
    library: Any = zoneinfo
    library.ZoneInfo = ZoneInfo


def _packaged() -> list[str]:
    """Return the folder of the package `tzdata`, for machines without zones of their own."""
    spec = find_spec("tzdata")
    places = spec.submodule_search_locations if spec is not None else None
    return [f"{place}/zoneinfo" for place in places or ()]


def _read(folder: str) -> list[tuple[str, bytes]]:
    found = []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _NOT_ZONES)
        for name in files:
            try:
                data = read_file(f"{place}/{name}")
            except OSError:  # a link to nowhere
                continue
            if data.startswith(_MAGIC) and name not in ("posixrules", "localtime"):
                found.append((f"{place}/{name}"[len(folder) + 1 :], data))
    return found
