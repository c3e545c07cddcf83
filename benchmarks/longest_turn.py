"""The longest turn of the host's event loop: `python -m benchmarks.longest_turn [answers|values|routes …]`.

- `answers`: answers of services are decoded and encoded again, as in the HTTP transport and for a program. Their texts
  are made of every integer constant of the parsers: just below, at and above it. See `longest_turn_inputs`.
- `values`: a real worker sends results and call arguments, and results are encoded as for a response. Recorded results
  are written to a journal in SQLite and read again, as by `GET /v1/executions/{id}`.
- `routes`: every list and page without parameters, and hard requests, beside paused programs with large arguments of
  another caller. The last column is the memory that the process has afterwards and had not before.

A turn is the processor time of this process between two turns of a task that is always ready, so that other processes
do not count. Each table ends with its worst turn and the goal.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.longest_turn_inputs import around, constants, items
from benchmarks.longest_turn_routes import TEXTS, resident_bytes, served
from codemode.errors import AnswerInvalid
from codemode.gateway.caller import LOCAL
from codemode.service import CodeMode
from codemode.serving.web.outgoing import encoded
from codemode.settings import Settings
from codemode.transports.content import ContentStore
from codemode.transports.http.answers import decode
from sandbox import Limits, Sandbox
from sandbox.protocol.host_messages import encode_large_value
from sandbox.protocol.large_answers import is_large

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

#: Programs whose results are hard to parse, by their difficulty. The first is benign.
PROGRAMS = {
    "text": "'x' * {size}",
    "integers of many digits": "[10 ** 4200] * 20",
    "numbers near infinity": "[1e308] * ({size} // 7)",
    "short numbers": "[1] * ({size} // 2)",
    "empty lists": "[[] for _ in range({size} // 16)]",
    "short texts": "[''] * ({size} // 3)",
    "brackets in texts": "['['] * ({size} // 4)",
    "escapes": "'\\\\' * ({size} // 2)",
    "not ASCII": "'é' * ({size} // 2)",
    "many keys": "{{str(n): n for n in range({size} // 40)}}",
}

#: The goal for each turn.
GOAL_S = 0.050


class Turns:
    """Measures the longest time for which the event loop does not run a task that is always ready."""

    def __init__(self) -> None:
        self.longest_s = 0.0

    async def watch(self) -> None:
        """Measure until cancelled."""
        before = time.process_time()
        while True:
            await asyncio.sleep(0.001)
            now = time.process_time()
            self.longest_s = max(self.longest_s, now - before)
            before = now


@asynccontextmanager
async def turns() -> AsyncIterator[Turns]:
    """Measure the turns of the event loop within the context."""
    measured = Turns()
    watching = asyncio.create_task(measured.watch())
    await asyncio.sleep(0.01)
    yield measured
    await asyncio.sleep(0.01)
    watching.cancel()


async def longest_turn_s(program: str) -> float:
    """Return the longest turn in seconds while a program runs, its calls are read, and its result is encoded."""

    async def take(_: object) -> None:
        return None

    async with Sandbox(limits=Limits(memory_bytes=1 << 30), workers=1) as sandbox:
        await sandbox.run("1")
        async with turns() as measured:
            outcome = await sandbox.run(program, names=("ns",), call=take)
            encoded({"value": outcome.result})
    if not outcome.ok:
        raise RuntimeError(str(outcome.failure))
    return measured.longest_s


def nothing() -> None:
    """Do nothing."""


async def longest_turn_of_a_record_s(program: str) -> float:
    """Return the longest turn in seconds while an execution is recorded and read again."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.model_validate({"state_folder": Path(folder)})
        async with CodeMode.from_settings(settings, functions={"ns": [nothing]}) as service:
            await service.execute("1")
            async with turns() as measured:
                outcome = await service.execute(program)
                encoded((await service.executions.get(outcome.id, LOCAL)).outcome)
    if outcome.status != "completed":
        raise RuntimeError(str(outcome.failure))
    return measured.longest_s


async def longest_turn_of_an_answer_s(body: bytes) -> float:
    """Return the longest turn in seconds while an answer is decoded, and encoded for a program."""
    headers = {"content-type": "application/json"}
    contents = ContentStore().of("owner")

    def read() -> object:
        with suppress(AnswerInvalid):
            return decode(body, headers, wants_json=True, status=200, contents=contents)
        return None

    async with turns() as measured:
        value = await asyncio.to_thread(read)
        if is_large(value):
            await asyncio.to_thread(encode_large_value, value)
    return measured.longest_s


async def answers() -> float:
    """Print the worst answer of each constant, and return the longest turn in seconds."""
    print("answers of services of up to 15 MB, decoded and encoded")
    worst = 0.0
    for name, body in items():
        longest = await longest_turn_of_an_answer_s(body)
        worst = max(worst, longest)
        print(f"{name:60}{1000 * longest:8.1f} ms")
    for constant, name in constants().items():
        longest, what = 0.0, ""
        for description, body in around(constant):
            longest, what = max((longest, what), (await longest_turn_of_an_answer_s(body), description))
        worst = max(worst, longest)
        print(f"{name:44}{what:44}{1000 * longest:8.1f} ms")
    return worst


async def values() -> float:
    """Print the table of programs' values, and return the longest turn in seconds."""
    print(f"{'values of programs':24}{'results, 15 MB':>16}{'recorded, 15 MB':>18}{'arguments, 3 MB':>18}")
    worst = 0.0
    for name, program in PROGRAMS.items():
        large = program.format(size=15_000_000)
        result, record = await longest_turn_s(large), await longest_turn_of_a_record_s(large)
        call = await longest_turn_s(f"ns.take(value={program.format(size=3_000_000)})\nNone")
        worst = max(worst, result, record, call)
        print(f"{name:24}{1000 * result:13.1f} ms{1000 * record:15.1f} ms{1000 * call:15.1f} ms")
    return worst


async def routes(paused: int = 120, argument_bytes: int = 1_900_000) -> float:
    """Print the table of routes, and return the longest turn in seconds."""
    print(f"routes, beside {paused} paused programs with arguments of {argument_bytes:,} bytes")
    worst = 0.0
    async with served(paused, argument_bytes) as app:
        requests = {path: ("GET", path, b"") for path in app.lists()} | app.hard_requests()
        for name, request in requests.items():
            await app.send(request)  # what is imported, compiled and measured once
            before = resident_bytes()
            async with turns() as measured:
                answer = await app.send(request)
            worst = max(worst, measured.longest_s)
            more = (resident_bytes() - before) >> 20
            print(f"{name:34}{answer.status_code:5}{1000 * measured.longest_s:10.1f} ms{more:8} MiB")
        for name, text in TEXTS.items():
            code = await app.ran(text)
            async with turns() as measured:
                answer = await app.save(code)
            worst = max(worst, measured.longest_s)
            print(f"{'save ' + name:34}{answer.status_code:5}{1000 * measured.longest_s:10.1f} ms")
    return worst


async def main(chosen: Sequence[str]) -> None:
    """Print the tables, each with its worst turn."""
    for table in (answers, values, routes):
        if not chosen or table.__name__ in chosen:
            worst = await table()
            print(f"worst turn: {1000 * worst:.1f} ms; the goal is {1000 * GOAL_S:.0f} ms\n", flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
