"""Time zones, read while files are in reach. Later `zoneinfo` takes them from memory."""

from __future__ import annotations

import io
import os
import zoneinfo
from functools import cache
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING, Any
from zoneinfo import _common

from sandbox.guest.library.archive import Archive
from sandbox.isolation.kernel import read_file

if TYPE_CHECKING:
    from collections.abc import Iterator

#: CPython's default search path.
_FOLDERS = ("/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo")
_MAGIC = b"TZif"
#: Folders with copies of the zones, with and without leap seconds. `zoneinfo` leaves them out, too.
_NOT_ZONES = ("posix", "right")


@cache
def zones() -> Archive:
    """Return the data of all time zones of this machine, by key. Of two folders with the same key the first counts."""
    return Archive(chain.from_iterable(_read(folder) for folder in reversed((*_FOLDERS, *_packaged()))))


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


def _read(folder: str) -> Iterator[tuple[str, bytes]]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _NOT_ZONES)
        for name in files:
            try:
                data = read_file(f"{place}/{name}")
            except OSError:  # a broken link
                continue
            if data.startswith(_MAGIC) and name not in ("posixrules", "localtime"):
                yield f"{place}/{name}"[len(folder) + 1 :], data
