"""`codemode executions` and `codemode approvals`: inspect and continue executions, and decide on calls.

Commands that only read open the journal alone. The others start the service and act as the operator.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from codemode.errors import ConfigurationError
from codemode.executions.journal.expired import expired_executions
from codemode.executions.types.records import PAGE, ExecutionStatus
from codemode.features.cards.desk import whole_card
from codemode.serving.cli.execution_list import FAILED, Shown
from codemode.serving.cli.execution_list import since as begin
from codemode.serving.cli.execution_output import (
    print_card,
    print_execution,
    print_executions,
    print_expired,
    print_pending,
)
from codemode.serving.cli.project_options import AsJson, Project, ProjectOptions, with_project_options, with_service
from codemode.serving.cli.stored import find_pending, labels_of_keys, pages, stored_execution, with_journal
from codemode.serving.executions import execution_json, summary_json
from codemode.serving.output import terminal as show
from codemode.serving.output.exit_codes import errors_as_exit_codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.executions.journal.base import Journal
    from codemode.executions.types.records import Verdict
    from codemode.executions.types.remembered import RememberScope
    from codemode.service import CodeMode

executions = typer.Typer(no_args_is_help=True, help="Show, continue, cancel and roll back executions.")
approvals = typer.Typer(no_args_is_help=True, help="Show calls that wait for a person, and decide on them.")

Execution = Annotated[str, typer.Argument(help="The id of an execution, or the beginning of it.")]
Calls = Annotated[list[str], typer.Argument(help="Ids of calls, from `codemode approvals list`.")]
Remember = Literal["conversation", "hour"]
Note = Annotated[str, typer.Option(help="A note for the program and for readers of the journal.")]


@executions.command("list")
@with_project_options
def list_executions(
    project: Project,
    status: Annotated[ExecutionStatus | None, typer.Option(help="Only executions with this status.")] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only executions that ended otherwise than meant.")] = False,  # noqa: FBT002
    since: Annotated[
        str, typer.Option(help="Only executions since then: today, yesterday, 3h, 2d, or 2026-11-27T08:00.")
    ] = "",
    limit: Annotated[int, typer.Option(help="Maximum number of executions.", min=1, max=500)] = 20,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """List executions, newest first."""

    async def work(journal: Journal) -> int:
        shown = Shown(FAILED if failed else (), begin(since, datetime.now().astimezone()) if since else 0)
        listed = await shown.of(pages(journal, status), limit)
        left = await journal.orphans()
        if as_json:
            show.print_json([{**summary_json(stored), "orphaned": stored.request.id in left} for stored in listed])
        else:
            print_executions(listed, left, labels_of_keys(project.settings()))
        return 0

    with errors_as_exit_codes(as_json=as_json):
        if status and failed:
            message = "--status and --failed exclude each other: use one of them"
            raise ConfigurationError(message)
    with_journal(project, work, as_json=as_json)


@executions.command("show")
@with_project_options
def show_execution(
    project: Project,
    execution: Execution,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Show one execution: its program, its calls, and what it waits for."""

    async def work(journal: Journal) -> int:
        stored = await stored_execution(journal, execution)
        waiting = await journal.pending(execution=execution) if stored.status == "paused" else ()
        found = execution_json(stored, waiting)
        if as_json:
            show.print_json(found)
        else:
            print_execution(found)
        return 0

    with_journal(project, work, as_json=as_json)


@executions.command()
@with_project_options
def resume(
    project: ProjectOptions,
    execution: Execution,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Continue a paused execution. Completed calls are not repeated."""

    async def work(service: CodeMode) -> int:
        from codemode.serving.cli import execution_control

        return await execution_control.resume(service, execution, as_json=as_json)

    with_service(project, work, needs_sources=False, as_json=as_json)


@executions.command()
@with_project_options
def cancel(
    project: Project,
    execution: Execution,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Cancel an execution. Another server that runs it stops it."""

    async def work(service: CodeMode) -> int:
        from codemode.serving.cli import execution_control

        return await execution_control.cancel(service, execution, as_json=as_json)

    with_service(project, work, needs_sources=False, as_json=as_json)


@executions.command()
@with_project_options
def decide(
    project: ProjectOptions,
    call: Annotated[str, typer.Argument(help="The id of a call with an unknown result.")],
    verdict: Annotated[
        Literal["committed", "failed", "send_again"], typer.Argument(help="What happened to the call, or what to do.")
    ],
    value: Annotated[str, typer.Option(help="With committed: the call's answer, as JSON.")] = "null",
    note: Note = "",
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Record what happened to a call that was running when its server died, and continue its execution."""
    _decide(project, [call], verdict, note=note, value=value, as_json=as_json)


@executions.command()
@with_project_options
def rollback(
    project: ProjectOptions,
    execution: Execution,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Undo the committed calls of an execution, where its tools name an inverse (`revert`)."""

    async def work(service: CodeMode) -> int:
        from codemode.serving.cli.execution_control import whole
        from codemode.serving.cli.rollback import rollback as roll_back

        return await roll_back(service, await whole(service, execution), as_json=as_json)

    with_service(project, work, needs_sources=False, as_json=as_json)


@approvals.command("list")
@with_project_options
def list_approvals(
    project: Project,
    execution: Annotated[str, typer.Option(help="Only calls of this execution.")] = "",
    after: Annotated[str, typer.Option(help="Only calls after this one, for the next page.")] = "",
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """List up to 100 calls that wait for a person, oldest first, and name those that expired lately."""

    async def work(journal: Journal) -> int:
        whole = ""
        if execution:
            # An unknown id is an error.
            whole = (await stored_execution(journal, execution)).request.id
        waiting = await journal.waiting(execution=whole, after=after)
        if as_json:
            show.print_json([call.to_json() for call in waiting])
        else:
            print_pending(waiting)
            if len(waiting) == PAGE:
                show.console.print(f"those after {waiting[-1].id}: --after {waiting[-1].id}")
        print_expired([one for one in await expired_executions(journal) if whole in ("", one.execution)])
        return 0

    with_journal(project, work, as_json=as_json)


@approvals.command("show")
@with_project_options
def show_approval(
    project: Project,
    call: Annotated[str, typer.Argument(help="The id of a call, or the beginning of it.")],
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Show the card of a call: what it does, what is known of its arguments, what differs, and the program."""

    async def work(journal: Journal) -> int:
        known = await journal.pending(unanswered=False, question=call)
        waiting = () if known else await journal.waiting()
        begun = [one for one in waiting if one.id.startswith(call)]
        # The beginning of one id shows it. Decisions take whole ids.
        (found,) = begun if len(begun) == 1 else find_pending([call], known, waiting)
        stored = await stored_execution(journal, found.execution)
        card = await whole_card(journal, found, stored, public_url=project.settings().server.public_url)
        card, code = replace(card, shows_via=True), stored.request.code
        if as_json:
            show.print_json({**card.to_json(), "code": code})
        else:
            print_card(card, code)
        return 0

    with_journal(project, work, as_json=as_json)


@approvals.command()
@with_project_options
def approve(
    project: ProjectOptions,
    calls: Calls,
    note: Note = "",
    up_to: Annotated[
        int,
        typer.Option(help="Also approve other calls of the tool in the execution, up to this number.", min=0, max=1000),
    ] = 0,
    remember: Annotated[
        Remember | None,
        typer.Option(help="Also approve the same call later: in the conversation, or for an hour of the same key."),
    ] = None,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Approve these calls, once and with these arguments. Executions with no other pending calls continue."""
    scope = remember or ""
    _decide(project, calls, "approved", note=note, as_json=as_json, up_to=up_to, remember=scope)


@approvals.command()
@with_project_options
def reject(project: ProjectOptions, calls: Calls, note: Note = "", as_json: AsJson = False) -> None:  # noqa: FBT002
    """Reject these calls. Their programs get an error that they may handle."""
    _decide(project, calls, "rejected", note=note, as_json=as_json)


@approvals.command()
@with_project_options
def answer(
    project: ProjectOptions,
    call: Annotated[str, typer.Argument(help="The id of a call whose service asks a question.")],
    value: Annotated[str, typer.Argument(help="The content of the form, as JSON.")] = "{}",
    decline: Annotated[bool, typer.Option("--decline", help="Decline to answer.")] = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Answer a question of a service. Its execution continues, and the call is sent again with the answer."""
    _decide(project, [call], "declined" if decline else "answered", note="", value=value, as_json=as_json)


@approvals.command()
@with_project_options
def remembered(project: ProjectOptions, as_json: AsJson = False) -> None:  # noqa: FBT002
    """List the approvals that also cover the same call later, and until when."""

    async def work(service: CodeMode) -> int:
        from codemode.serving.cli import decisions

        return await decisions.print_remembered(service, as_json=as_json)

    with_service(project, work, needs_sources=False, as_json=as_json)


@approvals.command()
@with_project_options
def forget(
    project: ProjectOptions,
    decision: Annotated[str, typer.Argument(help="The id of a remembered decision: rd_….")],
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """End a remembered decision: the next such call asks a person."""

    async def work(service: CodeMode) -> int:
        from codemode.serving.cli import decisions

        return await decisions.forget(service, decision, as_json=as_json)

    with_service(project, work, needs_sources=False, as_json=as_json)


def _decide(
    project: ProjectOptions,
    calls: Sequence[str],
    verdict: Verdict,
    *,
    note: str,
    as_json: bool,
    value: str = "null",
    up_to: int = 0,
    remember: RememberScope | Literal[""] = "",
) -> None:
    async def work(service: CodeMode) -> int:
        from codemode.serving.cli import execution_control

        answer = _value(value)
        return await execution_control.decide(
            service, calls, verdict, note=note, value=answer, as_json=as_json, up_to=up_to, remember=remember
        )

    with_service(project, work, needs_sources=False, as_json=as_json)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        message = f"--value is not JSON: {error}"
        raise ConfigurationError(message) from None
