"""What flow rules cost a program: `python -m benchmarks.flow_cost [--runs 15]`.

- Time: a program of 50 calls reads 100 KB of mails and sends 25 of them on, to an address in the program or to each
  mail's sender, with rules off and on. Both services run in this process, in turns; the ratio is the median of the
  pairs. The tools answer after 5 ms, as a service near by does, and at once, so that the share of the rules is as large
  as it can be.
- Turns: the longest turn of the event loop while a program reads 16 MiB in 16 answers and then changes something, with
  rules off and on: the processor time of the loop's own thread, and the wall time, each the least of all runs.

The goals: at most 1.10 times the time with tools that take 5 ms, and turns of at most 50 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import time
from contextlib import asynccontextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from codemode import CodeMode, tool
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

MODES = ("off", "on")
GOAL_RATIO, GOAL_TURN_S = 1.10, 0.050

MANY = """\
for n in range(25):
    mail = mail_box.get(n=n)
    mail_box.send(to={to}, body=mail["body"])
25
"""
ADDRESSES = {"of the program": '"boss@company.example"', "of each mail": 'mail["sender"]'}
LONG = """\
read = sum(len(mail_box.long(n=n)["body"]) for n in range(16))
mail_box.send(to="boss@company.example", body="done")
read
"""

_SYLLABLES = [one + other for one in "bdfgklmnprstvz" for other in "aeiou"]


def text(seed: int, size: int) -> str:
    """Return a text of `size` characters that no other seed has."""
    chosen = random.Random(seed)  # noqa: S311 -- the same in each run, and no secret
    words = ("".join(chosen.choices(_SYLLABLES, k=chosen.randint(1, 4))) for _ in range(size // 3))
    return " ".join(words)[:size]


class Mails:
    """A service with mails of 4,000 characters, and of 1 MiB."""

    def __init__(self) -> None:
        self.latency_s = 0.0
        self._short = [text(n, 4_000) for n in range(25)]
        self._long = [text(100 + n, 1 << 20) for n in range(16)]

    @tool(effect="read")
    async def get(self, n: int) -> dict[str, Any]:
        """Get a mail."""
        await asyncio.sleep(self.latency_s)
        return {"id": n, "sender": f"person-{n}@company.example", "body": self._short[n]}

    @tool(effect="read")
    async def long(self, n: int) -> dict[str, Any]:
        """Get a long mail."""
        return {"id": n, "body": self._long[n]}

    @tool(effect="write")
    async def send(self, to: str, body: str) -> str:
        """Send a mail."""
        await asyncio.sleep(self.latency_s)
        return f"sent {len(body)} characters to {to}"


@asynccontextmanager
async def served(mode: str, mails: Mails) -> AsyncIterator[CodeMode]:
    """Yield a service in which everything is allowed but for what the flow rules ask."""
    with TemporaryDirectory() as folder:
        settings = {
            "policy": {"default": {"write": "allow", "destructive": "allow"}},
            "flow": {"mode": mode},
            "limits": {"wall_s": 120},
            "state_folder": folder,
        }
        functions = {"mail_box": [mails.get, mails.long, mails.send]}
        async with CodeMode.from_settings(Settings.model_validate(settings), functions=functions) as service:
            yield service


async def seconds(service: CodeMode, program: str) -> float:
    """Return how long a program takes. Raises RuntimeError if it does not complete."""
    started = time.perf_counter()
    outcome = await service.execute(program)
    if not outcome.ok:
        message = f"the program did not complete: {outcome.failure or outcome.pending}"
        raise RuntimeError(message)
    return time.perf_counter() - started


async def longest(service: CodeMode, clock: Callable[[], float]) -> float:
    """Return the longest time of the loop's thread between two turns of a task that is always ready."""
    longest_s, is_over = 0.0, False

    async def watch() -> None:
        nonlocal longest_s
        before = clock()
        while not is_over:
            await asyncio.sleep(0)
            now = clock()
            longest_s, before = max(longest_s, now - before), now

    watching = asyncio.create_task(watch())
    await seconds(service, LONG)
    is_over = True
    await watching
    return longest_s


async def compared(off: CodeMode, on: CodeMode, name: str, runs: int) -> float:
    """Print and return how many times as long a program takes with rules on."""
    program = MANY.format(to=ADDRESSES[name])
    await seconds(off, program), await seconds(on, program)
    pairs = [(await seconds(off, program), await seconds(on, program)) for _ in range(runs)]
    ratio = statistics.median(with_rules / without for without, with_rules in pairs)
    without_ms, with_ms = (1_000 * statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"  addresses {name}: off {without_ms:.1f} ms, on {with_ms:.1f} ms, ratio {ratio:.2f} (goal {GOAL_RATIO})")
    return ratio


async def main(runs: int) -> int:
    """Print both tables. Return 1 if a goal is missed."""
    mails = Mails()
    async with served("off", mails) as off, served("on", mails) as on:
        for mails.latency_s in (0.0, 0.005):
            print(f"tools that answer after {1_000 * mails.latency_s:.0f} ms")
            ratios = [await compared(off, on, name, runs) for name in ADDRESSES]
        mails.latency_s, turns = 0.0, {}
        for mode, service in zip(MODES, (off, on), strict=True):
            for name, clock in (("processor", time.thread_time), ("wall", time.perf_counter)):
                turns[mode, name] = min([await longest(service, clock) for _ in range(3)])
                print(f"16 MiB, {mode:3}: longest turn {1_000 * turns[mode, name]:.1f} ms of {name} time")
    return int(max(ratios) > GOAL_RATIO or turns["on", "processor"] > GOAL_TURN_S)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=15)
    sys.exit(asyncio.run(main(parser.parse_args().runs)))
