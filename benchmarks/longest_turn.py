"""The longest turn of the event loop over the worst values: `python -m benchmarks.longest_turn`.

Results cross from a real worker, and are written as every face writes them. Answers of services are read as the HTTP
transport reads them, in a thread. Printed in milliseconds.
"""

from __future__ import annotations

import asyncio
import time

from codemode.serving.outgoing import encoded
from codemode.transports.answers import decode
from codemode.transports.content import ContentStore
from sandbox import Limits, Sandbox

#: Programs whose results are the worst for a parser, by what is bad about them; the first is benign.
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

#: Items of lists that services answer, by what is bad about them; the first is benign.
ITEMS = {
    "records": b'{"id":12345,"name":"a name of some length","email":"someone@example.com"}',
    "numbers near infinity": b"1e308",
    "short numbers": b"1",
    "long numbers": b"12345678901234567890123",
    "short texts": b'""',
    "deep lists": b"[" * 150 + b'"' + b"x" * 2400 + b'"' + b"]" * 150,
}


class Turns:
    """Measures how long the loop does not come back to a task that always wants to run."""

    def __init__(self) -> None:
        self.longest_s = 0.0

    async def watch(self) -> None:
        """Measure until cancelled."""
        before = time.perf_counter()
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            self.longest_s = max(self.longest_s, now - before)
            before = now


async def longest_turn_s(program: str, size: int) -> float:
    """Seconds of the longest turn while the program runs, and its result is encoded. `size` is in bytes."""
    limits = Limits(memory_bytes=1 << 30)
    async with Sandbox(limits=limits, workers=1) as sandbox:
        await sandbox.run("1")
        turns = Turns()
        watching = asyncio.create_task(turns.watch())
        await asyncio.sleep(0.01)
        outcome = await sandbox.run(program.format(size=size))
        encoded({"value": outcome.result})
        await asyncio.sleep(0.01)
        watching.cancel()
    if not outcome.ok:
        raise RuntimeError(str(outcome.failure))
    return turns.longest_s


async def longest_turn_of_an_answer_s(item: bytes, size: int) -> float:
    """Seconds of the longest turn while a list of `size` bytes is read."""
    body = b"[" + b",".join([item] * (size // (len(item) + 1))) + b"]"
    turns = Turns()
    watching = asyncio.create_task(turns.watch())
    await asyncio.sleep(0.01)
    headers = {"content-type": "application/json"}
    await asyncio.to_thread(decode, body, headers, wants_json=True, status=200, contents=ContentStore())
    await asyncio.sleep(0.01)
    watching.cancel()
    return turns.longest_s


async def main() -> None:
    """Print the tables."""
    print("answers of services, read")
    for name, item in ITEMS.items():
        print(f"{name:24}{1000 * await longest_turn_of_an_answer_s(item, 15_000_000):8.1f} ms")
    print("results")
    for name, program in PROGRAMS.items():
        print(f"{name:24}{1000 * await longest_turn_s(program, 15_000_000):8.1f} ms")


if __name__ == "__main__":
    asyncio.run(main())
