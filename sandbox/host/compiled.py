"""Programs that were compiled before: what a worker said that did nothing else, for whoever runs the same text again.

Nothing here is read: text of a guest goes to guests that run the very same source, and to nobody else. The worker that
compiles is given that source, runs nothing and ends, so all that could forge its text, or stands in it, is the source.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from sandbox.errors import GuestProtocolError, WorkerError
from sandbox.host.worker import read_frame
from sandbox.protocol.control import Purpose
from sandbox.protocol.framing import FrameTooLarge
from sandbox.protocol.guest_decoder import decode_compiled
from sandbox.protocol.host_messages import encode_compile, encode_program

if TYPE_CHECKING:
    from collections.abc import Collection

    from sandbox.host.fork_server import ForkServer
    from sandbox.host.lone_workers import LoneWorkers
    from sandbox.limits import Limits

#: All that decides what a program is compiled to: its source, its root names, the largest and the deepest source.
Key = tuple[str, frozenset[str], int, int]

#: What stands for a program that a worker was asked for and that cannot be kept.
_NOT_TO_BE_KEPT = b""


class CompiledPrograms:
    """As many as fit into `most_bytes` with their sources; those go first that nobody has asked for the longest.

    A program is compiled apart when it has come for the second time: most never do.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        #: None: has come once.
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
        return program or None

    def is_wanted(self, key: Key) -> bool:
        """Note that a program has come, and tell whether it is worth to be compiled apart: once, the second time."""
        if key not in self._kept:
            self._put(key, None)
            return False
        return self._kept[key] is None

    async def compile(self, key: Key, server: ForkServer | LoneWorkers, limits: Limits) -> None:
        """Have a worker of its own compile a program, and keep what it says."""
        code, names, *_ = key
        self._put(key, _NOT_TO_BE_KEPT)
        text = await _compile(encode_program(code, names), server, limits)
        if text is not None:
            self._put(key, encode_program(code, names, text))

    def _put(self, key: Key, program: bytes | None) -> None:
        if key in self._kept:
            self._bytes -= _size(key, self._kept.pop(key))
        self._kept[key] = program
        self._bytes += _size(key, program)
        while self._bytes > self._most_bytes:
            self._bytes -= _size(*self._kept.popitem(last=False))


async def _compile(program: bytes, server: ForkServer | LoneWorkers, limits: Limits) -> str | None:
    """Return what a worker says; None where it has nothing to say, or breaks a rule: then it is compiled each time."""
    try:
        worker = server.fork(limits, Purpose.SERVE)
    except WorkerError:
        return None
    worker.send(encode_compile(program, limits=limits))
    try:
        return decode_compiled(await read_frame(worker, budget=limits.frame_bytes, timeout_s=limits.wall_s))
    except (TimeoutError, EOFError, FrameTooLarge, GuestProtocolError):
        return None
    finally:
        worker.discard()


#: What an entry takes besides its source and its program, about.
_ENTRY_BYTES = 1_000


def _size(key: Key, program: bytes | None) -> int:
    return _ENTRY_BYTES + 4 * len(key[0]) + len(program or b"")
