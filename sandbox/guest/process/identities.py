"""Numbers in the place of addresses: these differ from run to run, those do not."""

from __future__ import annotations

import re
import weakref
from typing import Any

#: Where shown numbers begin. They look like addresses, and are none.
BASE = 0x100000000000
_STEP = 16
_SHOWN = re.compile(r"(?<= at 0x)[0-9a-f]{9,16}(?![0-9a-f])")


class _Watch(weakref.ref[Any]):
    """Tells when an object is gone, and where it was."""

    __slots__ = ("address",)
    address: int


class Identities:
    """Numbers objects in the order in which somebody asks."""

    def __init__(self) -> None:
        #: Numbers by address, each with what watches the object, or keeps it.
        self.known: dict[int, tuple[int, object]] = {}
        self._in_text: dict[int, int] = {}
        self._last = 0

    def number(self, value: object) -> int:
        """Return the number of an object, which no other object of the execution ever gets.

        What cannot be watched until it is gone (text, numbers) is kept, so that its address belongs to nobody else.
        """
        address = id(value)
        found = self.known.get(address)
        if found is None:
            found = self.known[address] = (self._next(), self._watch(value, address))
        return found[0]

    def shown(self, value: object) -> int:
        """Return what stands for the address of an object: `id(value)` for programs."""
        return BASE + self.number(value) * _STEP

    def steady(self, text: str) -> str:
        """Return a text with numbers in the place of addresses (`<function f at 0x…>`), by order of appearance."""
        return _SHOWN.sub(self._instead, text) if " at 0x" in text else text

    def clear(self) -> None:
        """Forget all, at the start of an execution."""
        self.known.clear()
        self._in_text.clear()
        self._last = 0

    def steady_json(self, data: bytes) -> bytes:
        """Do the same in JSON."""
        shows = b"x" in data and b" at 0x" in data  # the first is sought at once, and most data have none
        return self.steady(data.decode()).encode() if shows else data

    def _next(self) -> int:
        self._last += 1
        return self._last

    def _watch(self, value: object, address: int) -> object:
        try:
            watch = _Watch(value, self._gone)
        except TypeError:
            return value
        watch.address = address
        return watch

    def _gone(self, watch: _Watch) -> None:
        self.known.pop(watch.address, None)

    def _instead(self, found: re.Match[str]) -> str:
        address = int(found[0], 16)
        if address >> 36 not in _regions():
            return found[0]  # nobody lives there: it is text of the program
        known = self.known.get(address)
        number = known[0] if known is not None else self._in_text.get(address)
        if number is None:
            number = self._in_text[address] = self._next()
        return f"{BASE + number * _STEP:x}"


def _regions() -> frozenset[int]:
    """Return the parts of memory in which objects live: of the interpreter's own, of small and of large ones.

    Each with its neighbours: what grows may go over the border of a part.
    """
    parts = (id(type) >> 36, id(object()) >> 36, id(bytes(1 << 16)) >> 36)
    return frozenset(part + step for part in parts for step in (-1, 0, 1))


#: One program runs in a process at a time; `serve` clears this before it starts one.
IDENTITIES = Identities()
