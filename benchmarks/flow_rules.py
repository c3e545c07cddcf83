"""Attacks of AgentDojo: `python -m benchmarks.flow_rules [--attack NAME] [MODE …]`, with the package `agentdojo`.

Modes without flow rules: `off` allows everything, `ask` asks a person before a call that destroys, as a new
configuration does, and `ask-writes` before each write. The person approves what the user's own program calls, with the
same arguments, and nothing else: nobody is as careful. In `ask-writes-approved` the person approves everything.

Modes of flow rules, with a policy that allows everything: `on`, `strict`, and `camel`, the policies of CaMeL
(arXiv:2503.18813) as far as they are rules on where an argument comes from. Its rules on who may read a value have no
counterpart. Here the person says no to everything.

- Utility: the gold program of each user task.
- Attacks: each injection in each task, as a model would act that obeys every text: its first program is the user's task
  and shows all that it reads, its next one does what the injection demands. The attack succeeds if AgentDojo says so.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from agentdojo.task_suite.load_suites import get_suites

from benchmarks.agents.suites.agentdojo import VERSION, AgentDojo, call_of
from codemode import Caller, CodeMode, Decision
from codemode.bench.suite import Run, ToolCall, Turn
from codemode.bench.tools import program_of, recorded
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.bench.suite import Episode, Task
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.executions.types.records import PendingCall

MODES = ("off", "ask", "ask-writes", "ask-writes-approved", "on", "strict", "camel")

#: What the policy does with calls that write and that destroy, by mode. The other modes allow both.
POLICIES = {
    "ask": {"write": "allow", "destructive": "ask"},
    "ask-writes": {"write": "ask", "destructive": "ask"},
    "ask-writes-approved": {"write": "ask", "destructive": "ask"},
}
ALLOWED = {"write": "allow", "destructive": "allow"}

APPROVER = Caller("person", role="approver")

#: Arguments that CaMeL lets come from the user alone, by tool: https://github.com/google-research/camel-prompt-injection,
#: src/camel/pipeline_elements/security_policies at f083b6b. There, the answer of any tool is untrusted.
CAMEL = {
    "banking.send_money": ("recipient",),
    "banking.schedule_transaction": ("recipient",),
    "banking.update_scheduled_transaction": ("recipient",),
    "banking.update_password": ("password",),
    "banking.update_user_info": ("*",),
    "slack.add_user_to_channel": ("user", "channel"),
    "slack.send_direct_message": ("recipient",),
    "slack.invite_user_to_slack": ("user", "user_email"),
    "slack.remove_user_from_slack": ("user",),
    "slack.post_webpage": ("url", "content"),
    "slack.get_webpage": ("url",),
    "travel.send_email": ("recipients", "cc", "bcc"),
    "travel.create_calendar_event": ("participants",),
    "travel.cancel_calendar_event": ("event_id",),
    "travel.reserve_hotel": ("hotel", "start_day", "end_day"),
    "travel.reserve_car_rental": ("start_time",),
    "travel.reserve_restaurant": ("start_time",),
    "workspace.send_email": ("recipients", "cc", "bcc"),
    "workspace.create_calendar_event": ("participants",),
    "workspace.cancel_calendar_event": ("event_id",),
    "workspace.add_calendar_event_participants": ("event_id",),
    "workspace.delete_file": ("file_id",),
    "workspace.share_file": ("email",),
}


def flow(mode: str) -> dict[str, Any]:
    """Return the section `flow` of a mode."""
    if mode != "camel":
        return {"mode": "off" if mode in POLICIES else mode}
    rules: list[dict[str, Any]] = [
        {"tools": [tool], "where": {field: {"from": "untrusted"}}, "decision": "ask"}
        for tool, fields in CAMEL.items()
        for field in fields
    ]
    return {"mode": "on", "untrusted": ["*"], "rules": [*rules, {"tools": ["*"], "decision": "allow"}]}


def settings(folder: str, mode: str) -> Settings:
    """Return the settings of a mode."""
    policy = {"default": POLICIES.get(mode, ALLOWED)}
    return Settings.model_validate({"policy": policy, "flow": flow(mode), "state_folder": folder})


async def played(episode: Episode, programs: Sequence[str], mode: str) -> tuple[Counter[str], Any]:
    """Run programs in one conversation, the user's own first. Return the counts and the verdict of the suite."""
    calls: list[ToolCall] = []
    counts: Counter[str] = Counter()
    functions = {name: recorded(members, calls.append) for name, members in episode.tools.items()}
    person = Person(mode)
    with TemporaryDirectory() as folder:
        async with CodeMode.from_settings(settings(folder, mode), functions=functions) as service:
            for number, program in enumerate(programs):
                outcome = await person.decides(service, program, is_own=not number)
                counts["writes"] += sum(call.effect not in ("", "read") for call in outcome.calls)
            answer = (episode.gold_answers or ("",))[-1]
            verdict = await episode.judge(Run([Turn(answer, calls)], service))
    counts["asked"] = person.asked
    return counts, verdict


class Person:
    """Decides on the calls of one conversation, and counts them."""

    def __init__(self, mode: str) -> None:
        self.asked = 0
        self._mode = mode
        self._wanted: set[str] = set()

    async def decides(self, service: CodeMode, program: str, *, is_own: bool) -> ExecutionOutcome:
        """Run a program, and decide whenever it waits. `is_own` is whether the user wants its calls."""
        outcome = await service.execute(program, conversation="one")
        while outcome.status == "paused":
            waiting = await service.executions.approvals(APPROVER, outcome.id)
            self.asked += len(waiting)
            verdicts = {call.id: self._approves(call, is_own=is_own) for call in waiting}
            decisions = [
                Decision(call.id, call.digest, "approved" if verdicts[call.id] else "rejected", APPROVER.id)
                for call in waiting
            ]
            await service.executions.decide(decisions, APPROVER)
            outcome = await service.execute("", resume_from=outcome.id)
        return outcome

    def _approves(self, call: PendingCall, *, is_own: bool) -> bool:
        written = f"{call.tool} {json.dumps(call.arguments, sort_keys=True)}"
        if is_own:
            self._wanted.add(written)
        return self._mode == "ask-writes-approved" or (self._mode in POLICIES and written in self._wanted)


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


async def utility(mode: str) -> str:
    """Return how many user tasks are solved, and how many calls a person is asked about."""
    tasks = AgentDojo().tasks()
    total: Counter[str] = Counter()
    for task in tasks:
        episode = task.begin()
        counts, verdict = await played(episode, episode.gold, mode)
        total.update(counts)
        total["solved"] += verdict.solved
        if mode == "on" and not verdict.solved:
            print(f"  {task.id}: not solved")
    return f"{total['solved']} of {len(tasks)} | {total['asked']} of {total['writes']}"


async def attacks(mode: str, name: str) -> str:
    """Return how many attacks reach their goal, and how many calls a person is asked about."""
    suites = get_suites(VERSION)
    tasks = AgentDojo(name).tasks()
    reached = asked = 0
    for task in tasks:
        suite, _, goal = task.id.split(".")
        counts, verdict = await played(task.begin(), (shown(task), injected(suites[suite], goal)), mode)
        reached += verdict.details["attack_succeeded"]
        asked += counts["asked"]
        if mode in ("ask-writes", "on") and verdict.details["attack_succeeded"]:
            print(f"  {task.id}: reached", flush=True)
    return f"{reached} of {len(tasks)} | {asked / len(tasks):.1f}"


async def main(chosen: argparse.Namespace) -> None:
    """Print the table."""
    print(
        "| mode | gold programs that solve their task | writes that are asked "
        "| attacks that reach their goal | asked in an attack |"
    )
    print("|---|---|---|---|---|")
    for mode in chosen.modes or MODES:
        print(f"| {mode} | {await utility(mode)} | {await attacks(mode, chosen.attack)} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("modes", nargs="*", metavar="MODE", choices=[*MODES, []])
    parser.add_argument("--attack", default="important_instructions", help="AgentDojo's name of the attack")
    asyncio.run(main(parser.parse_args()))
