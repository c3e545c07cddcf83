"""`codemode demo`: what codemode does, on one screen, against the example services."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from codemode.catalog.catalog import Catalog
from codemode.composition.cost import cost_of
from codemode.executions.types.outcome import ExecutionOutcome
from codemode.executions.types.records import Decision
from codemode.gateway.call import CallState
from codemode.gateway.caller import LOCAL, Caller
from codemode.service import CodeMode
from codemode.serving.cli.demo_screen import DemoResult, next_commands, screen
from codemode.serving.cli.demo_tour import outcomes, tour
from codemode.serving.cli.example_services import example_sources
from codemode.serving.output import terminal as show
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from codemode.catalog.cost import CostReport
    from codemode.executions.types.records import PendingCall

PROGRAM = """\
import asyncio
trainers = gym.trainers.get_trainers_list(limit=3)["items"]
calls = [gym.clients.get_clients_list(trainerId=t["id"]) for t in trainers]
found = await asyncio.gather(*calls)
{t["firstName"]: clients["total"] for t, clients in zip(trainers, found)}
"""
DESTRUCTIVE = "gym.leads.delete_lead(leadId=1)"
DENIED = 'outbox.messages.send_email(to=["all@rival.example"], subject="Our members", text="Dear rival")'

POLICY = {
    "roles": ["approver"],
    "rules": [
        {
            "name": "nothing to rivals",
            "tools": "outbox.messages.*",
            "where": {"to": "*@rival.example"},
            "decision": "deny",
        }
    ],
}
APPROVER = Caller("ann", "approver")

#: The width of the screen on a wider terminal.
MOST_COLUMNS = 100

#: Seconds within which the approved execution must end.
_WAIT_S = 60.0


async def run_demo(*, everything: bool = False, as_json: bool = False) -> int:
    """Run the demo, with the tour if `everything`. Return exit code 0 if every program ended as expected.

    Raises SourceError if a service does not start, ExecutionFailed, `sandbox.SandboxError`.
    """
    async with AsyncExitStack() as services:
        with nullcontext() if as_json else show.waiting("starting the example services"):
            service = await services.enter_async_context(_service())
            shown = await _run(service)
        if as_json:
            rows = await outcomes(service) if everything else []
            show.print_json(shown.to_json() | ({"programs": rows} if everything else {}))
            as_meant = all(row["outcome"]["status"] == row["meant"] for row in rows)
        else:
            width = min(show.console.width, MOST_COLUMNS)
            show.console.print(screen(shown), width=width)
            as_meant = await tour(service) if everything else True
            show.console.print(next_commands(everything=everything), width=width)
    return 0 if as_meant else 1


@asynccontextmanager
async def _service() -> AsyncIterator[CodeMode]:
    """Enter a service over the example services. Its journal is removed at the end."""
    with TemporaryDirectory() as state:
        async with example_sources() as sources:
            settings = Settings.model_validate(
                {"sources": sources, "policy": POLICY, "journal": {"enabled": True}, "state_folder": state}
            )
            async with CodeMode.from_settings(settings) as service:
                yield service


async def _run(service: CodeMode) -> DemoResult:
    """Run the programs of the screen. Raises ExecutionFailed for one that did not end as expected."""
    program = (await service.execute(PROGRAM)).raise_for_status()
    paused = await service.execute(DESTRUCTIVE)
    if not paused.pending:
        paused.raise_for_status()
    (asked,) = paused.pending
    approved = (await _approved(service, asked)).raise_for_status()
    denied = await service.execute(DENIED)
    if [call.state for call in denied.calls] != [CallState.DENIED]:
        denied.raise_for_status()
    return DemoResult(PROGRAM, _cost(service), program, asked, APPROVER.id, approved, denied)


def _cost(service: CodeMode) -> CostReport:
    """Measure the first example service, whose tokens the documentation names."""
    return cost_of(Catalog(tool for tool in service.catalog if tool.namespace == "gym"), service.settings)


async def _approved(service: CodeMode, asked: PendingCall) -> ExecutionOutcome:
    """Approve a call in another role, and return the outcome of its execution."""
    await service.executions.decide([Decision(asked.id, asked.digest, "approved", by="")], APPROVER)
    await service.executions.resume(asked.execution, LOCAL)
    stored = await service.executions.wait(asked.execution, LOCAL, _WAIT_S)
    return ExecutionOutcome.from_json(stored.outcome)
