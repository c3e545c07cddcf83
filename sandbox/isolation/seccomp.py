"""The seccomp filter: a list of allowed system calls, with a reason for each. All others are refused.

Refused calls fail with EPERM, which a program sees as PermissionError. A call of another architecture kills the
process, since no honest one makes it. The filter is classic BPF (see seccomp(2)). The fork server assembles it once,
and each worker installs it by one prctl.
"""

from __future__ import annotations

import ctypes
import errno
from dataclasses import dataclass
from struct import Struct

from sandbox.isolation.kernel import MACHINE, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, prctl

#: name: (number on x86-64, number on aarch64, reason).
ALLOWED: dict[str, tuple[int, int, str]] = {
    "read": (0, 63, "take a frame from the host; nothing but the socket and /dev/null is open"),
    "write": (1, 64, "send a frame to the host"),
    "readv": (19, 65, "as read"),
    "writev": (20, 66, "as write"),
    "close": (3, 57, "descriptors that the interpreter releases"),
    "lseek": (8, 62, "called by io for descriptors; without effect on a socket"),
    "munmap": (11, 215, "give memory back"),
    "brk": (12, 214, "malloc; bounded by the limit on memory"),
    "mremap": (25, 216, "realloc of large blocks; cannot add a right to execute"),
    "rt_sigreturn": (15, 139, "end of a signal handler"),
    "restart_syscall": (219, 128, "made by the kernel after a stop and continue"),
    "getrandom": (318, 278, "random.SystemRandom, secrets, uuid4; hash keys"),
    "gettimeofday": (96, 169, "time on kernels without clock_gettime in the vDSO"),
    "getpid": (39, 172, "called by libraries after a fork"),
    "gettid": (186, 178, "called by locks of the C library"),
    "sched_yield": (24, 124, "locks of the C library"),
    "exit": (60, 93, "the end"),
    "exit_group": (231, 94, "the end"),
}
#: Allowed only for the fixed clocks: time where the vDSO does not answer, time.get_clock_info, time.sleep. A negative
#: number means the processor time of a process or thread by its id, by which workers could signal each other.
OF_CLOCKS = {"clock_gettime": (228, 113), "clock_getres": (229, 114), "clock_nanosleep": (230, 115)}
CLOCKS = tuple(range(12))  # CLOCK_REALTIME … CLOCK_TAI; 2 and 3 are the processor time of the caller
#: Allowed only without PROT_EXEC: executable memory would turn a bug in C into arbitrary machine code.
NOT_EXECUTABLE = {"mmap": (9, 222), "mprotect": (10, 226)}
#: Allowed only for waiting and waking within the process. Without the flag PRIVATE, the kernel identifies a futex by
#: the file behind its page, so two processes could signal each other through a shared library. Locks use no other
#: operations, some of which have had kernel bugs.
FUTEX = (202, 98)
_PRIVATE = 128
FUTEX_OPERATIONS = (0 | _PRIVATE, 1 | _PRIVATE, 9 | _PRIVATE, 10 | _PRIVATE)  # WAIT, WAKE, WAIT_BITSET, WAKE_BITSET
#: Allowed only for malloc's advice: release pages, and use huge pages or not. Other advice merges or evicts pages that
#: other processes share, and its timing reveals what they hold.
MADVISE = (28, 233)
MADVISE_ADVICE = (4, 8, 14, 15)  # DONTNEED, FREE, HUGEPAGE, NOHUGEPAGE
#: Fails with ENOSYS, so that the C library falls back to clone, which is refused.
NOT_THERE = {"clone3": (435, 435)}

_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000
_PROT_EXEC = 4
_FUTEX_CLOCK_REALTIME = 256
_ALL_BITS = 0xFFFFFFFF

# struct seccomp_data: number, architecture, instruction pointer, six arguments of 64 bits (little endian here)
_NUMBER, _ARCH, _FIRST_ARGUMENT, _SECOND_ARGUMENT, _THIRD_ARGUMENT = 0, 4, 16, 24, 32
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_INSTRUCTION = Struct("=HBBI")


@dataclass(frozen=True)
class Filter:
    """An assembled filter. `program` is the argument of prctl; it points to `instructions`, which must stay alive."""

    instructions: ctypes.Array[ctypes.c_char]
    program: ctypes.Array[ctypes.c_char]
    length: int


def build_filter(machine: str = MACHINE) -> Filter:
    """Assemble the filter for an architecture. Raises OSError if there is no list for it."""
    if machine not in _ARCHITECTURE:
        known = " and ".join(_ARCHITECTURE)
        raise OSError(errno.ENOSYS, f"no list of system calls for {machine or 'this architecture'}, only for {known}")
    code = assemble(machine)
    instructions = ctypes.create_string_buffer(code, len(code))
    length = len(code) // _INSTRUCTION.size
    # struct sock_fprog: unsigned short length, padding, pointer
    program = ctypes.create_string_buffer(Struct("@HP").pack(length, ctypes.addressof(instructions)))
    return Filter(instructions, program, length)


def install(built: Filter) -> None:
    """Install the filter in this process, irrevocably. Needs no_new_privs; raises OSError."""
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(built.program))


def assemble(machine: str) -> bytes:
    """Return the BPF code: check the architecture, then the list, then the calls with checked arguments."""
    column = 0 if machine == "x86_64" else 1
    code = [
        _op(_LOAD, _ARCH),
        _op(_JUMP_EQUAL, _ARCHITECTURE[machine], if_true=1),
        _op(_RETURN, _KILL_PROCESS),
        _op(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":
        code += [_op(_JUMP_AT_LEAST, _X32_BIT, if_false=1), _op(_RETURN, _KILL_PROCESS)]
    for numbers in ALLOWED.values():
        number = numbers[0] if column == 0 else numbers[1]
        code += [_op(_JUMP_EQUAL, number, if_false=1), _op(_RETURN, _ALLOW)]
    for pair in OF_CLOCKS.values():
        code += _only_with(pair[column], _FIRST_ARGUMENT, CLOCKS)
    for pair in NOT_EXECUTABLE.values():
        code += _only_with(pair[column], _THIRD_ARGUMENT, (0,), mask=_PROT_EXEC)
    code += _only_with(FUTEX[column], _SECOND_ARGUMENT, FUTEX_OPERATIONS, mask=_ALL_BITS & ~_FUTEX_CLOCK_REALTIME)
    code += _only_with(MADVISE[column], _THIRD_ARGUMENT, MADVISE_ADVICE)
    for pair in NOT_THERE.values():
        code += [_op(_JUMP_EQUAL, pair[column], if_false=1), _op(_RETURN, _ERRNO | errno.ENOSYS)]
    code.append(_op(_RETURN, _ERRNO | errno.EPERM))
    return b"".join(code)


def _only_with(number: int, argument: int, values: tuple[int, ...], *, mask: int = _ALL_BITS) -> list[bytes]:
    """Allow a call if the bits of its argument in `mask` equal one of `values`."""
    tests = [_op(_JUMP_EQUAL, value, if_true=len(values) - index) for index, value in enumerate(values)]
    return [
        _op(_JUMP_EQUAL, number, if_false=len(tests) + 4),
        _op(_LOAD, argument),
        _op(_AND, mask),
        *tests,
        _op(_RETURN, _ERRNO | errno.EPERM),
        _op(_RETURN, _ALLOW),
    ]


def _op(operation: int, operand: int, *, if_true: int = 0, if_false: int = 0) -> bytes:
    return _INSTRUCTION.pack(operation, if_true, if_false, operand)
