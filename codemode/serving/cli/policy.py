"""`codemode policy explain | check | budgets`: explain a decision, find rules without effect, show what was spent."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from codemode.errors import ConfigurationError
from codemode.executions.journal.configured import store_of
from codemode.executions.types.ids import may_be_execution
from codemode.gateway.lint import without_effect
from codemode.serving.cli.project_options import (
    FOUND,
    AsJson,
    Config,
    ProjectOptions,
    Role,
    configuration,
    local_caller,
    with_project_options,
    with_service,
)
from codemode.serving.cli.stored import stored_execution, with_journal
from codemode.serving.cli.tables import print_table
from codemode.serving.output import terminal as show
from codemode.serving.output.exit_codes import errors_as_exit_codes
from codemode.settings import DEFAULT_ROLE, Secrets

if TYPE_CHECKING:
    from codemode.executions.journal.base import Journal
    from codemode.gateway.explanation import Explanation
    from codemode.service import CodeMode

app = typer.Typer(no_args_is_help=True, help="Explain decisions of the access policy, and check its rules.")


@app.command()
@with_project_options
def explain(
    project: ProjectOptions,
    tool: Annotated[str, typer.Argument(help="A tool's id or exact alias, or the id of an execution.")],
    role: Role = DEFAULT_ROLE,
    args: Annotated[str, typer.Option(help="The arguments, as a JSON object.")] = "",
    read_only: Annotated[bool, typer.Option("--read-only", help="Act as a read-only key.")] = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Show which rule decides on a call, and why earlier rules do not. Exit code 0 if always allowed, else 1.

    For an execution, show which rule decided on each of its calls, and why.
    """
    if may_be_execution(tool):
        with_journal(project, partial(_explain_execution, tool, as_json=as_json), as_json=as_json)

    async def work(service: CodeMode) -> int:
        from codemode.gateway.explanation import explain as explained

        caller = local_caller(service, role)
        found = explained(
            service.discovery.policy, service.catalog.find(tool), caller.role, _arguments(args), read_only=read_only
        )
        if as_json:
            show.print_json(found.to_json())
        else:
            _show(found)
        return 0 if found.decision == "allow" else 1

    with_service(project, work, needs_search=False, as_json=as_json)


@app.command()
def check(
    config: Config = FOUND,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Find rules that never decide. Exit code 0 for none, 1 for some, 2 for rules with unknown tools or roles."""

    async def work(service: CodeMode) -> int:
        found = list(without_effect(service.discovery.policy, service.catalog))
        if as_json:
            show.print_json([{"at": service.settings.place(*one.place), "problem": one.text} for one in found])
        for one in found if not as_json else ():
            show.console.print(show.plain(f"{service.settings.place(*one.place)}: {one.text}"), soft_wrap=True)
        if not found and not as_json:
            show.console.print(f"{len(service.discovery.policy.rules)} rules, all effective")
        return 1 if found else 0

    with_service(ProjectOptions(config), work, needs_search=False, as_json=as_json)


@app.command()
def budgets(config: Config = FOUND, as_json: AsJson = False) -> None:  # noqa: FBT002
    """Show what was spent of each budget today, on all servers."""
    from codemode.features.budgets.budgets import Budgets

    with errors_as_exit_codes(as_json=as_json):
        settings = configuration(config)
        with closing(store_of(settings, Secrets())) as store:
            lines = asyncio.run(Budgets(lambda: settings, store).spent())
        if as_json:
            show.print_json(lines)
        elif lines:
            rows = [
                (
                    one["budget"],
                    one["holder"] or f"({one['per']})",
                    _of(one["calls"], one["most_calls"]),
                    _of(one["amount"], one["most"]),
                    one["resets"],
                )
                for one in lines
            ]
            print_table(("budget", "of", "calls", "amount", "begins anew"), rows, may_be_cut=("of",))
        else:
            show.errors.print("there are no budgets: write `budgets` in the configuration")


def _of(spent: float, most: float | None) -> str:
    return f"{spent:g}" if most is None else f"{spent:g} of {most:g}"


async def _explain_execution(execution: str, journal: Journal, *, as_json: bool) -> int:
    stored = await stored_execution(journal, execution)
    reasons = {call.id: call.reason for call in await journal.pending(execution=execution)}
    calls = [
        {
            **{name: call.get(name, "") for name in ("path", "tool", "state", "decision", "rule")},
            "reason": reasons.get(call.get("question", ""), call.get("error", "")),
        }
        for call in (stored.outcome or {}).get("calls", ())
    ]
    if as_json:
        show.print_json({"execution": execution, "status": stored.status, "calls": calls})
        return 0
    for call in calls:
        line = "  ".join(call[name] for name in ("path", "tool", "state", "decision", "rule", "reason"))
        show.console.print(show.plain(line), soft_wrap=True)
    if not calls:
        show.console.print(f"{execution} has made no call, or none that is recorded yet")
    return 0


def _arguments(text: str) -> dict[str, Any] | None:
    if not text:
        return None
    try:
        value = json.loads(text)
    except ValueError as error:
        message = f"--args is not JSON: {error}"
        raise ConfigurationError(message) from None
    if not isinstance(value, dict):
        message = '--args is not a JSON object: write \'{"name": "value"}\''
        raise ConfigurationError(message)
    return value


def _show(found: Explanation) -> None:
    facts = f"{found.effect}, source {found.source}" + (f", tier {found.tier}" if found.tier else "")
    show.console.print(show.plain(f"{found.tool} ({facts}) called by role {found.role}"))
    table = Table(box=None, padding=(0, 2), show_header=False)
    for step in found.steps:
        table.add_row(step.rule, step.decision, show.plain(step.verdict))
    show.console.print(table)
    if not found.exists:
        show.console.print("no call is allowed: for this role the tool does not exist")
    elif not found.decision:
        show.console.print("the decision depends on the arguments: pass them with --args")
    else:
        why = f": {found.reason}" if found.reason else ""
        show.console.print(show.plain(f"{found.decision} by {found.rule}{why}"))
