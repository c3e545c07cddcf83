"""Calls of C functions one right after the other, with no Python between them that would touch what they change."""

from __future__ import annotations

from array import array
from ctypes import CDLL, c_int, c_size_t, c_void_p, cast

from sandbox.isolation.kernel import MACHINE, map_memory, unmap_memory

#: Bytes for one call: its context and its stack, of which system calls and what copies memory need next to nothing.
_CONTEXT, _STACK = {"x86_64": 1_024, "aarch64": 5_120}.get(MACHINE, 8_192), 2_048
_SLOT = _CONTEXT + _STACK
# Where the fields of `ucontext_t` are, on both machines.
_LINK, _STACK_START, _STACK_SIZE = 8, 16, 32
#: As many as go into registers; and with the function and how many there are, the numbers of a call.
_MOST_ARGUMENTS = 6
_NUMBERS = 2 + _MOST_ARGUMENTS


class CallSequence:
    """Functions of the C library with their arguments, integers that fit into a register: `add` them, then `run`.

    For those that need little stack: system calls, `memmove`.

    Each is a context (getcontext(3), makecontext(3)) that the one before it goes on to when it returns; the last goes
    back to where it began. What the functions return is lost. Raises AttributeError where the C library has no
    contexts, as musl has none.
    """

    def __init__(self) -> None:
        self._libc = CDLL(None)
        self._get, self._make, self._swap = self._libc.getcontext, self._libc.makecontext, self._libc.swapcontext
        self._get.argtypes = [c_size_t]
        self._swap.argtypes = [c_size_t, c_size_t]
        self._functions: dict[str, int] = {}
        #: Numbers side by side: as objects they would leave holes all over the heap that is to be kept as it is.
        self._calls = array("q")

    def add(self, function: str, *arguments: int) -> None:
        """Put one call at the end."""
        if function not in self._functions:
            self._functions[function] = cast(getattr(self._libc, function), c_void_p).value or 0
        self._calls.extend((self._functions[function], len(arguments), *arguments))
        self._calls.extend(0 for _ in range(_MOST_ARGUMENTS - len(arguments)))

    def run(self) -> None:
        """Make all calls, in the order in which they were added."""
        count = len(self._calls) // _NUMBERS
        size = (1 + count) * _SLOT
        here = map_memory(size)
        for number in range(count):
            following = here + (number + 2) * _SLOT if number + 1 < count else here
            first = number * _NUMBERS
            self._prepare(here + (number + 1) * _SLOT, following, *self._calls[first : first + _NUMBERS])
        if count:
            self._swap(here, here + _SLOT)
        unmap_memory(here, size)

    def _prepare(self, context: int, following: int, function: int, count: int, *arguments: int) -> None:
        self._get(context)
        c_size_t.from_address(context + _LINK).value = following
        c_size_t.from_address(context + _STACK_START).value = context + _CONTEXT
        c_size_t.from_address(context + _STACK_SIZE).value = _STACK
        self._make(c_void_p(context), c_void_p(function), c_int(count), *map(c_size_t, arguments[:count]))
