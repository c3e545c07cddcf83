"""The system calls that a worker may make: a list with a reason for each; everything else is refused.

Refused calls fail with EPERM, an ordinary PermissionError that a program can read. A call of another architecture
kills: no honest process makes one. The filter is classic BPF (see seccomp(2)), assembled once in the fork server;
installing it is one prctl in the worker.
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
    "close": (3, 57, "files that the interpreter lets go"),
    "lseek": (8, 62, "asked by io of descriptors; changes nothing that is open here"),
    "munmap": (11, 215, "give memory back"),
    "brk": (12, 214, "malloc; bounded by the limit on memory"),
    "mremap": (25, 216, "realloc of large blocks; cannot add a right to execute"),
    "rt_sigreturn": (15, 139, "end of a signal handler"),
    "restart_syscall": (219, 128, "the kernel itself, after a stop and continue"),
    "getrandom": (318, 278, "random.SystemRandom, secrets, uuid4; hash keys"),
    "clock_gettime": (228, 113, "time, where the vDSO does not answer"),
    "clock_getres": (229, 114, "time.get_clock_info"),
    "clock_nanosleep": (230, 115, "time.sleep; ends at the wall clock limit"),
    "gettimeofday": (96, 169, "time on kernels without clock_gettime in the vDSO"),
    "getpid": (39, 172, "asked by libraries after a fork; inside it is a number without use"),
    "gettid": (186, 178, "asked by locks of the C library"),
    "sched_yield": (24, 124, "locks of the C library"),
    "exit": (60, 93, "the end"),
    "exit_group": (231, 94, "the end"),
}
#: Allowed only without PROT_EXEC: memory that can be executed turns a bug in C into a program of its own.
NOT_EXECUTABLE = {"mmap": (9, 222), "mprotect": (10, 226)}
#: Allowed for waiting and waking within the process alone. Without the flag PRIVATE a futex is found by the file behind
#: its page, so that two processes that share a library could signal each other through its text. The other operations
#: have had bugs in the kernel, and locks do not use them.
FUTEX = (202, 98)
_PRIVATE = 128
FUTEX_OPERATIONS = (0 | _PRIVATE, 1 | _PRIVATE, 9 | _PRIVATE, 10 | _PRIVATE)  # WAIT, WAKE, WAIT_BITSET, WAKE_BITSET
#: Allowed for what malloc asks: to give pages back, and for large ones or not. Others merge pages with those of other
#: processes, or push shared ones out of memory, and show by their time what others have there.
MADVISE = (28, 233)
MADVISE_ADVICE = (4, 8, 14, 15)  # DONTNEED, FREE, HUGEPAGE, NOHUGEPAGE
#: Answered as by a kernel that does not have it, so that the C library falls back to clone, which is refused.
NOT_THERE = {"clone3": (435, 435)}

_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000
_PROT_EXEC = 4
_FUTEX_CLOCK_REALTIME = 256

# struct seccomp_data: number, architecture, instruction pointer, six arguments of 64 bits (little endian here)
_NUMBER, _ARCH, _SECOND_ARGUMENT, _THIRD_ARGUMENT = 0, 4, 24, 32
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_SET, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_INSTRUCTION = Struct("=HBBI")


@dataclass(frozen=True)
class Filter:
    """An assembled filter. `program` is what prctl takes; it points into `instructions`, which must stay alive."""

    instructions: ctypes.Array[ctypes.c_char]
    program: ctypes.Array[ctypes.c_char]
    length: int


def build_filter(machine: str = MACHINE) -> Filter:
    """Assemble the filter for this machine. Raises OSError on an architecture without a list."""
    if machine not in _ARCHITECTURE:
        raise OSError(errno.ENOSYS, f"there is no list of system calls for {machine or 'this architecture'}")
    code = assemble(machine)
    instructions = ctypes.create_string_buffer(code, len(code))
    length = len(code) // _INSTRUCTION.size
    # struct sock_fprog: unsigned short length, padding, pointer
    program = ctypes.create_string_buffer(Struct("@HP").pack(length, ctypes.addressof(instructions)))
    return Filter(instructions, program, length)


def install(built: Filter) -> None:
    """Lock this process for good. `no_new_privs` must have been set. Raises OSError."""
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(built.program))


def assemble(machine: str) -> bytes:
    """Return the BPF code: checks of architecture, of arguments, then the list, most frequent call first."""
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
    for pair in NOT_EXECUTABLE.values():
        code += _only_without_exec(pair[column])
    code += _only_with(FUTEX[column], _SECOND_ARGUMENT, FUTEX_OPERATIONS, but_for=_FUTEX_CLOCK_REALTIME)
    code += _only_with(MADVISE[column], _THIRD_ARGUMENT, MADVISE_ADVICE)
    for pair in NOT_THERE.values():
        code += [_op(_JUMP_EQUAL, pair[column], if_false=1), _op(_RETURN, _ERRNO | errno.ENOSYS)]
    code.append(_op(_RETURN, _ERRNO | errno.EPERM))
    return b"".join(code)


def _only_without_exec(number: int) -> list[bytes]:
    return [
        _op(_JUMP_EQUAL, number, if_false=4),
        _op(_LOAD, _THIRD_ARGUMENT),
        _op(_JUMP_SET, _PROT_EXEC, if_false=1),
        _op(_RETURN, _ERRNO | errno.EPERM),
        _op(_RETURN, _ALLOW),
    ]


def _only_with(number: int, argument: int, values: tuple[int, ...], *, but_for: int = 0) -> list[bytes]:
    """Allow a call whose argument, but for some bits, is one of these values."""
    tests = [_op(_JUMP_EQUAL, value, if_true=len(values) - index) for index, value in enumerate(values)]
    return [
        _op(_JUMP_EQUAL, number, if_false=len(tests) + 4),
        _op(_LOAD, argument),
        _op(_AND, 0xFFFFFFFF & ~but_for),
        *tests,
        _op(_RETURN, _ERRNO | errno.EPERM),
        _op(_RETURN, _ALLOW),
    ]


def _op(operation: int, operand: int, *, if_true: int = 0, if_false: int = 0) -> bytes:
    return _INSTRUCTION.pack(operation, if_true, if_false, operand)
