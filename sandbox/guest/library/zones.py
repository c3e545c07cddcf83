"""Time zones, read while files are in reach. Later `zoneinfo` takes them from memory."""

from __future__ import annotations

import io
import os
import zoneinfo
from functools import cache
from importlib.util import find_spec
from typing import Any
from zoneinfo import _common

from sandbox.isolation.kernel import read_file

#: CPython's default search path.
_FOLDERS = ("/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo")
_MAGIC = b"TZif"
#: Folders with copies of the zones, with and without leap seconds. `zoneinfo` leaves them out, too.
_NOT_ZONES = ("posix", "right")


@cache
def zones() -> dict[str, bytes]:
    """Return the data of all zones of this machine, by key. Equal zones share their bytes."""
    found: dict[str, bytes] = {}
    shared: dict[bytes, bytes] = {}
    for folder in (*_FOLDERS, *_packaged()):
        for key, data in _read(folder):
            found.setdefault(key, shared.setdefault(data, data))
    return found


def keep_zones() -> None:
    """Read all zones, and let `zoneinfo` load them from memory."""
    known = zones()

    def load_tzdata(key: str) -> io.BytesIO:
        try:
            return io.BytesIO(known[key])
        except (KeyError, TypeError):
            message = f"No time zone found with key {key}"
            raise zoneinfo.ZoneInfoNotFoundError(message) from None

    library: Any = _common
    library.load_tzdata = load_tzdata
    zoneinfo.reset_tzpath(to=())


def _packaged() -> list[str]:
    """Return the folder of the package `tzdata`, if it is installed."""
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
