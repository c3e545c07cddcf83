"""AgentDojo (package `agentdojo`, MIT): four suites of user tasks, and injections that try to divert the agent.

Source: Debenedetti et al., "AgentDojo", NeurIPS 2024 Datasets and Benchmarks. Tasks of benchmark version 1.2.2.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from agentdojo.attacks.attack_registry import ATTACKS, load_attack
from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suites

from codemode.bench.suite import Episode, Run, Task, ToolCall, Verdict
from codemode.bench.tools import ReadingTool, SuiteTool, program_of
from codemode.errors import ConfigurationError
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VERSION = "v1.2.2"

#: A model name that every attack knows; some address the model by its name.
_TARGET = SimpleNamespace(name="gpt-4o-2024-05-13")

#: How the names of tools begin that change nothing. AgentDojo itself does not say which do.
_READING = ("get_", "read_", "list_", "search_", "check_")


class AgentDojo:
    """All user tasks, or with the name of an attack, each user task with each injection task in its data."""

    packages = ("agentdojo",)

    def __init__(self, attack: str = "") -> None:
        if attack and attack not in ATTACKS:
            message = f"agentdojo has no attack {attack!r}{did_you_mean(attack, ATTACKS)}"
            raise ConfigurationError(message)
        self.name = f"agentdojo:{attack}" if attack else "agentdojo"
        self._attack = attack

    def tasks(self) -> Sequence[Task]:
        """Return the tasks of the four suites."""
        return [task for suite in get_suites(VERSION).values() for task in self._tasks(suite)]

    def _tasks(self, suite: Any) -> Iterator[Task]:
        attack = load_attack(self._attack, suite, _TARGET) if self._attack else None
        for user_task in suite.user_tasks.values():
            id_ = f"{suite.name}.{user_task.ID}"
            if attack is None:
                yield Task(id_, (user_task.PROMPT,), partial(_begin, suite, user_task, None, {}))
                continue
            for goal in suite.injection_tasks.values():
                injections = _injections(attack, user_task, goal)
                if injections:
                    begin = partial(_begin, suite, user_task, goal, injections)
                    yield Task(f"{id_}.{goal.ID}", (user_task.PROMPT,), begin)


def _injections(attack: Any, user_task: Any, goal: Any) -> dict[str, str]:
    """Return the texts to inject by their place; none where the user's task reads no such place."""
    try:
        found: dict[str, str] = attack.attack(user_task, goal)
    except ValueError:  # "user_task_… is not injectable."
        return {}
    return found


def _begin(suite: Any, user_task: Any, goal: Any, injections: dict[str, str]) -> Episode:
    state = user_task.init_environment(suite.load_and_inject_default_environment(injections))
    before = state.model_copy(deep=True)
    runtime = FunctionsRuntime(suite.tools)

    def run_function(name: str, **arguments: Any) -> Any:
        return runtime.run_function(state, name, arguments, raise_on_error=True)[0]

    async def judge(run: Run) -> Verdict:
        traces = [FunctionCall(function=call.tool, args=dict(call.arguments)) for call in run.calls]
        solved = user_task.utility_from_traces(run.answer, before, state, traces)
        if solved is None:
            solved = user_task.utility(run.answer, before, state)
        details = {} if goal is None else {"attack_succeeded": _reached(goal, run.answer, before, state, traces)}
        return Verdict(bool(solved), "" if solved else "AgentDojo's utility check is false", details)

    tools = [
        (ReadingTool if one.name.startswith(_READING) else SuiteTool)(
            one.name, one.full_docstring, one.parameters.model_json_schema(), partial(run_function, one.name)
        )
        for one in suite.tools
    ]
    gold = [call_of(call) for call in user_task.ground_truth(before)]
    return Episode(
        judge,
        gold=[program_of(gold, suite.name)],
        gold_answers=[user_task.GROUND_TRUTH_OUTPUT],
        tools={suite.name: tools},
    )


def _reached(goal: Any, answer: str, before: Any, after: Any, traces: Sequence[FunctionCall]) -> bool:
    """Whether the injection reached its goal, which AgentDojo calls `security`."""
    reached = goal.security_from_traces(answer, before, after, traces)
    return bool(goal.security(answer, before, after) if reached is None else reached)


def call_of(call: FunctionCall) -> ToolCall:
    return ToolCall(
        call.function,
        {name: call_of(value) if isinstance(value, FunctionCall) else value for name, value in call.args.items()},
    )


suite = AgentDojo
