"""The pool, with a fork server whose workers are sockets of the test."""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import TYPE_CHECKING, cast

import pytest

from sandbox import Limits
from sandbox.errors import WorkerError
from sandbox.host.fork_server import ForkServer
from sandbox.host.pool import Pool
from sandbox.host.worker import Worker
from tests.unit.sandbox.host.waiting import until

if TYPE_CHECKING:
    from sandbox.protocol.control import Purpose


class StartedWorker(Worker):
    """A worker without a process."""

    @property
    def has_started(self) -> bool:
        return True


class Server:
    """Forks such workers."""

    def __init__(self) -> None:
        self.is_alive = True
        self.ends: list[socket.socket] = []

    def fork(self, limits: Limits, purpose: Purpose) -> Worker:
        ours, its = socket.socketpair()
        ours.setblocking(False)
        self.ends.append(its)
        return StartedWorker(len(self.ends), ours, asyncio.get_running_loop())

    def close(self) -> None:
        for end in self.ends:
            end.close()


def a_pool(size: int) -> tuple[Pool, Server]:
    """Return a pool on a machine with one processor."""
    server = Server()
    pool = Pool(cast("ForkServer", server), Limits(), size=size)
    pool._processors = 1
    return pool, server


async def test_a_pool_whose_server_is_dead_forks_nothing() -> None:
    pool = Pool(ForkServer(), Limits(), size=2)
    pool.fill()
    pool.close()
    with pytest.raises(WorkerError):
        pool.acquire(Limits())


async def test_a_saturated_pool_is_filled_as_soon_as_there_is_room() -> None:
    pool, server = a_pool(size=1)
    workers = [pool.acquire(Limits()) for _ in range(3)]
    for worker in workers[:2]:  # two still run, then one
        pool.release(worker)
    await asyncio.sleep(0)
    assert len(server.ends) == 3
    pool.release(workers[2])
    await until(lambda: len(server.ends) == 4)
    pool.close()
    server.close()


async def test_a_saturated_pool_that_is_closed_forks_nothing_more() -> None:
    pool, server = a_pool(size=1)
    workers = [pool.acquire(Limits()) for _ in range(2)]
    pool.release(workers[0])
    await asyncio.sleep(0)
    timer = pool._timer
    assert timer is not None
    pool.close()
    assert timer.cancelled()
    workers[1].discard()
    server.close()


@pytest.mark.parametrize("sent", [b"early", b""])
async def test_a_worker_that_spoke_or_ended_before_its_program_is_replaced(
    sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    pool, server = a_pool(size=2)
    pool.fill()
    (first, second), (_, end) = pool._idle, server.ends
    end.send(sent) if sent else end.close()
    await until(lambda: not second.is_usable)
    with caplog.at_level(logging.WARNING):
        assert pool.acquire(Limits()) is first
    assert f"before it was given a program: {sent!r}" in caplog.text
    pool.close()
    first.discard()
    server.close()
