"""Time zones, read while files are still in reach."""

from __future__ import annotations

import io
import zoneinfo
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any
from zoneinfo import _common, _tzpath


@cache
def zones() -> dict[str, bytes]:
    """Return the data of all zones that this machine knows, by key. Zones that are the same share their bytes."""
    shared: dict[bytes, bytes] = {}
    found = {}
    for key in sorted(zoneinfo.available_timezones()):
        data = _read(key)
        found[key] = shared.setdefault(data, data)
    return found


def keep_zones() -> None:
    """Read all zones, and let `zoneinfo` take them from memory from now on."""
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


def _read(key: str) -> bytes:
    path = _tzpath.find_tzfile(key)
    if path is not None:
        return Path(path).read_bytes()
    package, _, name = f"tzdata.zoneinfo.{key.replace('/', '.')}".rpartition(".")
    return resources.files(package).joinpath(name).read_bytes()
