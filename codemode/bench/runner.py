"""Run tasks, several at a time, and write each result as it ends."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack, nullcontext
from dataclasses import replace
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from codemode.bench.checks import begun, check_tasks, verdict_of
from codemode.bench.results import Policy, Result, read_results
from codemode.bench.suite import Run, ToolCall, Turn, Verdict
from codemode.bench.tokens import definition_tokens, needs_search, trace_tokens
from codemode.bench.tools import recorded
from codemode.errors import ConfigurationError
from codemode.service import CodeMode
from codemode.serving.line_file import LineFile
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
    from pathlib import Path

    from codemode.bench.players import Player
    from codemode.bench.results import Key, TurnRecord
    from codemode.bench.suite import Episode, Task
    from codemode.bench.tokens import TraceTokens


#: Sections of the configuration, by policy.
_SECTIONS: dict[Policy, dict[str, Any]] = {
    "configured": {},
    "off": {"policy": {"default": {"destructive": "allow"}}},
    "ask": {"policy": {"default": {"destructive": "ask"}}},
    "deny": {"policy": {"default": {"destructive": "deny"}}},
    "ask-writes": {"policy": {"default": {"write": "ask", "destructive": "ask"}}},
    "deny-writes": {"policy": {"default": {"write": "deny", "destructive": "deny"}}},
    "flow": {"policy": {"default": {"destructive": "allow"}}, "flow": {"mode": "on"}},
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

    `about` stands in the result. Raises ConfigurationError, such as ReplayMismatch or for a missing key: it is an error
    of the run, not of the attempt.
    """
    started = time.perf_counter()
    attempt = _Attempt(task, player, policy)
    try:
        verdict = await attempt.played(begun(task))
    except ConfigurationError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 -- suites may raise anything, and the other tasks go on
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
        calls=attempt.calls,
        definitions=attempt.definitions,
        traces={mode: trace.total for mode, trace in attempt.traces.items()},
        traces_cached={mode: trace.cached for mode, trace in attempt.traces.items()},
        traces_output={mode: trace.output for mode, trace in attempt.traces.items()},
        duration_s=time.perf_counter() - started,
        about=dict(about),
    )


class _Attempt:
    """The attempt at a task: its services, its turns and the calls in them."""

    def __init__(self, task: Task, player: Player, policy: Policy) -> None:
        self.records: list[TurnRecord] = []
        self.turns: list[Turn] = []
        self.tools = 0
        self.definitions: dict[str, int] = {}
        self.traces: dict[str, TraceTokens] = {}
        self._calls: list[ToolCall] = []
        self._settings = Settings()
        self._folder = ""  # no attempt gets what another one has learned
        self._task = task
        self._player = player
        self._policy: Policy = policy

    @property
    def calls(self) -> int:
        """Number of calls that reached a tool: as the tools counted them, or for sources, as the ledgers have them."""
        counted = sum(len(turn.calls) for turn in self.turns)
        return counted or sum(len(step.calls) for record in self.records for step in record.steps)

    async def played(self, episode: Episode) -> Verdict:
        async with AsyncExitStack() as entering:
            self._folder = entering.enter_context(TemporaryDirectory(prefix="codemode-bench-"))
            sources = await entering.enter_async_context(episode.sources())
            self._settings = episode.settings or self._settings_with(sources, self._policy)
            tools = _merged({}, episode.tools)
            if episode.setup:
                preparing = episode.settings or self._settings_with(sources, "off")
                async with self._service(tools, preparing) as service:
                    (await service.execute(episode.setup)).raise_for_status()
            service = await entering.enter_async_context(self._service(tools, self._settings))
            for index in range(len(self._task.messages)):
                if index in episode.added:
                    tools = _merged(tools, episode.added[index])
                    service = await entering.enter_async_context(self._service(tools, self._settings))
                await self._turn(service, episode, index)
            self.tools = len(service.catalog)
            self.definitions = definition_tokens(service)
            if episode.has_trace:
                searches = needs_search(service)
                self.traces = trace_tokens(self.definitions, self.turns, self.records, searches_first=searches)
            return await self._judged(episode, Run(self.turns, service))

    def _settings_with(self, sources: Mapping[str, Any], policy: Policy) -> Settings:
        return Settings.model_validate(
            {
                "sources": sources,
                **_SECTIONS[policy],
                "state_folder": self._folder,
                "journal": {"enabled": False},
            }
        )

    def _service(self, tools: Mapping[str, Sequence[object]], settings: Settings) -> CodeMode:
        functions = {name: recorded(members, self._calls.append) for name, members in tools.items()}
        return CodeMode.from_settings(settings, functions=functions)

    async def _turn(self, service: CodeMode, episode: Episode, index: int) -> None:
        before = len(self._calls)
        record = await self._player.answer(service, self._task, episode, index, self.records)
        self.records.append(record)
        self.turns.append(Turn(record.answer, self._calls[before:]))

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
    out: Path | None = None,
    policy: Policy = "off",
    jobs: int = 1,
    repeats: int = 1,
    about: Mapping[str, str] = MappingProxyType({}),
    player_of: Callable[[Key], Player] | None = None,
    ended: Callable[[Result], None] = lambda _: None,
) -> list[Result]:
    """Attempt the tasks, `jobs` at a time, and append each result to the file `out`. Attempts in it are not repeated.

    `player_of` returns the player of one attempt; without it, `player` makes all attempts. Returns the results of
    these tasks, in their order. Raises OSError, and ConfigurationError if `out` is not a file of results or another run
    writes to it, if two tasks have the same id, or if the model is not configured as it must be.
    """
    check_tasks(suite, tasks)
    free = asyncio.Semaphore(jobs)
    keys = [(suite, task.id, player.model, player.mode, policy, repeat) for task in tasks for repeat in range(repeats)]
    by_id = {task.id: task for task in tasks}
    with nullcontext() if out is None else LineFile(out) as lines:
        known = {result.key: result for result in read_results(out)} if out else {}

        async def attempt(key: Key) -> None:
            async with free:
                playing = player if player_of is None else player_of(key)
                result = await run_task(suite, by_id[key[1]], playing, policy=policy, repeat=key[-1], about=about)
            if lines is not None and not result.is_unreachable:  # such an attempt is repeated when the run is continued
                lines.append(result.to_line())
            known[key] = result
            ended(result)

        for key in keys:
            if key in known:
                ended(known[key])
        await _side_by_side(attempt(key) for key in keys if key not in known)
    return [known[key] for key in keys]


async def _side_by_side(attempts: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Await all attempts. The first error of the run cancels the others."""
    errors: Sequence[BaseException] = ()
    try:
        async with asyncio.TaskGroup() as group:
            for one in attempts:
                group.create_task(one)
    except* (ConfigurationError, OSError) as found:
        errors = found.exceptions
    if errors:
        raise errors[0]
