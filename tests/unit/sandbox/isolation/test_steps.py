"""Each step of the lockdown alone, in a child that takes it: what it refuses from then on."""

from __future__ import annotations

import errno
import mmap
import os
import resource
import signal
import socket
import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from sandbox.isolation import descriptors, kernel, landlock, lockdown, namespaces, privileges, probe, rlimits, seccomp
from tests.unit.sandbox.isolation.children import in_child

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the lockdown is Linux's")
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")

MEMORY = 64 << 20


def refused(attempt: Callable[[], object]) -> str | None:
    """Name the error of an attempt, None where it worked."""
    try:
        attempt()
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    return None


# --- kernel ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kernel.prctl(9_999, 0), "prctl 9999: Invalid argument"),
        (lambda: kernel.unshare(1), "unshare: Invalid argument"),
        (lambda: kernel.mount("none", "/no/such", "tmpfs", 0), "mount /no/such: "),
        (lambda: kernel.detach("/no/such"), "umount /no/such: "),
        (lambda: kernel.pivot_root("/no/such", "/no/such"), "pivot_root: "),
        (lambda: kernel.read_file("/no/such"), "No such file"),
        (lambda: kernel.write_file("/no/such", "x"), "No such file"),
    ],
)
def test_a_system_call_that_fails_says_which(call: Callable[[], object], message: str) -> None:
    with pytest.raises(OSError, match=message):
        call()


def test_a_fork_that_is_refused_is_an_error() -> None:
    def fork() -> str | None:
        privileges.become_nobody()  # root may start as many as it likes
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
        return refused(kernel.fork)

    assert in_child(fork) == "EAGAIN"


def test_a_fork_gives_the_number_of_the_child() -> None:
    def fork() -> int:
        process = kernel.fork()
        if not process:
            os._exit(9)
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

    assert in_child(fork) == 9


def test_files_of_the_kernel_are_read_and_written() -> None:
    def write() -> str:
        kernel.write_file("/proc/self/comm", "locked")
        return kernel.read_file("/proc/self/comm").decode()

    assert in_child(write) == "locked\n"


# --- descriptors -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_in_place", [True, False])
def test_nothing_but_the_channel_stays_open(*, is_in_place: bool) -> None:
    def keep() -> list[bool]:
        other = os.open("/dev/null", os.O_RDONLY)
        descriptors.keep_only(descriptors.CHANNEL if is_in_place else os.dup(descriptors.CHANNEL))
        return [refused(partial(os.fstat, descriptor)) is None for descriptor in (descriptors.CHANNEL, other)]

    assert in_child(keep) == [True, False]


@pytest.mark.parametrize("are_open", [True, False])
def test_the_standard_descriptors_are_nobody_s(*, are_open: bool) -> None:
    def silence() -> list[int]:
        if not are_open:
            os.closerange(0, 3)
        descriptors.silence()
        return [os.fstat(descriptor).st_rdev for descriptor in (0, 1, 2)]

    assert in_child(silence) == [os.stat("/dev/null").st_rdev] * 3


# --- privileges ------------------------------------------------------------------------------------------------------


@needs_root
def test_root_becomes_a_user_that_owns_nothing_and_cannot_come_back() -> None:
    def become() -> Any:
        privileges.become_nobody()
        user = os.getuid()
        privileges.become_nobody()  # nothing to do any more
        return os.getresuid(), os.getresgid(), os.getgroups(), user, refused(lambda: os.setresuid(0, 0, 0))

    users, groups, others, user, back = in_child(become)
    assert 61_200 <= user < 65_200
    assert (users, groups, others, back) == ([user] * 3, [user] * 3, [], "EPERM")


@pytest.mark.parametrize("is_nobody", [True, False])
def test_every_capability_is_given_up(*, is_nobody: bool) -> None:
    def drop() -> list[str]:
        if is_nobody:
            privileges.become_nobody()
        privileges.drop_capabilities()
        status = kernel.read_file("/proc/self/status").decode().splitlines()
        sets = ("CapPrm", "CapEff", "CapInh") if is_nobody else ("CapPrm", "CapEff", "CapInh", "CapBnd")
        return [line.split()[1] for line in status if line.startswith(sets)]

    assert set(in_child(drop)) == {"0" * 16}


def test_memory_is_hidden_rights_are_not_gained_and_the_parent_is_not_outlived() -> None:
    def take() -> list[str]:
        privileges.forbid_new_privileges()
        privileges.hide_memory()
        privileges.die_with_parent()
        status = kernel.read_file("/proc/self/status").decode().splitlines()
        return [line.split()[1] for line in status if line.startswith("NoNewPrivs")]

    assert in_child(take) == ["1"]


# --- namespaces ------------------------------------------------------------------------------------------------------


def test_behind_namespaces_there_is_no_file_no_network_and_no_other_process() -> None:
    outside = os.getpid()

    def leave() -> Any:
        namespaces.leave_all()
        namespaces.become_first_process()
        namespaces.leave_files()
        attempts = [
            lambda: os.stat("/proc"),
            lambda: os.kill(outside, 0),
            probe._send_packet,
            lambda: os.open("/x", os.O_CREAT | os.O_WRONLY),
        ]
        return os.getpid(), os.listdir("/"), [refused(attempt) for attempt in attempts]

    number, files, errors = in_child(leave)
    assert (number, files) == (1, [])
    assert errors[:3] == ["ENOENT", "ESRCH", "ENETUNREACH"]
    assert errors[3] in ("EROFS", "EACCES")


class _EndedError(Exception):
    """In the place of the end of a process."""


def test_the_outer_half_waits_for_all_and_ends_as_the_inner_half_does(monkeypatch: pytest.MonkeyPatch) -> None:
    end = os._exit
    closed = []

    def ended(status: int) -> None:
        raise _EndedError(status)

    def become() -> Any:
        early = os.fork()
        if not early:
            end(1)
        os.waitid(os.P_PID, early, os.WEXITED | os.WNOWAIT)  # it is the first that the outer half hears of
        monkeypatch.setattr(os, "_exit", ended)
        monkeypatch.setattr(os, "closerange", lambda *of: closed.append(of))
        try:
            namespaces.become_first_process()
        except _EndedError as status:
            return status.args[0], closed, refused(lambda: os.waitpid(early, os.WNOHANG))
        return end(7)  # type: ignore[func-returns-value]

    assert in_child(become) == [7, [[0, 256]], "ECHILD"]


# --- landlock, rlimits, seccomp --------------------------------------------------------------------------------------


def test_landlock_refuses_every_file() -> None:
    def deny() -> list[str | None]:
        privileges.forbid_new_privileges()
        landlock.deny_everything()
        return [refused(lambda: os.listdir("/")), refused(lambda: os.open(__file__, os.O_RDONLY))]

    assert in_child(deny) == ["EACCES", "EACCES"]


def test_limits_hold_and_cannot_be_raised() -> None:
    def limit() -> Any:
        footprint = rlimits.measure()
        rlimits.limit_server()
        rlimits.limit_worker(footprint, memory_bytes=MEMORY, cpu_s=5)
        found = {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in ("CORE", "NOFILE", "CPU")}
        return found, refused(lambda: mmap.mmap(-1, MEMORY + (1 << 20))), refused(lambda: os.dup(0))

    found, memory, descriptor = in_child(limit)
    assert found == {"CORE": [0, 0], "NOFILE": [4, 4], "CPU": [5, 6]}
    assert (memory, descriptor) == ("ENOMEM", "EMFILE")


def test_no_limit_is_raised_above_what_the_machine_allows() -> None:
    footprint = replace(rlimits.measure(), hardest=dict.fromkeys(rlimits._FOR_WORKERS, 3))

    def limit() -> Any:
        rlimits.limit_worker(footprint, memory_bytes=MEMORY, cpu_s=5)
        return resource.getrlimit(resource.RLIMIT_NOFILE)

    assert in_child(limit) == [3, 3]
    assert rlimits._hardest(resource.RLIMIT_STACK) > 0


def test_the_filter_refuses_what_is_not_listed() -> None:
    built = seccomp.build_filter()

    def install() -> list[str | None]:
        privileges.forbid_new_privileges()
        seccomp.install(built)
        return [refused(os.getppid), refused(lambda: os.kill(os.getpid(), 0)), refused(os.getpid)]

    assert in_child(install)[1:] == ["EPERM", None]


# --- the lockdown, and what the probe finds of it --------------------------------------------------------------------


@pytest.mark.parametrize("has_filter", [True, False])
def test_a_locked_worker_opens_nothing_and_signals_nobody(*, has_filter: bool) -> None:
    def lock() -> Any:
        report: dict[str, str] = {}
        server = lockdown.lock_server(report)
        if not has_filter:
            server = replace(server, filter=None)
        lockdown.lock_worker(server, channel=descriptors.CHANNEL, memory_bytes=MEMORY, cpu_s=5)
        return report, refused(lambda: os.open("/", os.O_RDONLY)), refused(lambda: os.kill(server.outer_process, 0))

    report, opened, signalled = in_child(lock)
    layers = {"seccomp", "user", "namespaces", "capabilities", "landlock", "rlimits"}
    assert report == dict.fromkeys(layers, lockdown.TAKEN)
    assert (opened, signalled) == (("EPERM", "EPERM") if has_filter else ("EMFILE", "ESRCH"))


def test_a_layer_that_cannot_be_had_is_told_and_the_others_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OSError(errno.EPERM, "no")

    monkeypatch.setattr(namespaces, "leave_all", fail)

    def lock() -> dict[str, str]:
        report: dict[str, str] = {}
        lockdown.lock_server(report)
        return report

    report = in_child(lock)
    assert report.pop("namespaces") == "PermissionError: [Errno 1] no"
    assert set(report.values()) == {lockdown.TAKEN}


def test_the_probe_of_a_locked_child_finds_every_layer_in_force() -> None:
    def look() -> dict[str, str]:
        os.environ.clear()
        descriptors.silence()
        lock = lockdown.lock_server({})
        return probe.probe(lock, channel=descriptors.CHANNEL, memory_bytes=MEMORY, cpu_s=5)

    assert in_child(look) == dict.fromkeys(probe.LAYERS, "in force")


@pytest.mark.parametrize("reads", ["environment", "descriptors", "nothing"])
def test_the_probe_finds_what_was_inherited(reads: str) -> None:
    def look() -> str:
        os.environ.clear()
        if reads == "environment":
            os.environ["SECRET"] = "x"
        if reads != "descriptors":
            descriptors.silence()
        else:
            os.dup2(os.open("/dev/zero", os.O_WRONLY), 1)
        return probe._inheritance()

    found = {
        "environment": "possible: read 1 variables of the environment",
        "descriptors": "possible: use the standard descriptors of the host",
        "nothing": "in force",
    }
    assert in_child(look) == found[reads]


def test_the_probe_finds_namespaces_that_were_not_left() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM):  # this machine can send
        assert probe._namespaces(os.getppid()).startswith("possible: see the machine's files, send a packet")
    assert "other processes" not in probe._namespaces(1)


def test_the_probe_finds_what_landlock_cannot_deny(monkeypatch: pytest.MonkeyPatch) -> None:
    assert probe._landlock().startswith("possible: list the root directory")
    monkeypatch.setattr(landlock, "version", lambda: 5)
    monkeypatch.setattr(os, "scandir", _fail)
    assert probe._landlock() == "in force (version 5, which cannot deny abstract sockets and signals)"
    monkeypatch.setattr(landlock, "version", _fail)
    assert probe._landlock() == "not there: no"


def test_the_probe_finds_limits_and_filters_that_cannot_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    lock = lockdown.Lock(os.getpid(), rlimits.measure(), seccomp.build_filter())
    monkeypatch.setattr(rlimits, "limit_worker", _fail)
    monkeypatch.setattr(seccomp, "install", _fail)
    assert probe._rlimits(lock, MEMORY, 5) == "not there: [Errno 1] no"
    assert probe._seccomp(lock) == "not there: [Errno 1] no"
    assert probe._seccomp(replace(lock, filter=None)).startswith("not there: no list of system calls")


def test_the_probe_finds_a_filter_that_lets_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "install", lambda _: None)
    lock = lockdown.Lock(os.getpid(), rlimits.measure(), seccomp.build_filter())
    found = "possible: start a process, open a file, open a socket, signal, map executable memory"
    assert in_child(lambda: probe._seccomp(lock)) == found


def test_a_process_that_the_probe_could_start_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    monkeypatch.setattr(os, "fork", lambda: 0)
    monkeypatch.setattr(os, "_exit", ended.append)
    probe._fork()
    assert ended == [0]


def _fail(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, "no")


def test_whoever_is_bound_to_its_parent_does_not_outlive_it() -> None:
    def leave_one_behind() -> str:
        reading, writing = os.pipe()
        if not os.fork():
            privileges.die_with_parent()
            os.write(writing, b"bound")
            signal.pause()
        return os.read(reading, 5).decode()

    # the answer ends when nobody holds the pipe any more, the one that was left behind included
    assert in_child(leave_one_behind) == "bound"
