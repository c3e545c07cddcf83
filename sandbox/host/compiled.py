"""A cache of compiled programs, each from a worker that did nothing else.

The host does not interpret them: they go only to guests that run the same source. The compiling worker is given that
source and nothing of any run, so only the source itself can influence its answer.
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
    from sandbox.host.unsandboxed_workers import UnsandboxedWorkers
    from sandbox.limits import Limits

#: Everything that decides the compiled form: source, root names, and the limits of source size and depth.
Key = tuple[str, frozenset[str], int, int]

#: In the place of a program that is being compiled, or cannot be.
_NOT_TO_BE_KEPT = b""


class CompiledPrograms:
    """Keep the most recently used programs that fit into `most_bytes` with their sources.

    A program is compiled apart when it runs for the second time, which most never do.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        #: None for a program that ran once.
        self._kept: OrderedDict[Key, bytes | None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    @staticmethod
    def key(code: str, names: Collection[str], limits: Limits) -> Key:
        """Return the key of a program."""
        return code, frozenset(names), limits.source_bytes, limits.source_depth

    def find(self, key: Key) -> bytes | None:
        """Return the cached program in the form of `encode_program`, or None."""
        program = self._kept.get(key)
        if program is not None:
            self._kept.move_to_end(key)
        return program or None

    def is_wanted(self, key: Key) -> bool:
        """Note one run of a program, and return whether to compile it apart: once, after its second run."""
        if key not in self._kept:
            self._put(key, None)
            return False
        return self._kept[key] is None

    async def compile(self, key: Key, server: ForkServer | UnsandboxedWorkers, limits: Limits) -> None:
        """Compile a program in a worker of its own, and keep the result."""
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


async def _compile(program: bytes, server: ForkServer | UnsandboxedWorkers, limits: Limits) -> str | None:
    """Return the compiled program, or None if the worker fails or breaks the protocol."""
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


#: Approximate size of an entry besides its source and program.
_ENTRY_BYTES = 1_000


def _size(key: Key, program: bytes | None) -> int:
    return _ENTRY_BYTES + 4 * len(key[0]) + len(program or b"")
