"""`codemode plans`: show the lists of dry runs, approve or reject them as a whole, and run them.

Access to the state folder makes the user the operator, who decides as `operator` and runs a plan as its owner.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from codemode.errors import ConfigurationError
from codemode.executions.types.ids import may_be_plan
from codemode.serving.cli.project_options import (
    AsJson,
    Project,
    ProjectOptions,
    local_caller,
    operator_of,
    with_project_options,
    with_service,
)
from codemode.serving.cli.stored import with_journal
from codemode.serving.cli.tables import print_table
from codemode.serving.output import terminal as show
from codemode.serving.output.exit_codes import exit_code_of

if TYPE_CHECKING:
    from codemode.executions.journal.base import Journal
    from codemode.executions.types.plan import Plan, PlanVerdict
    from codemode.service import CodeMode

app = typer.Typer(no_args_is_help=True, help="Show the lists of dry runs, approve them as a whole, and run them.")

PlanId = Annotated[str, typer.Argument(metavar="PLAN", help="The id of a plan, as a dry run prints it.")]
Note = Annotated[str, typer.Option(help="Reason, recorded with the decision.")]


@app.command("list")
@with_project_options
def list_plans(project: Project, as_json: AsJson = False) -> None:  # noqa: FBT002
    """List the newest 100 plans, newest first."""

    async def work(journal: Journal) -> int:
        from codemode.features.plans.table import PlanTable

        found = await PlanTable(journal).list("", 100)
        if as_json:
            show.print_json([plan.to_json(_now_us()) for plan in found])
        elif found:
            rows = [(plan.id, plan.status(_now_us()), plan.owner, str(len(plan.calls)), _first(plan)) for plan in found]
            print_table(("plan", "status", "owner", "calls", "program"), rows, may_be_cut=("program",))
        else:
            show.errors.print("there is no plan: `codemode run PROGRAM --dry-run` makes one")
        return 0

    with_journal(project, work, as_json=as_json)


@app.command("show")
@with_project_options
def show_plan(project: Project, plan: PlanId, as_json: AsJson = False) -> None:  # noqa: FBT002
    """Show one plan: its program, and the calls that it lists."""

    async def work(journal: Journal) -> int:
        from codemode.features.plans.table import PlanTable

        _require_id(plan)
        _print(await PlanTable(journal).get(plan), as_json=as_json)
        return 0

    with_journal(project, work, as_json=as_json)


@app.command()
@with_project_options
def approve(project: ProjectOptions, plan: PlanId, note: Note = "", as_json: AsJson = False) -> None:  # noqa: FBT002
    """Approve a plan as a whole, once and with the arguments that it lists. Nothing runs."""
    _decide(project, plan, "approved", note, as_json=as_json)


@app.command()
@with_project_options
def reject(project: ProjectOptions, plan: PlanId, note: Note = "", as_json: AsJson = False) -> None:  # noqa: FBT002
    """Reject a plan. It can then not be run."""
    _decide(project, plan, "rejected", note, as_json=as_json)


@app.command("run")
@with_project_options
def run_plan(project: ProjectOptions, plan: PlanId, as_json: AsJson = False) -> None:  # noqa: FBT002
    """Run the program of an approved plan, once and as its owner. A write that the plan does not list waits."""

    async def work(service: CodeMode) -> int:
        from codemode.features.plans.plans import Plans

        found = await service.part(Plans).get(plan, operator_of(service))
        owner = replace(local_caller(service, found.role), id=found.owner)
        ended = await service.execute("", plan=plan, caller=owner)
        if as_json:
            show.print_json(ended.to_json())
        else:
            show.print_outcome(ended)
        return exit_code_of(ended.status)

    with_service(project, work, needs_search=False, as_json=as_json)


def _decide(project: ProjectOptions, plan: str, verdict: PlanVerdict, note: str, *, as_json: bool) -> None:
    async def work(service: CodeMode) -> int:
        from codemode.features.plans.plans import Plans

        who, plans = operator_of(service), service.part(Plans)
        found = await plans.get(plan, who)
        _print(await plans.decide(plan, found.digest, verdict, who, note=note), as_json=as_json)
        return 0

    with_service(project, work, needs_sources=False, as_json=as_json)


def _print(plan: Plan, *, as_json: bool) -> None:
    if as_json:
        show.print_json(plan.to_json(_now_us()))
        return
    status = plan.status(_now_us())
    used = f" by {plan.execution}" if plan.execution else ""
    show.console.print(show.plain(f"{plan.id}  {status}{used}  of {plan.owner}", style="bold"))
    show.console.print(show.program(plan.code))
    for call in plan.calls:
        show.console.print(show.plain(str(call)), soft_wrap=True)
    steps = {"pending": f"codemode plans approve {plan.id} (or reject)", "approved": f"codemode plans run {plan.id}"}
    if status in steps:
        show.errors.print(show.plain(f"next: {steps[status]}", style="bold"), soft_wrap=True)


def _require_id(plan: str) -> None:
    if not may_be_plan(plan):
        message = f"{plan!r} is no id of a plan: `codemode plans list` shows them"
        raise ConfigurationError(message)


def _first(plan: Plan) -> str:
    return plan.code.strip().partition("\n")[0]


def _now_us() -> int:
    return time.time_ns() // 1000
