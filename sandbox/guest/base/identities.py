"""Numbers instead of addresses, because addresses differ from run to run."""

from __future__ import annotations

import re
import weakref
from typing import Any

#: The first number that is shown as an address.
BASE = 0x100000000000
_STEP = 16
_SHOWN = re.compile(r"(?<= at 0x)[0-9a-f]{9,16}(?![0-9a-f])")


class _Watch(weakref.ref[Any]):
    """A weak reference that keeps the address of its object."""

    __slots__ = ("address",)
    address: int


class Identities:
    """Numbers objects in the order of the questions."""

    def __init__(self) -> None:
        #: Numbers by address, each with a weak reference, or with the object if there can be none.
        self.known: dict[int, tuple[int, object]] = {}
        self._in_text: dict[int, int] = {}
        self._last = 0

    def number(self, value: object) -> int:
        """Return the number of an object. No other object of the execution gets it.

        An object without weak references (text, a number) is kept, so that its address is not used again.
        """
        address = id(value)
        found = self.known.get(address)
        if found is None:
            found = self.known[address] = (self._next(), self._watch(value, address))
        return found[0]

    def shown(self, value: object) -> int:
        """Return `id(value)` as programs see it."""
        return BASE + self.number(value) * _STEP

    def steady(self, text: str) -> str:
        """Return a text with numbers instead of addresses (`<function f at 0x…>`), in order of appearance."""
        return _SHOWN.sub(self._instead, text) if " at 0x" in text else text

    def clear(self) -> None:
        """Forget all numbers, at the start of an execution."""
        self.known.clear()
        self._in_text.clear()
        self._last = 0

    def steady_json(self, data: bytes) -> bytes:
        """Do the same for JSON."""
        shows = b"x" in data and b" at 0x" in data  # fast for most data
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
            return found[0]  # no object can be there: it is text of the program
        known = self.known.get(address)
        number = known[0] if known is not None else self._in_text.get(address)
        if number is None:
            number = self._in_text[address] = self._next()
        return f"{BASE + number * _STEP:x}"


def _regions() -> frozenset[int]:
    """Return the regions of memory that hold objects: static, small and large ones.

    Each region comes with its neighbours, because it may grow into them.
    """
    parts = (id(type) >> 36, id(object()) >> 36, id(bytes(1 << 16)) >> 36)
    return frozenset(part + step for part in parts for step in (-1, 0, 1))


#: The numbers of the one program that runs in the process. They are cleared before it starts.
IDENTITIES = Identities()
