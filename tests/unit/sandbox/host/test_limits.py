"""Each limit ends a program that does its best to live on, and the outcome names it. The guest is plain `exec`."""

from __future__ import annotations

import asyncio
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import pytest

from sandbox import Call, Limits, Sandbox, Status

if TYPE_CHECKING:
    from sandbox import Outcome

CATCH_ALL = "while True:\n    try:\n        while True:\n            {0}\n    except BaseException:\n        pass"
IN_DEL = "class A:\n    def __del__(self):\n        while True:\n            {0}\nA()"
IN_FINALLY = "def f():\n    try:\n        return 1\n    finally:\n        while True:\n            {0}\nf()"

#: Programs that compute without end; those in C do not look at signals.
ENDLESS = {
    "catches everything": CATCH_ALL.format("pass"),
    "in __del__": IN_DEL.format("pass"),
    "in finally": IN_FINALLY.format("pass"),
    "in a handler of signals": (
        "import signal\nfor n in (2, 15, 24):\n    try:\n        signal.signal(n, signal.SIG_IGN)\n"
        "    except OSError:\n        pass\nwhile True: pass"
    ),
    "a sum in C": "sum(range(10 ** 12))",
    "a search in C": "10 ** 12 in iter(range(10 ** 13))",
    "a large power": "10 ** 10 ** 8",
    "a regular expression": "import re\nre.match('(a*)*(b*)*$', 'a' * 60 + 'c')",
    "a sort": "sorted([3, 1, 2] * 10, key=lambda n: sum(range(10 ** 10)))",
    "in C without the interpreter": "import ctypes\nc = ctypes.CDLL(None)\nc.qsort(b'x' * 10 ** 7, 10 ** 7, 1, c.rand)",
}


@pytest.mark.parametrize("code", ENDLESS.values(), ids=ENDLESS.keys())
async def test_processor_time_ends_what_computes_without_end(bare: Sandbox, limits: Limits, code: str) -> None:
    outcome = await bare.run(code, limits=replace(limits, cpu_s=0.3, wall_s=20))
    assert outcome.status is Status.TIMED_OUT, outcome
    assert outcome.limit == "cpu_s"


WAITING = {
    "catches everything": CATCH_ALL.format("time.sleep(0.01)"),
    "in __del__": IN_DEL.format("time.sleep(0.01)"),
    "reads and reads": "import os\nwhile True:\n    try:\n        os.read(rpc_fd, 1)\n    except BaseException: pass",
}


@pytest.mark.parametrize("code", WAITING.values(), ids=WAITING.keys())
async def test_wall_time_ends_what_waits_without_end(bare: Sandbox, limits: Limits, code: str) -> None:
    outcome = await bare.run("import time\n" + code, limits=replace(limits, wall_s=0.4, cpu_s=5))
    assert (outcome.status, outcome.limit) == (Status.TIMED_OUT, "wall_s"), outcome


async def test_wall_time_passes_while_a_tool_is_at_work_and_ends_it(bare: Sandbox, limits: Limits) -> None:
    ended = asyncio.Event()

    async def slow(call: Call) -> Any:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    outcome = await bare.run(CATCH_ALL.format("tool(1)"), names=("tool",), call=slow, limits=replace(limits, wall_s=2))
    assert (outcome.status, outcome.limit) == (Status.TIMED_OUT, "wall_s")
    assert ended.is_set()


PRINTING = 'b = b\'{"t":"output","text":"\' + b\'x\' * 900 + b\'","cut":false}\'\n'
SEND = "import os, struct\n" + PRINTING + CATCH_ALL.format("os.write(rpc_fd, struct.pack('>I', len(b)) + b)")


async def test_output_ends_what_prints_without_end(bare: Sandbox) -> None:
    outcome = await bare.run(SEND)
    assert (outcome.status, outcome.limit) == (Status.CRASHED, "output_bytes")
    assert len(outcome.output) <= 10_000


async def test_calls_end_what_calls_without_end(bare: Sandbox) -> None:
    async def answer(call: Call) -> Any:
        return 1

    outcome = await bare.run(CATCH_ALL.format("tool(1)"), names=("tool",), call=answer)
    assert (outcome.status, outcome.limit) == (Status.CRASHED, "calls")
    assert outcome.usage.calls <= 11


GROWING = {
    "a list": CATCH_ALL.format("kept.append(bytearray(1_000_000))"),
    "descriptors": CATCH_ALL.format("kept.append(os.dup(0))"),
    "processes": CATCH_ALL.format("os.fork() or time.sleep(100)"),
    "threads": CATCH_ALL.format("threading.Thread(target=time.sleep, args=(100,)).start()"),
    "mappings": CATCH_ALL.format("kept.append(mmap.mmap(-1, 1 << 20))"),
    "a decompression": "import zlib\nd = zlib.compress(bytes(10_000_000))\n"
    + CATCH_ALL.format("kept.append(zlib.decompress(d))"),
}


@pytest.mark.parametrize("code", GROWING.values(), ids=GROWING.keys())
async def test_what_grows_without_end_stays_small_and_ends(bare: Sandbox, limits: Limits, code: str) -> None:
    code = "import mmap, os, threading, time\nkept = []\n" + code
    outcome: Outcome = await bare.run(code, limits=replace(limits, wall_s=1.0, cpu_s=0.5))
    assert outcome.status in (Status.TIMED_OUT, Status.OUT_OF_MEMORY, Status.CRASHED), outcome
    assert outcome.usage.peak_memory_bytes < limits.memory_bytes + 100 * 1024 * 1024


def test_every_limit_has_a_default_that_is_more_than_nothing() -> None:
    assert all(getattr(Limits(), field.name) > 0 for field in fields(Limits))
