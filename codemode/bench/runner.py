"""Run tasks, several at a time, and write each result as it ends."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import replace
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from codemode.bench.checks import check_tasks, verdict_of
from codemode.bench.record import ReplayMismatch
from codemode.bench.results import Policy, Result, drop_unfinished_line, read_results
from codemode.bench.suite import Run, ToolCall, Turn, Verdict
from codemode.bench.tokens import definition_tokens, trace_tokens
from codemode.bench.tools import recorded
from codemode.service import CodeMode
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from codemode.bench.players import Player
    from codemode.bench.results import Key, TurnRecord
    from codemode.bench.suite import Episode, Task
    from codemode.bench.tokens import TraceTokens


_DECISIONS: dict[Policy, dict[str, str]] = {
    "off": {"destructive": "allow"},
    "ask": {"destructive": "ask"},
    "deny": {"destructive": "deny"},
    "ask-writes": {"write": "ask", "destructive": "ask"},
    "deny-writes": {"write": "deny", "destructive": "deny"},
}


async def run_task(
    suite: str,
    task: Task,
    player: Player,
    *,
    policy: Policy = "off",
    repeat: int = 0,
    about: Mapping[str, str] = MappingProxyType({}),
) -> Result:
    """Attempt a task once, on fresh state, and judge it. An error of the suite or the player counts as not solved.

    `about` stands in the result. Raises ReplayMismatch.
    """
    begun = time.perf_counter()
    attempt = _Attempt(task, player, policy)
    try:
        verdict = await attempt.played(task.begin())
    except ReplayMismatch:
        raise
    except Exception as error:  # noqa: BLE001 -- the code of suites may raise anything, and the other tasks go on
        verdict = Verdict(solved=False, reason=f"{type(error).__name__}: {' '.join(str(error).split())[:500]}")
    return Result(
        suite=suite,
        task=task.id,
        model=player.model,
        mode=player.mode,
        policy=policy,
        solved=verdict.solved,
        reason="" if verdict.solved else verdict.reason,
        turns=attempt.records,
        details=dict(verdict.details),
        repeat=repeat,
        tools=attempt.tools,
        calls=len(attempt.calls) or sum(len(step.calls) for turn in attempt.records for step in turn.steps),
        definitions=attempt.definitions,
        traces={mode: trace.total for mode, trace in attempt.traces.items()},
        traces_cached={mode: trace.cached for mode, trace in attempt.traces.items()},
        traces_output={mode: trace.output for mode, trace in attempt.traces.items()},
        duration_s=time.perf_counter() - begun,
        about=dict(about),
    )


class _Attempt:
    """The attempt at a task: its service, its turns and the calls in them."""

    def __init__(self, task: Task, player: Player, policy: Policy) -> None:
        self.records: list[TurnRecord] = []
        self.calls: list[ToolCall] = []
        self.tools = 0
        self.definitions: dict[str, int] = {}
        self.traces: dict[str, TraceTokens] = {}
        self._folder = ""  # no attempt gets what another one has learned
        self._task = task
        self._player = player
        self._policy = {"default": _DECISIONS[policy]}

    async def played(self, episode: Episode) -> Verdict:
        async with AsyncExitStack() as entering:
            self._folder = entering.enter_context(TemporaryDirectory(prefix="codemode-bench-"))
            sources = await entering.enter_async_context(episode.sources())
            tools = _merged({}, episode.tools)
            service = await entering.enter_async_context(self._service(tools, sources))
            if episode.setup:
                (await service.execute(episode.setup)).raise_for_status()
            turns: list[Turn] = []
            for index in range(len(self._task.messages)):
                if index in episode.added:
                    tools = _merged(tools, episode.added[index])
                    service = await entering.enter_async_context(self._service(tools, sources))
                turns.append(await self._turn(service, episode, index))
            self.tools = len(service.catalog)
            self.definitions = definition_tokens(service)
            if episode.has_trace:
                self.traces = trace_tokens(self.definitions, turns, self.records)
            return await self._judged(episode, Run(turns, service))

    def _service(self, tools: Mapping[str, Sequence[object]], sources: Mapping[str, Any]) -> CodeMode:
        functions = {name: recorded(members, self.calls.append) for name, members in tools.items()}
        settings = {
            "sources": sources,
            "policy": self._policy,
            "state_folder": self._folder,
            "journal": {"enabled": False},
        }
        return CodeMode.from_settings(Settings.model_validate(settings), functions=functions)

    async def _turn(self, service: CodeMode, episode: Episode, index: int) -> Turn:
        before = len(self.calls)
        record = await self._player.answer(service, self._task, episode, index, self.records)
        self.records.append(record)
        return Turn(record.answer, self.calls[before:])

    async def _judged(self, episode: Episode, run: Run) -> Verdict:
        verdict = await verdict_of(episode, run)
        faults = [one.fault for one in self.records if one.fault]
        if verdict.solved or not faults:
            return verdict
        return replace(verdict, reason=f"{verdict.reason}; {faults[0]}")


def _merged(tools: Mapping[str, Sequence[object]], more: Mapping[str, Sequence[object]]) -> dict[str, Sequence[object]]:
    return {name: (*tools.get(name, ()), *more.get(name, ())) for name in {**tools, **more}}


async def run_tasks(
    suite: str,
    tasks: Sequence[Task],
    player: Player,
    *,
    out: Path,
    policy: Policy = "off",
    jobs: int = 1,
    repeats: int = 1,
    about: Mapping[str, str] = MappingProxyType({}),
    player_of: Callable[[Key], Player] | None = None,
    ended: Callable[[Result], None] = lambda _: None,
) -> list[Result]:
    """Attempt the tasks, `jobs` at a time, and append each result to `out`. Attempts in `out` are not repeated.

    `player_of` returns the player of one attempt; without it, `player` makes all attempts. Returns the results of
    these tasks, in their order. Raises ConfigurationError if `out` is not a file of results or two tasks have the same
    id, and ReplayMismatch.
    """
    check_tasks(suite, tasks)
    drop_unfinished_line(out)
    known = {result.key: result for result in read_results(out)}
    free = asyncio.Semaphore(jobs)
    keys = [(suite, task.id, player.model, player.mode, policy, repeat) for task in tasks for repeat in range(repeats)]
    by_id = {task.id: task for task in tasks}

    async def attempt(key: Key) -> None:
        async with free:
            playing = player if player_of is None else player_of(key)
            result = await run_task(suite, by_id[key[1]], playing, policy=policy, repeat=key[-1], about=about)
        if all(turn.status != "unreachable" for turn in result.turns):  # such an attempt is repeated when continued
            with out.open("a", encoding="utf-8") as file:
                file.write(result.to_line() + "\n")
        known[key] = result
        ended(result)

    for key in keys:
        if key in known:
            ended(known[key])
    mismatch: Exception | None = None
    try:
        async with asyncio.TaskGroup() as group:
            for key in keys:
                if key not in known:
                    group.create_task(attempt(key))
    except* ReplayMismatch as found:
        mismatch = found.exceptions[0]
    if mismatch is not None:
        raise mismatch
    return [known[key] for key in keys]
