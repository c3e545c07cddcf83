"""`Sandbox.run` against programs that nothing but the process wall holds."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sandbox import (
    Call,
    CallFailed,
    CallSite,
    Limits,
    ProgramRefused,
    Refusal,
    Sandbox,
    SandboxError,
    SandboxUnavailable,
    Status,
)
from sandbox.host.fork_server import ForkServer
from sandbox.host.worker import Worker
from sandbox.isolation import seccomp
from sandbox.isolation.kernel import MACHINE, read_file
from sandbox.protocol.control import Purpose
from tests.unit.sandbox.host.waiting import SHOW_REPLY, until

if TYPE_CHECKING:
    from collections.abc import Callable


async def echo(call: Call) -> Any:
    return call.arguments["x"]


async def test_a_result_and_what_was_printed_come_back(bare: Sandbox) -> None:
    outcome = await bare.run("print('hello'); result = {'a': [1, 2.5, None]}")
    assert (outcome.status, outcome.value, outcome.has_value) == (Status.COMPLETED, {"a": [1, 2.5, None]}, True)
    assert outcome.output == "hello\n"
    assert set(outcome.isolation) >= {"seccomp", "rlimits", "fork_server"}


async def test_the_time_of_a_program_begins_before_its_worker_has_it(
    make_bare: Callable[..., Sandbox], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy machine may hold the host up just then: the program runs, and its processor time is counted."""
    send = Worker.send

    def held_up(worker: Worker, data: bytes) -> None:
        send(worker, data)
        time.sleep(0.2)

    async with make_bare(workers=0) as sandbox:
        monkeypatch.setattr(Worker, "send", held_up)
        outcome = await sandbox.run("1")
    assert outcome.usage.wall_s >= 0.2


async def test_usage_is_measured_from_outside(bare: Sandbox) -> None:
    outcome = await bare.run("x = bytearray(30_000_000)\nfor i in range(1_000_000): pass")
    assert outcome.usage.wall_s >= outcome.usage.cpu_s > 0.01
    assert 30_000_000 < outcome.usage.peak_memory_bytes < 120_000_000


async def test_each_program_has_a_process_of_its_own(bare: Sandbox) -> None:
    await bare.run("import json; json.dumps = None")
    outcome = await bare.run("import json; result = json.dumps(1)")
    assert outcome.value == "1"


FUTEX = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
text = ctypes.c_void_p(ctypes.cast(libc.getpid, ctypes.c_void_p).value & ~3)
word = ctypes.c_int(0)
def wake(address, operation):
    ctypes.set_errno(0)
    return libc.syscall(number, address, operation, 1, None, None, 0), ctypes.get_errno()
result = [wake(text, 1), wake(text, 10), wake(ctypes.byref(word), 1), wake(ctypes.byref(word), 1 | 128)]
"""


async def test_no_worker_can_wake_another_through_the_text_of_a_library(bare: Sandbox) -> None:
    """A shared futex is found by the file behind its page, which is the same for every process on the machine."""
    number = seccomp.FUTEX[0 if MACHINE == "x86_64" else 1]
    outcome = await bare.run(FUTEX, inputs={"number": number})
    assert outcome.ok, outcome.failure
    refused = [-1, errno.EPERM]
    assert outcome.value == [refused, refused, refused, [0, 0]]


CLOCKS = """
import ctypes, time
libc = ctypes.CDLL(None, use_errno=True)
buffer = (ctypes.c_long * 2)()
def ask(call, clock):
    ctypes.set_errno(0)
    more = (0, buffer, None) if call == sleeping else (buffer,)
    return libc.syscall(call, clock, *more), ctypes.get_errno()
def of(process, kind):
    return ~process << 3 | kind
ids = [of(process, kind) for process in (host, libc.getpid(), 0) for kind in (0, 1, 2, 4, 6)]
foreign = [ask(call, clock) for call in calls for clock in ids]
own = [ask(call, clock) for call in calls[:2] for clock in (0, 1, 2, 3)]
time.sleep(0.001)
result = [foreign, own, time.process_time() > 0]
"""


async def test_no_worker_reads_the_processor_time_of_another(bare: Sandbox) -> None:
    """Time that a process uses is a message to whoever can read it, and its end is one, too."""
    column = 0 if MACHINE == "x86_64" else 1
    calls = [seccomp.OF_CLOCKS[name][column] for name in ("clock_gettime", "clock_getres", "clock_nanosleep")]
    outcome = await bare.run(CLOCKS, inputs={"calls": calls, "sleeping": calls[2], "host": os.getpid()})
    assert outcome.ok, outcome.failure
    foreign, own, has_time = outcome.value
    assert foreign == [[-1, errno.EPERM]] * 45
    assert own == [[0, 0]] * 8
    assert has_time


async def test_what_a_worker_does_to_the_memory_it_was_forked_with_no_other_sees(bare: Sandbox) -> None:
    await bare.run("import ctypes, json; ctypes.memset(id(json), 0, 8)")
    after = await bare.run("import json; result = json.dumps([1])")
    assert after.value == "[1]"


async def test_no_file_lies_behind_the_memory_that_workers_write_to(bare: Sandbox) -> None:
    """What one leaves in the pages of a file would be there for the next."""
    assert isinstance(bare._server, ForkServer)
    worker = bare._server.fork(bare._limits, Purpose.SERVE)
    await until(lambda: worker.has_started)
    mappings = read_file(f"/proc/{worker._process}/maps").decode().splitlines()
    assert len(mappings) > 10
    assert [line for line in mappings if re.match(r"\S+ .w.s ", line) or "memfd:" in line] == []


async def test_a_call_is_answered_by_the_handler(bare: Sandbox) -> None:
    outcome = await bare.run("result = tool('hi')", names=("tool",), call=echo)
    assert (outcome.value, outcome.usage.calls) == ("hi", 1)


async def test_without_a_handler_a_call_is_an_error_of_the_program(bare: Sandbox) -> None:
    outcome = await bare.run("result = tool('hi')", names=("tool",))
    assert outcome.value is None  # the bare program takes no notice of errors


async def test_wall_time_is_enforced_from_outside(bare: Sandbox, limits: Limits) -> None:
    outcome = await bare.run("import time; time.sleep(100)", limits=replace(limits, wall_s=0.2))
    assert (outcome.status, outcome.limit) == (Status.TIMED_OUT, "wall_s")
    assert outcome.failure is not None
    assert outcome.failure.message == "the program ran longer than 0.2 s and was ended"


@pytest.mark.parametrize(
    "loop",
    [
        "while True: pass",
        "while True:\n  try:\n    while True: pass\n  except BaseException: pass",
        "sum(iter(int, 1))",
        "import re; re.match('(a+)+$', 'a' * 40 + 'b')",
    ],
)
async def test_processor_time_is_enforced_from_outside(bare: Sandbox, limits: Limits, loop: str) -> None:
    outcome = await bare.run(loop, limits=replace(limits, cpu_s=0.2))
    assert (outcome.status, outcome.limit) == (Status.TIMED_OUT, "cpu_s")
    assert outcome.usage.cpu_s >= 0.2


async def test_memory_cannot_be_had_beyond_its_limit(bare: Sandbox) -> None:
    outcome = await bare.run("x = 'a' * 2_000_000_000")
    assert outcome.failure is not None
    assert outcome.failure.type == "MemoryError"
    within = await bare.run("x = 'a' * 40_000_000; result = len(x)")
    assert within.value == 40_000_000


async def test_output_beyond_its_limit_ends_the_program(bare: Sandbox) -> None:
    outcome = await bare.run("print('x' * 10_001)")
    assert (outcome.status, outcome.limit, outcome.output) == (Status.CRASHED, "output_bytes", "")


async def test_calls_beyond_their_limit_end_the_program(bare: Sandbox) -> None:
    outcome = await bare.run("for i in range(11): tool(i)", names=("tool",), call=echo)
    assert (outcome.status, outcome.limit) == (Status.CRASHED, "calls")


async def test_a_result_beyond_its_limit_ends_the_program(bare: Sandbox, limits: Limits) -> None:
    outcome = await bare.run("result = 'x' * 2_000", limits=replace(limits, result_bytes=1_000))
    assert (outcome.status, outcome.limit) == (Status.CRASHED, "result_bytes")


async def test_a_result_nested_too_deeply_ends_the_program(bare: Sandbox) -> None:
    outcome = await bare.run("result = []\nfor i in range(100): result = [result]")
    assert outcome.failure is not None
    assert outcome.failure.message == "the guest sent a result that is nested more than 64 deep; the program was ended"


async def test_a_frame_beyond_its_limit_ends_the_program(bare: Sandbox) -> None:
    outcome = await bare.run("import os; os.write(rpc_fd, b'\\x7f\\xff\\xff\\xff')")
    assert (outcome.status, outcome.limit) == (Status.CRASHED, "frame_bytes")


async def test_too_long_a_source_never_reaches_a_worker(bare: Sandbox) -> None:
    outcome = await bare.run("x = 1\n" * 3_000_000)
    assert (outcome.status, outcome.limit) == (Status.REFUSED, "source_bytes")


async def test_half_a_surrogate_pair_in_the_source_is_refused_with_its_line(bare: Sandbox) -> None:
    outcome = await bare.run("x = 1\ny = '\ud800'")
    assert outcome.status is Status.REFUSED
    assert outcome.failure is not None
    assert outcome.failure.line == 2


@pytest.mark.parametrize("code", ["import os; os._exit(0)", "import os; os._exit(7)", "raise SystemExit"])
async def test_an_exit_is_not_a_success(bare: Sandbox, code: str) -> None:
    outcome = await bare.run(code)
    assert outcome.status is Status.CRASHED
    assert outcome.failure is not None
    assert outcome.failure.message.startswith("the worker ended before the program did: exit status ")


async def test_a_crash_names_its_signal(bare: Sandbox) -> None:
    outcome = await bare.run("import ctypes; ctypes.string_at(0)")
    assert outcome.failure is not None
    assert outcome.failure.message == ("the worker ended before the program did: signal 11 (Segmentation fault)")


async def test_a_guest_that_says_nonsense_is_ended(bare: Sandbox) -> None:
    outcome = await bare.run("import os; os.write(rpc_fd, b'\\0\\0\\0\\2{}')")
    assert outcome.status is Status.CRASHED
    assert outcome.failure is not None
    assert outcome.failure.type == "GuestProtocolError"


async def test_a_guest_that_never_reads_cannot_hold_the_host(bare: Sandbox, limits: Limits) -> None:
    code = "import os, struct, json\nfor i in range(1, 6):\n" + (
        "  b = json.dumps({'t': 'calls', 'calls': [[i, str(i), 'tool', {}]], 'wake': None, 'delay': None}).encode()\n"
        "  os.write(rpc_fd, struct.pack('>I', len(b)) + b)\n"
        "while True: pass"
    )

    async def big(call: Call) -> Any:
        return "x" * 3_000_000

    outcome = await bare.run(code, names=("tool",), call=big, limits=replace(limits, cpu_s=0.3))
    assert (outcome.status, outcome.limit) == (Status.TIMED_OUT, "cpu_s")


async def test_no_call_is_started_for_a_guest_that_does_not_read_the_answers(bare: Sandbox, limits: Limits) -> None:
    answered = 0

    async def big(call: Call) -> Any:
        nonlocal answered
        answered += 1
        return "x" * 1_000_000

    code = "import os, struct, json\ncalls = [[i, str(i), 'tool', {}] for i in range(1, 201)]\n" + (
        "b = json.dumps({'t': 'calls', 'calls': calls, 'wake': None, 'delay': None}).encode()\n"
        "os.write(rpc_fd, struct.pack('>I', len(b)) + b)\n"
        "while True: pass"
    )
    few = replace(limits, calls=200, calls_in_flight=4, reply_bytes=4_000_000, cpu_s=0.5)
    outcome = await bare.run(code, names=("tool",), call=big, limits=few)
    assert outcome.limit == "cpu_s"
    assert answered <= 10


async def test_a_guest_that_reads_late_gets_all_answers(bare: Sandbox, limits: Limits) -> None:
    async def big(call: Call) -> Any:
        return "x" * 1_000_000

    code = "import os, struct, json, time\ncalls = [[i, str(i), 'tool', {}] for i in range(1, 21)]\n" + (
        "b = json.dumps({'t': 'calls', 'calls': calls, 'wake': None, 'delay': None}).encode()\n"
        "os.write(rpc_fd, struct.pack('>I', len(b)) + b)\n"
        "time.sleep(0.2)\n"
        "want = 0\n"
        "while want < 20 * 1_000_000: want += len(os.read(rpc_fd, 100_000))\n"
        "result = want > 20 * 1_000_000"
    )
    few = replace(limits, calls=20, calls_in_flight=2, reply_bytes=2_000_000)
    outcome = await bare.run(code, names=("tool",), call=big, limits=few)
    assert outcome.status is Status.COMPLETED, outcome


async def test_a_flood_of_small_messages_ends_the_program(bare: Sandbox, limits: Limits) -> None:
    code = (
        "import os, struct\n"
        'b = b\'{"t":"calls","calls":[],"wake":null,"delay":5000000}\'\n'
        "data = (struct.pack('>I', len(b)) + b) * 1000\n"
        "while True: os.write(rpc_fd, data)"
    )
    outcome = await bare.run(code, limits=replace(limits, traffic_bytes=1 << 20))
    assert (outcome.status, outcome.limit) == (Status.CRASHED, "traffic_bytes")


async def test_a_message_that_comes_byte_by_byte_ends_the_program(bare: Sandbox, limits: Limits) -> None:
    code = "import os, time\nos.write(rpc_fd, b'\\0\\1\\0\\0')\nwhile True: os.write(rpc_fd, b' '); time.sleep(0.001)"
    few = replace(limits, traffic_bytes=5_000, result_bytes=5_000)
    outcome = await bare.run(code, limits=few)
    assert (outcome.status, outcome.limit) == (Status.CRASHED, "traffic_bytes")


async def test_a_result_of_many_small_lists_is_too_large(bare: Sandbox, limits: Limits) -> None:
    outcome = await bare.run("result = [[] for _ in range(2_000)]", limits=replace(limits, result_bytes=10_000))
    assert (outcome.status, outcome.limit) == (Status.CRASHED, "result_bytes")


async def test_a_handler_s_own_errors_do_not_cross(bare: Sandbox, caplog: pytest.LogCaptureFixture) -> None:
    async def leak(call: Call) -> Any:
        raise RuntimeError("Bearer hunter2")

    code = "import os, json\ntool.__closure__\nreplies = []\n" + SHOW_REPLY
    outcome = await bare.run(code, names=("tool",), call=leak)
    assert outcome.value["error"]["message"] == "tool failed inside the host"
    assert "hunter2" not in str(outcome)
    assert "hunter2" in caplog.text


THREE_CALLS = """
import json, os, struct
calls = [[n, str(n), 'tool', {}] for n in (1, 2, 3)]
b = json.dumps({'t': 'calls', 'calls': calls, 'wake': None, 'delay': None}).encode()
os.write(rpc_fd, struct.pack('>I', len(b)) + b)
read, result = os.read(rpc_fd, 1 << 16), []
while read:
    n = struct.unpack('>I', read[:4])[0]
    result.append(json.loads(read[4 : 4 + n])['id'])
    read = read[4 + n :]
"""


async def test_answers_that_come_at_once_are_sent_in_one_piece(bare: Sandbox) -> None:
    both = asyncio.Event()

    async def answer(call: Call) -> int:
        if call.id == 3:
            both.set()
        await both.wait()
        return call.id

    outcome = await bare.run(THREE_CALLS, names=("tool",), call=answer)
    assert sorted(outcome.value) == [1, 2, 3]


async def test_a_failed_call_carries_its_fields(bare: Sandbox) -> None:
    async def fail(call: Call) -> Any:
        raise CallFailed("busy", kind="upstream_error", status=429, body={"a": 1}, retry_after_s=2.5)

    outcome = await bare.run("import json\n" + SHOW_REPLY, names=("tool",), call=fail)
    assert outcome.value["error"] == {
        "message": "busy", "kind": "upstream_error", "status": 429, "body": {"a": 1}, "retry_after_s": 2.5,
    }  # fmt: skip


async def test_an_answer_that_is_too_large_is_an_error_that_says_so(bare: Sandbox, limits: Limits) -> None:
    async def big(call: Call) -> Any:
        return "x" * 5_000

    outcome = await bare.run(
        "import json\n" + SHOW_REPLY, names=("tool",), call=big, limits=replace(limits, reply_bytes=1_000)
    )
    assert outcome.value["error"]["kind"] == "answer_too_large"


async def test_a_preflight_sees_the_sites_and_may_refuse(bare: Sandbox) -> None:
    seen: list[tuple[CallSite, ...]] = []

    async def refuse(sites: tuple[CallSite, ...]) -> None:
        seen.append(sites)
        raise ProgramRefused([Refusal("unknown_tool", "there is no a.b", 3, 4, "write a.c")])

    outcome = await bare.run("print('ran')", preflight=refuse)
    assert seen == [()]
    assert (outcome.status, outcome.output) == (Status.REFUSED, "")
    assert outcome.failure is not None
    assert (outcome.failure.line, outcome.failure.hint) == (3, "write a.c")


async def test_cancelling_kills_the_worker_and_cancels_the_handlers(bare: Sandbox) -> None:
    called, cancelled = asyncio.Event(), asyncio.Event()

    async def wait(call: Call) -> Any:
        called.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    running = asyncio.create_task(bare.run("tool(1)", names=("tool",), call=wait))
    await called.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert cancelled.is_set()
    await until(lambda: live_workers(bare) == 2)


async def test_more_programs_than_may_run_wait_for_their_turn(make_bare: Callable[..., Sandbox]) -> None:
    async with make_bare(workers=1, running=2) as sandbox:
        outcomes = await asyncio.gather(*(sandbox.run(f"result = {n}") for n in range(8)))
    assert [outcome.value for outcome in outcomes] == list(range(8))


async def test_when_the_fork_server_dies_the_next_program_gets_another(bare: Sandbox) -> None:
    server = bare._server
    assert isinstance(server, ForkServer)
    assert server._process is not None
    running = asyncio.create_task(bare.run("import time; time.sleep(100)"))
    await until(lambda: len(server._workers) > 0 and bare._pool is not None and bare._pool._busy == 1)
    os.kill(server._process.pid, signal.SIGKILL)
    outcome = await running
    assert outcome.status is Status.CRASHED
    after = await bare.run("result = 1")
    assert after.value == 1
    assert bare._server is not server


async def test_nothing_is_left_after_closing(make_bare: Callable[..., Sandbox]) -> None:
    descriptors = open_descriptors()
    async with make_bare() as sandbox:
        server = sandbox._server
        assert isinstance(server, ForkServer)
        assert server._process is not None
        process = server._process.pid
        await sandbox.run("result = 1")
    assert not is_alive(process)
    assert open_descriptors() == descriptors


async def test_a_layer_that_does_not_hold_refuses_to_start(
    make_bare: Callable[..., Sandbox], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def find(*_: object) -> dict[str, str]:
        return {"seccomp": "possible: open a file"}

    monkeypatch.setattr("sandbox.host.sandbox.probe", find)
    with pytest.raises(SandboxUnavailable, match="seccomp: possible: open a file"):
        await make_bare().start()
    async with make_bare(insecure=True) as sandbox:
        assert (await sandbox.run("result = 1")).isolation == ()


async def test_a_program_module_that_cannot_be_imported_is_named() -> None:
    with pytest.raises(SandboxError, match="No module named 'no_such_program'") as caught:
        await Sandbox(program="no_such_program").start()
    assert "\n" not in str(caught.value)  # no traceback


def is_alive(process: int) -> bool:
    return Path(f"/proc/{process}").exists()


def open_descriptors() -> set[str]:
    return {path.name for path in Path("/proc/self/fd").iterdir()}


def live_workers(sandbox: Sandbox) -> int:
    assert sandbox._server is not None
    return len(sandbox._server._workers)
