"""Programs that were compiled before: what their first workers told, for whoever runs the same text again.

Nothing here is read: text of a guest goes to guests that run the very same source, and to nobody else. It was told
before the guest was given anything of its run, so all that could have forged it, or stands in it, is that source.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from sandbox.protocol.host_messages import encode_program

if TYPE_CHECKING:
    from collections.abc import Collection

    from sandbox.limits import Limits

#: All that decides what a program is compiled to: its source, its root names, the largest and the deepest source.
Key = tuple[str, frozenset[str], int, int]


class CompiledPrograms:
    """As many as fit into `most_bytes` with their sources; those go first that nobody has asked for the longest.

    A program is kept when it comes for the second time: most never do.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[Key, bytes | None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    @staticmethod
    def key(code: str, names: Collection[str], limits: Limits) -> Key:
        """Return what stands for a program."""
        return code, frozenset(names), limits.source_bytes, limits.source_depth

    def find(self, key: Key) -> bytes | None:
        """Return what to send of a program that was kept, as `encode_program` gives it."""
        program = self._kept.get(key)
        if program is not None:
            self._kept.move_to_end(key)
        return program

    def has_seen(self, key: Key) -> bool:
        """Tell whether the program has come before, and remember that it came now."""
        if key in self._kept:
            return True
        self._put(key, None)
        return False

    def keep(self, key: Key, text: str) -> None:
        """Keep what a guest told of a program."""
        code, names, *_ = key
        self._put(key, encode_program(code, names, text))

    def _put(self, key: Key, program: bytes | None) -> None:
        if key in self._kept:
            self._bytes -= _size(key, self._kept.pop(key))
        self._kept[key] = program
        self._bytes += _size(key, program)
        while self._bytes > self._most_bytes:
            self._bytes -= _size(*self._kept.popitem(last=False))


#: What an entry takes besides its source and its program, about.
_ENTRY_BYTES = 1_000


def _size(key: Key, program: bytes | None) -> int:
    return _ENTRY_BYTES + 4 * len(key[0]) + len(program or b"")
