"""A clock that divides the processor time of a process into stages.

A stage is measured while one of its functions runs, without the functions of other stages that it calls: its time is
exclusive. Coroutines are measured step by step, so time in which they wait does not count.
"""

from __future__ import annotations

import functools
import inspect
import threading
import time
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator


class StageClock:
    """Seconds and number of calls for each pair of stage and function, over all threads."""

    def __init__(self, now: Callable[[], float] = time.thread_time) -> None:
        self._now = now
        self._local = threading.local()
        self._tables: list[dict[tuple[str, str], list[float]]] = []

    def wrap(self, function: Callable[..., Any], stage: str, name: str) -> Callable[..., Any]:
        """Return the function with its time measured under `stage`; coroutine functions stay coroutine functions."""
        key = (stage, name)
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def measured_steps(*arguments: Any, **named: Any) -> Any:
                return await self._steps(function(*arguments, **named), key)

            return measured_steps

        @functools.wraps(function)
        def measured(*arguments: Any, **named: Any) -> Any:
            self._enter(key)
            try:
                return function(*arguments, **named)
            finally:
                self._leave()

        return measured

    def snapshot(self) -> dict[tuple[str, str], tuple[float, int]]:
        """Return the seconds and the number of calls so far. The steps of a coroutine count as one call each."""
        total: dict[tuple[str, str], tuple[float, int]] = {}
        for table in list(self._tables):
            for key, (seconds, calls) in list(table.items()):
                before = total.get(key, (0.0, 0))
                total[key] = (before[0] + seconds, before[1] + int(calls))
        return total

    def own_s(self, calls: int = 10_000) -> float:
        """Return the seconds that the clock itself takes for one call and counts in no stage."""
        clock = StageClock(self._now)
        function = clock.wrap(lambda: None, "", "")
        began = self._now()
        for _ in range(calls):
            function()
        ((attributed_s, _),) = clock.snapshot().values()
        return (self._now() - began - attributed_s) / calls

    @types.coroutine
    def _steps(self, work: Coroutine[Any, Any, Any], key: tuple[str, str]) -> Generator[Any, Any, Any]:
        step, argument = work.send, None
        while True:
            self._enter(key)
            try:
                waited_for = step(argument)
            except StopIteration as end:
                return end.value
            finally:
                self._leave()
            try:
                step, argument = work.send, (yield waited_for)
            except GeneratorExit:
                work.close()
                raise
            except BaseException as error:  # noqa: BLE001 -- whatever is thrown in belongs to the coroutine
                step, argument = work.throw, error

    def _enter(self, key: tuple[str, str]) -> None:
        """Stop the clock of the stage that is running, and start that of `key`."""
        local = self._local
        now = self._now()
        try:
            stack, table = local.stack, local.table
        except AttributeError:
            stack, table = local.stack, local.table = [], {}
            self._tables.append(table)
        if stack:
            table[stack[-1]][0] += now - local.since
        entry = table.get(key)
        if entry is None:
            entry = table[key] = [0.0, 0]
        entry[1] += 1
        stack.append(key)
        local.since = self._now()

    def _leave(self) -> None:
        local = self._local
        local.table[local.stack.pop()][0] += self._now() - local.since
        local.since = self._now()
