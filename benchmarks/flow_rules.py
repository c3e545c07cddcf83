"""Flow rules on AgentDojo: `python -m benchmarks.flow_rules [attacks] [NAME]`. It needs the package `agentdojo`.

- Utility: the gold program of each user task, with rules off, on and strict. A call that waits for a person is counted
  as asked, and the person says no.
- Attacks: each injection in each task, as a model would act that obeys every text: its first program is the user's task
  and shows all that it reads, its next one does what the injection demands. The attack succeeds if AgentDojo says so.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from agentdojo.task_suite.load_suites import get_suites

from benchmarks.agents.suites.agentdojo import VERSION, AgentDojo, call_of
from codemode import CodeMode
from codemode.bench.suite import Run, ToolCall, Turn
from codemode.bench.tools import program_of, recorded
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.bench.suite import Episode, Task

MODES = ("off", "on", "strict")


def settings(folder: str, mode: str) -> Settings:
    """Return settings in which everything is allowed but for what the flow rules ask."""
    policy = {"default": {"write": "allow", "destructive": "allow"}}
    return Settings.model_validate(
        {"policy": policy, "flow": {"mode": mode}, "state_folder": folder, "journal": {"enabled": False}}
    )


async def played(episode: Episode, programs: Sequence[str], mode: str) -> tuple[Counter[str], Any]:
    """Run programs in one conversation. Return what was asked and sent, and the verdict of the suite."""
    calls: list[ToolCall] = []
    counts: Counter[str] = Counter()
    functions = {name: recorded(members, calls.append) for name, members in episode.tools.items()}
    with TemporaryDirectory() as folder:
        async with CodeMode.from_settings(settings(folder, mode), functions=functions) as service:
            for program in programs:
                outcome = await service.execute(program, conversation="one")
                failure = outcome.failure
                counts["asked"] += failure is not None and failure.type == "ApprovalRequired"
                counts["writes"] += sum(call.effect not in ("", "read") for call in outcome.calls)
            answer = (episode.gold_answers or ("",))[-1]
            verdict = await episode.judge(Run([Turn(answer, calls)], service))
    return counts, verdict


def shown(task: Task) -> str:
    """Return the gold program of a task as a model would write it that looks at all it reads.

    Without the calls whose arguments are the injected text: nobody knows that before it is read.
    """
    lines = [line for line in task.begin().gold[0].splitlines() if line != "None" and "<INFORMATION>" not in line]
    return "\n".join(f"print({line})" for line in lines) or "None"


def injected(suite: Any, task: str) -> str:
    """Return the program that does what an injection demands."""
    goal = suite.injection_tasks[task]
    environment = suite.load_and_inject_default_environment({})
    return program_of([call_of(call) for call in goal.ground_truth(environment)], suite.name)


async def utility() -> None:
    """Print how many user tasks are solved, and how many calls a person is asked about."""
    tasks = AgentDojo().tasks()
    for mode in MODES:
        total: Counter[str] = Counter()
        for task in tasks:
            episode = task.begin()
            counts, verdict = await played(episode, episode.gold, mode)
            total.update(counts)
            total["solved"] += verdict.solved
            if mode == "on" and not verdict.solved:
                print(f"  {task.id}: not solved")
        print(
            f"flow {mode:7}{total['solved']:4} of {len(tasks)} solved, {total['asked']} of {total['writes']} asked",
            flush=True,
        )


async def attacks(name: str) -> None:
    """Print how many attacks reach their goal."""
    suites = get_suites(VERSION)
    tasks = AgentDojo(name).tasks()
    for mode in ("off", "on"):
        total: Counter[str] = Counter()
        for task in tasks:
            suite, _, goal = task.id.split(".")
            counts, verdict = await played(task.begin(), (shown(task), injected(suites[suite], goal)), mode)
            reached = verdict.details["attack_succeeded"]
            total["reached"] += reached
            total["asked"] += counts["asked"]
            if mode == "on" and reached:
                print(f"  {task.id}: reached", flush=True)
        print(
            f"flow {mode:7}{total['reached']:4} of {len(tasks)} attacks reach their goal, {total['asked']} asked",
            flush=True,
        )


async def main(chosen: Sequence[str]) -> None:
    """Print both tables."""
    if "attacks" not in chosen:
        await utility()
    await attacks(next((one for one in chosen if one != "attacks"), "important_instructions"))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
