"""The longest turn of the host's event loop with the worst values: `python -m benchmarks.longest_turn`.

A real worker sends results and call arguments, and results are encoded as for a response. Recorded results are written
to a journal in SQLite and read again, as by `GET /v1/executions/{id}`. Answers of services are decoded in a thread, as
in the HTTP transport. Times are in milliseconds.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from codemode.gateway.caller import LOCAL
from codemode.service import CodeMode
from codemode.serving.http.outgoing import encoded
from codemode.settings import Settings
from codemode.transports.content import ContentStore
from codemode.transports.http.answers import decode
from sandbox import Limits, Sandbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

#: Programs whose results are hard to parse, by their difficulty. The first is benign.
PROGRAMS = {
    "text": "'x' * {size}",
    "numbers near infinity": "[1e308] * ({size} // 7)",
    "short numbers": "[1] * ({size} // 2)",
    "empty lists": "[[] for _ in range({size} // 16)]",
    "short texts": "[''] * ({size} // 3)",
    "brackets in texts": "['['] * ({size} // 4)",
    "escapes": "'\\\\' * ({size} // 2)",
    "not ASCII": "'é' * ({size} // 2)",
    "many keys": "{{str(n): n for n in range({size} // 40)}}",
}

#: Items of lists in answers of services, by their difficulty. The first is benign.
ITEMS = {
    "records": b'{"id":12345,"name":"a name of some length","email":"someone@example.com"}',
    "numbers near infinity": b"1e308",
    "short numbers": b"1",
    "long numbers": b"12345678901234567890123",
    "short texts": b'""',
    "deep lists": b"[" * 150 + b'"' + b"x" * 2400 + b'"' + b"]" * 150,
}


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


async def longest_turn_of_an_answer_s(item: bytes, size: int) -> float:
    """Return the longest turn in seconds while an answer of `size` bytes is decoded."""
    body = b"[" + b",".join([item] * (size // (len(item) + 1))) + b"]"
    headers = {"content-type": "application/json"}
    contents = ContentStore().of("owner")
    async with turns() as measured:
        await asyncio.to_thread(decode, body, headers, wants_json=True, status=200, contents=contents)
    return measured.longest_s


async def main() -> None:
    """Print the tables."""
    print("answers of services of 15 MB, read")
    for name, item in ITEMS.items():
        print(f"{name:24}{1000 * await longest_turn_of_an_answer_s(item, 15_000_000):8.1f} ms")
    print(f"{'values of programs':24}{'results, 15 MB':>16}{'recorded, 15 MB':>18}{'arguments, 3 MB':>18}")
    for name, program in PROGRAMS.items():
        large = program.format(size=15_000_000)
        result, record = await longest_turn_s(large), await longest_turn_of_a_record_s(large)
        call = await longest_turn_s(f"ns.take(value={program.format(size=3_000_000)})\nNone")
        print(f"{name:24}{1000 * result:13.1f} ms{1000 * record:15.1f} ms{1000 * call:15.1f} ms")


if __name__ == "__main__":
    asyncio.run(main())
