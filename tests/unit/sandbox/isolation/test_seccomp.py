from __future__ import annotations

import errno
import re
from pathlib import Path
from struct import Struct, pack

import pytest

from sandbox.isolation import kernel, seccomp

ALLOW, KILL, EPERM, ENOSYS = 0x7FFF0000, 0x80000000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def verdict(machine: str, number: int, *arguments: int, architecture: int | None = None) -> int:
    """Run the filter as the kernel does, on one call."""
    data = pack("<IIQ6Q", number, architecture or ARCHITECTURES[machine], 0, *[*arguments, 0, 0, 0, 0, 0, 0][:6])
    instructions = list(Struct("=HBBI").iter_unpack(seccomp.assemble(machine)))
    register, place = 0, 0
    while True:
        operation, if_true, if_false, operand = instructions[place]
        place += 1
        if operation == 0x20:
            register = int.from_bytes(data[operand : operand + 4], "little")
        elif operation == 0x54:
            register &= operand
        elif operation == 0x06:
            return int(operand)
        else:
            test = {0x15: register == operand, 0x35: register >= operand}[operation]
            place += if_true if test else if_false


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_exactly_the_listed_calls_are_allowed(machine: str) -> None:
    column = 0 if machine == "x86_64" else 1
    listed = {numbers[column] for numbers in seccomp.ALLOWED.values()}
    listed |= {pair[column] for pair in {**seccomp.NOT_EXECUTABLE, **seccomp.OF_CLOCKS}.values()}
    allowed = {number for number in range(1_000) if verdict(machine, number) == ALLOW}
    assert allowed == listed
    others = {verdict(machine, number) for number in range(1_000) if number not in listed and number != 435}
    assert others == {EPERM}


def kernel_numbers(header: str) -> dict[str, int]:
    """Return the numbers of system calls in a header of the kernel, by name."""
    path = Path(header)
    if not path.is_file():
        pytest.skip(f"the kernel's headers are not installed: {header}")
    found = re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)", path.read_text(), re.MULTILINE)
    return {name: int(number) for name, number in found}


HEADERS = {  # 64-bit Arm uses the generic table
    "x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    "aarch64": "/usr/include/asm-generic/unistd.h",
}


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_numbers_are_those_of_the_kernel_s_own_table(machine: str) -> None:
    table = kernel_numbers(HEADERS[machine])
    column = 0 if machine == "x86_64" else 1
    ours = {name: numbers[column] for name, numbers in seccomp.ALLOWED.items()}
    with_conditions = {**seccomp.NOT_EXECUTABLE, **seccomp.OF_CLOCKS, **seccomp.NOT_THERE}
    ours |= {name: pair[column] for name, pair in with_conditions.items()}
    ours |= {"futex": seccomp.FUTEX[column], "madvise": seccomp.MADVISE[column]}
    ours |= {"pivot_root": kernel._PIVOT_ROOT_OF[machine], "capset": kernel._CAPSET_OF[machine]}
    ours |= {"close_range": kernel.CLOSE_RANGE, "landlock_create_ruleset": kernel.LANDLOCK_CREATE_RULESET}
    ours["landlock_restrict_self"] = kernel.LANDLOCK_RESTRICT_SELF
    assert ours == {name: table[name] for name in ours}


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_madvise_serves_malloc_and_nobody_else(machine: str) -> None:
    number = seccomp.MADVISE[0 if machine == "x86_64" else 1]
    allowed = {advice for advice in range(256) if verdict(machine, number, 0, 4096, advice) == ALLOW}
    assert allowed == {4, 8, 14, 15}


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("call", ["clock_gettime", "clock_getres", "clock_nanosleep"])
def test_only_the_fixed_clocks_are_read(machine: str, call: str) -> None:
    number = seccomp.OF_CLOCKS[call][0 if machine == "x86_64" else 1]
    assert {clock for clock in range(1 << 12) if verdict(machine, number, clock) == ALLOW} == set(range(12))
    for process in (0, 1, 4242):
        for kind in range(8):  # the processor time of a process or thread by its id, the clock of a descriptor
            assert verdict(machine, number, (~process << 3 | kind) & 0xFFFFFFFF) == EPERM
            assert verdict(machine, number, (~process << 3 | kind) & 0xFFFFFFFFFFFFFFFF) == EPERM


def test_every_allowed_call_has_a_reason() -> None:
    assert all(len(reason) > 6 for _, _, reason in seccomp.ALLOWED.values())


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("call", ["mmap", "mprotect"])
def test_memory_cannot_be_made_executable(machine: str, call: str) -> None:
    number = seccomp.NOT_EXECUTABLE[call][0 if machine == "x86_64" else 1]
    assert verdict(machine, number, 0, 4096, 3) == ALLOW
    for protection in (4, 5, 7, 1 << 32 | 4):
        assert verdict(machine, number, 0, 4096, protection) == EPERM


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_futex_waits_and_wakes_within_the_process_and_does_nothing_else(machine: str) -> None:
    number = seccomp.FUTEX[0 if machine == "x86_64" else 1]
    allowed = {operation for operation in range(1 << 12) if verdict(machine, number, 0, operation) == ALLOW}
    private, by_the_clock_of_the_day = 128, 256
    operations = {private + operation for operation in (0, 1, 9, 10)}
    assert allowed == operations | {operation + by_the_clock_of_the_day for operation in operations}
    assert verdict(machine, number, 0, 1 << 32 | 1) == EPERM  # the kernel reads the lower half


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("call", [449, 454, 455, 456])  # futex_waitv, futex_wake, futex_wait, futex_requeue
def test_newer_ways_to_wait_for_memory_are_refused(machine: str, call: int) -> None:
    assert verdict(machine, call) == EPERM


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_clone3_looks_as_if_it_did_not_exist(machine: str) -> None:
    assert verdict(machine, 435) == ENOSYS


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_a_call_of_another_architecture_kills(machine: str) -> None:
    assert verdict(machine, 0, architecture=0x40000003) == KILL


def test_an_x32_number_kills() -> None:
    assert verdict("x86_64", 0x40000000) == KILL
    assert verdict("x86_64", 0xFFFFFFFF) == KILL


def test_an_architecture_without_a_list_is_named() -> None:
    with pytest.raises(OSError, match="no list of system calls for riscv64, only for x86_64 and aarch64"):
        seccomp.build_filter("riscv64")
