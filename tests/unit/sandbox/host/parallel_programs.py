# ruff: noqa: S311 - random numbers are seeded
"""Random programs whose calls run in parallel: tasks, groups, time-outs, executors, one inside the other."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PRELUDE = """
import asyncio, random, time, uuid
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import datetime
seen = []
class Thing:
    def __init__(self, n):
        self.n = n
def note(value):
    seen.append(value)
    return value
def mark():
    return [random.random(), str(uuid.uuid4()), time.time(), [thing.n for thing in {Thing(1), Thing(2), Thing(3)}]]
def ask(**arguments):
    try:
        return note(ns.get(**arguments)["n"])
    except ToolError as error:
        return note(str(error))
async def ask_later(**arguments):
    try:
        return note((await ns.get(**arguments))["n"])
    except ToolError as error:
        return note(str(error))
"""


class Generator:
    """Writes one program per seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._count = 0

    def program(self) -> str:
        """Return a program: its value is everything that it saw."""
        blocks = [self._block(depth=0) for _ in range(self._random.randint(2, 4))]
        return "\n".join([PRELUDE, *blocks, "print(len(seen))", "[seen, mark()]"])

    def _block(self, depth: int) -> str:
        kinds: list[Callable[[int], str]] = [self._calls, self._clocked, self._sleeps, self._executor]
        kinds += [self._gather, self._group, self._time_out, self._completed, self._queue]
        return self._random.choice(kinds if depth < 3 else kinds[:2])(depth)

    def _name(self) -> str:
        self._count += 1
        return f"f{self._count}"

    def _number(self) -> int:
        return self._random.randint(0, 99)

    def _delay(self) -> str:
        return f"{self._random.randint(1, 6) / 1000}"

    def _function(self, depth: int, parameter: str = "i") -> tuple[str, str]:
        """A function that a task or a job runs, and its name: in sync style, or a coroutine."""
        name = self._name()
        body = _indented(self._block(depth + 1))
        return (
            name,
            f"def {name}({parameter}):\n    ask(i={parameter}, n={self._number()})\n{body}\n    return {parameter}",
        )

    def _coroutine(self, depth: int) -> tuple[str, str]:
        name = self._name()
        inner, function = self._function(depth + 1)
        in_thread = f"await asyncio.to_thread({inner}, i)"
        step = self._random.choice((in_thread, "await ask_later(i=i)", f"{inner}(i)"))
        if "asyncio.run" in function and step == f"{inner}(i)":
            step = in_thread  # as anywhere: a loop does not run in a loop
        return (
            name,
            f"{function}\nasync def {name}(i):\n    await ask_later(i=i, n={self._number()})\n    {step}\n    return i",
        )

    # --- what programs do --------------------------------------------------------------------------------------

    def _calls(self, depth: int) -> str:
        return "\n".join(f"ask(n={self._number()}, d={depth})" for _ in range(self._random.randint(1, 3)))

    def _clocked(self, depth: int) -> str:
        return f"ask(mark=mark(), day=str(datetime.now()), d={depth})"

    def _sleeps(self, depth: int) -> str:
        return f"time.sleep({self._delay()})\n{self._clocked(depth)}"

    def _executor(self, depth: int) -> str:
        name, function = self._function(depth)
        jobs, workers = self._random.randint(1, 4), self._random.randint(1, 3)
        taken = self._random.choice(
            (
                f"note(list(pool.map({name}, range({jobs}))))",
                f"[note(done.result()) for done in as_completed([pool.submit({name}, i) for i in range({jobs})])]",
            )
        )
        return f"{function}\nwith ThreadPoolExecutor({workers}) as pool:\n    {taken}"

    def _gather(self, depth: int) -> str:
        name, function = self._coroutine(depth)
        main = self._name()
        body = f"note(await asyncio.gather(*[{name}(i) for i in range({self._random.randint(1, 4)})]))"
        return f"{function}\nasync def {main}():\n    {body}\nasyncio.run({main}())"

    def _group(self, depth: int) -> str:
        name, function = self._coroutine(depth)
        main = self._name()
        body = f"for i in range({self._random.randint(1, 4)}):\n            group.create_task({name}(i))"
        group = f"    async with asyncio.TaskGroup() as group:\n        {body}"
        return f"{function}\nasync def {main}():\n{group}\nasyncio.run({main}())"

    def _time_out(self, depth: int) -> str:
        name, function = self._coroutine(depth)
        main = self._name()
        wait = self._random.choice(
            (
                f"async with asyncio.timeout({self._delay()}):\n            note(await {name}(1))",
                f"note(await asyncio.wait_for({name}(2), {self._delay()}))",
            )
        )
        return (
            f"{function}\nasync def {main}():\n    try:\n        {wait}\n    except TimeoutError:\n"
            f"        note('late')\n        await ask_later(late=mark())\nasyncio.run({main}())"
        )

    def _completed(self, depth: int) -> str:
        name, function = self._coroutine(depth)
        main = self._name()
        return (
            f"{function}\nasync def {main}():\n"
            f"    for done in asyncio.as_completed([{name}(i) for i in range({self._random.randint(1, 4)})]):\n"
            f"        await ask_later(after=await done)\nasyncio.run({main}())"
        )

    def _queue(self, depth: int) -> str:
        main, worker = self._name(), self._name()
        return (
            f"async def {worker}(name, queue):\n    while True:\n        n = await queue.get()\n"
            f"        await ask_later(name=name, n=n, d={depth})\n        queue.task_done()\n"
            f"async def {main}():\n    queue = asyncio.Queue()\n"
            f"    for n in range({self._random.randint(1, 5)}):\n        queue.put_nowait(n)\n"
            f"    workers = [asyncio.create_task({worker}(k, queue)) for k in range(2)]\n    await queue.join()\n"
            f"    for each in workers:\n        each.cancel()\nasyncio.run({main}())"
        )


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.split("\n"))


def program(seed: int) -> str:
    """Return the program of a seed."""
    return Generator(seed).program()
