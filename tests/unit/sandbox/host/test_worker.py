"""The handle of a worker and of the fork server, where the other side is a socket of the test."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from typing import TYPE_CHECKING

import pytest

from sandbox.errors import WorkerError
from sandbox.host import launch, layers, worker
from sandbox.host.fork_server import ForkServer
from sandbox.host.worker import Worker, read_frame
from sandbox.protocol.control import Exit, Kind, Purpose, pack_report
from sandbox.protocol.framing import FrameTooLarge, frame
from tests.unit.sandbox.host.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.limits import Limits as LimitsType

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the process wall is Linux's")


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, its = socket.socketpair()
    ours.setblocking(False)
    yield ours, its
    ours.close()
    its.close()


async def test_what_the_socket_does_not_take_waits_and_is_sent_in_order(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    ours, its = pair
    handle = Worker(1, ours, asyncio.get_running_loop())
    drained = asyncio.Event()
    handle.on_drained = drained.set
    large = b"a" * 4_000_000
    handle.send(large)
    assert handle.unsent_bytes > 0
    handle.send(b"b")
    its.setblocking(False)
    received = bytearray()
    while len(received) < len(large) + 1:
        received += await asyncio.get_running_loop().sock_recv(its, 1 << 20)
    await drained.wait()
    assert (bytes(received), handle.unsent_bytes) == (large + b"b", 0)
    handle.discard()
    handle.discard()


async def test_what_is_sent_soon_goes_with_the_rest_of_the_turn(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, its = pair
    handle = Worker(1, ours, asyncio.get_running_loop())
    handle.send_soon(b"a")
    handle.send_soon(b"b")
    await asyncio.sleep(0)
    assert its.recv(10) == b"ab"
    handle.send_soon(b"c")
    handle.discard()
    await asyncio.sleep(0)  # it is gone meanwhile: nothing happens


async def test_a_worker_that_is_gone_is_no_error(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, its = pair
    handle = Worker(1, ours, asyncio.get_running_loop())
    its.close()
    handle.send(b"a")
    handle.send_soon(b"b")
    await asyncio.sleep(0)
    assert handle.unsent_bytes == 0
    assert (handle.cpu_s(), handle.peak_memory_bytes()) == (None, None)
    handle.discard()


async def test_a_socket_that_takes_nothing_keeps_all_waiting(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, _ = pair
    handle = Worker(1, ours, asyncio.get_running_loop())
    with pytest.raises(BlockingIOError):
        while True:
            ours.send(bytes(1 << 16))
    handle.send(b"late")
    assert handle.unsent_bytes == 4
    handle.discard()


async def test_a_paused_worker_is_read_when_it_goes_on(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, its = pair
    handle = Worker(1, ours, asyncio.get_running_loop())
    heard: asyncio.Queue[bytes] = asyncio.Queue()
    handle.listen(heard.put_nowait)
    handle._read()  # nothing is there
    handle.pause()
    its.send(b"a")
    await asyncio.sleep(0)
    assert heard.empty()
    handle.go_on()
    assert await heard.get() == b"a"
    handle.discard()
    handle.pause()
    handle.go_on()  # nothing to read any more


async def test_one_that_speaks_before_it_is_asked_is_not_used(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, its = pair
    handle = Worker(1, ours, asyncio.get_running_loop())
    assert handle.is_usable
    assert not handle.has_started
    its.send(b"early")
    await until(lambda: not handle.is_usable)
    assert handle.early == b"early"
    handle.discard()


async def test_one_that_was_to_die_before_it_began_is_killed_when_it_has(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    ours, _ = pair
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "import time; time.sleep(100)")
    handle = Worker(1, ours, asyncio.get_running_loop())
    handle.kill()
    handle.started(os.pidfd_open(process.pid))
    await process.wait()
    handle.kill()  # again is no error
    assert handle.cpu_s() is None
    handle.peak_memory_bytes()
    end = Exit(9, 0.1, 1)
    handle.finished(end)
    handle.finished(None)
    assert handle.ended.result() is end
    handle.discard()


async def test_a_worker_that_was_reaped_before_its_report_arrived_used_no_time_that_can_be_read(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    """The kernel then gives its number as -1, and the clock of that number is the host's own."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE)
    pidfd = os.pidfd_open(process.pid)
    await process.communicate(b"\n")
    handle = Worker(1, pair[0], asyncio.get_running_loop())
    handle.started(pidfd)
    assert (handle.cpu_s(), handle.peak_memory_bytes()) == (None, None)
    handle.finished(None)
    handle.discard()


def test_a_file_of_the_kernel_that_is_not_there_or_cannot_be_read_has_no_number() -> None:
    assert worker._read_field("/proc/no/such", b"Pid:") is None
    assert worker._read_field("/proc", b"Pid:") is None  # a folder
    assert worker._read_field("/proc/self/status", b"\nNoSuchField:") is None
    assert worker._read_field("/proc/self/status", b"\nPid:") == os.getpid()


async def test_one_frame_is_read_and_what_comes_behind_it_is_dropped(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, its = pair
    handle = Worker(1, ours, asyncio.get_running_loop())
    its.send(frame(b"one")[:5])
    reading = asyncio.ensure_future(read_frame(handle, budget=1_000, timeout_s=40))
    await asyncio.sleep(0)
    its.send(frame(b"one")[5:])
    assert await reading == b"one"
    its.send(frame(b"two"))
    handle._read()
    handle.discard()


@pytest.mark.parametrize(("sent", "error"), [(b"", EOFError), (b"\0\0\xff\xff", FrameTooLarge), (b"\0", TimeoutError)])
async def test_a_frame_that_does_not_come_is_an_error(
    pair: tuple[socket.socket, socket.socket], sent: bytes, error: type[Exception]
) -> None:
    ours, its = pair
    handle = Worker(1, ours, asyncio.get_running_loop())
    its.send(sent) if sent else its.close()
    with pytest.raises(error):
        await read_frame(handle, budget=1_000, timeout_s=40 if error is not TimeoutError else 0.01)
    handle.discard()


async def test_a_frame_in_tiny_pieces_is_given_up(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, its = pair
    handle = Worker(1, ours, asyncio.get_running_loop())
    reading = asyncio.ensure_future(read_frame(handle, budget=1_000, timeout_s=40))
    its.send(b"\0\0\1\0")
    while not reading.done():
        its.send(b"x")
        await asyncio.sleep(0)
    with pytest.raises(EOFError):
        await reading
    handle.discard()


# --- the fork server -------------------------------------------------------------------------------------------------


def a_server() -> tuple[ForkServer, socket.socket]:
    """A handle whose server is the test."""
    server = ForkServer()
    control, its_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    control.setblocking(False)
    server._control, server.is_alive = control, True
    asyncio.get_running_loop().add_reader(control.fileno(), server._hear)
    return server, its_end


async def test_a_worker_is_not_had_from_a_server_that_does_not_run(limits: LimitsType) -> None:
    with pytest.raises(WorkerError, match="the fork server is not running"):
        ForkServer().fork(limits, Purpose.SERVE)


async def test_a_server_that_does_not_take_requests_is_named(limits: LimitsType) -> None:
    server, its_end = a_server()
    its_end.close()
    with pytest.raises(WorkerError, match="the fork server did not take the request"):
        server.fork(limits, Purpose.SERVE)
    await server.aclose()


async def test_where_no_socket_is_left_it_is_said(limits: LimitsType, monkeypatch: pytest.MonkeyPatch) -> None:
    server, its_end = a_server()

    def full(*_: object) -> None:
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(socket, "socketpair", full)
        with pytest.raises(WorkerError, match="no socket for another worker: Too many open files"):
            server.fork(limits, Purpose.SERVE)
    its_end.close()
    await server.aclose()


async def test_a_fork_that_failed_ends_its_worker(limits: LimitsType) -> None:
    server, its_end = a_server()
    handle = server.fork(limits, Purpose.SERVE)
    server._hear()  # nothing is there yet
    its_end.send(pack_report(Kind.FAILED, handle.number, errno=11))
    assert await handle.ended is None
    its_end.close()
    await server.aclose()


async def test_a_worker_that_could_not_be_killed_ends_the_server(limits: LimitsType) -> None:
    """No descriptor was left for its pidfd."""
    server, its_end = a_server()
    died = asyncio.Event()
    server.on_death = died.set
    handle = server.fork(limits, Purpose.SERVE)
    its_end.send(pack_report(Kind.STARTED, handle.number))
    await died.wait()
    assert not server.is_alive
    assert await handle.ended is None
    handle.discard()
    its_end.close()


async def test_a_start_that_nobody_waits_for_any_more_leaves_no_process() -> None:
    server = ForkServer()
    starting = asyncio.ensure_future(server.start())
    await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert server._process is None
    assert not server.is_alive


def test_an_interpreter_that_cannot_be_started_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, its = socket.socketpair()
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with ours, its, pytest.raises(WorkerError, match="the fork server could not be started with /no/such/python"):
        launch.start_process(its, program="x")


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "_GUEST_PACKAGES", ("sandbox", "json5_no_such"))
    with pytest.raises(WorkerError, match="json5_no_such is not installed, but the guest imports it"):
        launch.import_folders()


async def test_a_server_that_ends_with_a_request_unread_has_died(limits: LimitsType) -> None:
    """The kernel reports that as an error of the socket and not as the end of the stream."""
    server, its_end = a_server()
    handle = server.fork(limits, Purpose.SERVE)
    its_end.close()
    assert await handle.ended is None
    assert not server.is_alive
    handle.discard()


async def test_a_report_of_the_lockdown_is_kept_whether_or_not_the_start_waits_for_it() -> None:
    server, its_end = a_server()
    its_end.send(pack_report(Kind.READY, 0) + b'{"seccomp":"taken"}')
    server._hear()
    assert server.lockdown == {"seccomp": "taken"}
    its_end.close()
    await server.aclose()


async def test_a_probe_whose_child_does_not_report_is_an_error(limits: LimitsType) -> None:
    server, its_end = a_server()
    looking = asyncio.ensure_future(layers.probe(server, limits))
    await asyncio.sleep(0)
    _, (channel,), _, _ = socket.recv_fds(its_end, 100, 1)
    os.close(channel)
    with pytest.raises(WorkerError, match="the probe of the sandbox did not report"):
        await looking
    its_end.close()
    await server.aclose()
