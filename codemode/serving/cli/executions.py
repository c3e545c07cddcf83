"""`codemode executions` and `codemode approvals`: inspect and continue executions, and decide on calls.

Access to the state folder makes the user the operator. The operator sees every execution, decides as `operator`, and
continues executions in this process on behalf of the callers who started them.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from codemode.errors import ApprovalRefused, ConfigurationError
from codemode.executions.journal.base import Decision, ExecutionStatus
from codemode.executions.rollback import is_rollback
from codemode.gateway.caller import Caller
from codemode.serving.auth.callers import roles_of_today
from codemode.serving.cli import terminal as show
from codemode.serving.cli.surface import AsJson, Surface, local_caller, on_surface, with_service
from codemode.serving.executions import BEYOND_S, brief, gone_on, whole
from codemode.settings import DEFAULT_ROLE
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.executions.journal.base import NewExecution, PendingCall, StoredExecution, Verdict
    from codemode.service import CodeMode

executions = typer.Typer(no_args_is_help=True, help="Show, continue, cancel and roll back executions.")
approvals = typer.Typer(no_args_is_help=True, help="Show calls that wait for a person, and decide on them.")

Execution = Annotated[str, typer.Argument(help="The id of an execution.")]
Calls = Annotated[list[str], typer.Argument(help="Ids of calls, from `codemode approvals list`.")]
Note = Annotated[str, typer.Option(help="A note for the program and for readers of the journal.")]

_MICROSECONDS = 1_000_000

_LEFT = "{0}: its process died while it ran; `codemode executions resume {0}` continues it, `cancel` ends it"


@executions.command("list")
@on_surface
def list_executions(
    surface: Surface,
    status: Annotated[str, typer.Option(help="Only executions with this status: completed, failed, paused, …")] = "",
    limit: Annotated[int, typer.Option(help="Maximum number of executions.", min=1, max=500)] = 20,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """List executions, newest first."""

    async def work(service: CodeMode) -> int:
        found = await service.executions.list(_operator(service), status=_status(status), limit=limit)
        left = await service.executions.orphans()
        if as_json:
            show.print_json([{**brief(stored), "orphaned": stored.given.id in left} for stored in found])
            return 0
        _print_list(found)
        for stored in found:
            if stored.damage:
                show.errors.print(show.plain(stored.damage, style="red"), soft_wrap=True)
            elif stored.given.id in left:
                show.errors.print(show.plain(_LEFT.format(stored.given.id), style="yellow"), soft_wrap=True)
        return 0

    with_service(surface, work, needs_sources=False, as_json=as_json)


@executions.command("show")
@on_surface
def show_execution(
    surface: Surface,
    execution: Execution,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Show one execution: its program, its calls, and what it waits for."""

    async def work(service: CodeMode) -> int:
        await _print_execution(service, execution, as_json=as_json)
        return 0

    with_service(surface, work, needs_sources=False, as_json=as_json)


@executions.command()
@on_surface
def resume(
    surface: Surface,
    execution: Execution,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Continue a paused execution. Completed calls are not repeated."""

    async def work(service: CodeMode) -> int:
        service.executions.role_of = _roles(service)
        await service.executions.resume(execution, _operator(service))
        return await _ended(service, execution, as_json=as_json)

    with_service(surface, work, needs_sources=False, as_json=as_json)


@executions.command()
@on_surface
def cancel(
    surface: Surface,
    execution: Execution,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Cancel an execution that waits, or whose server died."""

    async def work(service: CodeMode) -> int:
        await service.executions.cancel(execution, _operator(service))
        await _print_execution(service, execution, as_json=as_json)
        return 0

    with_service(surface, work, needs_sources=False, as_json=as_json)


@executions.command()
@on_surface
def decide(
    surface: Surface,
    call: Annotated[str, typer.Argument(help="The id of a call with an unknown result.")],
    verdict: Annotated[str, typer.Argument(help="committed, failed, or send_again.")],
    value: Annotated[str, typer.Option(help="With committed: the call's answer, as JSON.")] = "null",
    note: Note = "",
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Record what happened to a call that was running when its server died, and continue its execution."""

    async def work(service: CodeMode) -> int:
        return await _decide(service, [call], _verdict(verdict), note=note, value=_value(value), as_json=as_json)

    with_service(surface, work, needs_sources=False, as_json=as_json)


@executions.command()
@on_surface
def rollback(
    surface: Surface,
    execution: Execution,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Undo the committed calls of an execution, where its tools name an inverse (`revert`)."""

    async def work(service: CodeMode) -> int:
        given = (await service.executions.get(execution, _operator(service))).given
        owner = replace(local_caller(service, given.role), id=given.owner)
        found = await service.executions.rollback(execution, owner)
        if found.execution and not as_json:
            await _ended(service, found.execution, as_json=False)
        if as_json:
            outcome = await _waited(service, found.execution) if found.execution else None
            show.print_json({**_rollback_json(found), "outcome": outcome and outcome.outcome})
        for one in () if as_json else found.left:
            show.console.print(show.plain(f"not undone: {one.tool} ({one.path}): {one.why}"), soft_wrap=True)
        if not (found.execution or found.left or as_json):
            show.console.print("nothing to undo: no write was committed")
        return 0 if not found.left else 1

    with_service(surface, work, needs_sources=False, as_json=as_json)


@approvals.command("list")
@on_surface
def list_approvals(
    surface: Surface,
    execution: Annotated[str, typer.Option(help="Only calls of this execution.")] = "",
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """List calls that wait for a person, oldest first."""

    async def work(service: CodeMode) -> int:
        waiting = await service.executions.approvals(_operator(service), execution)
        if as_json:
            show.print_json([call.to_json() for call in waiting])
        else:
            for call in waiting:
                show.console.print(show.plain(_line(call)), soft_wrap=True)
            if not waiting:
                show.errors.print("no call waits for a person")
        return 0

    with_service(surface, work, needs_sources=False, as_json=as_json)


@approvals.command("show")
@on_surface
def show_approval(
    surface: Surface,
    call: Annotated[str, typer.Argument(help="The id of a call.")],
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Show one pending call with all of its arguments, and the program that makes it."""

    async def work(service: CodeMode) -> int:
        (found,) = await _waiting(service, [call])
        given = (await service.executions.get(found.execution, _operator(service))).given
        if as_json:
            show.print_json({**found.to_json(), "code": given.code})
        else:
            show.console.print(show.plain(_line(found)), soft_wrap=True)
            show.console.print(show.plain(json.dumps(dict(found.arguments), indent=2, ensure_ascii=False)))
            show.console.print(show.program(given.code))
        return 0

    with_service(surface, work, needs_sources=False, as_json=as_json)


@approvals.command()
@on_surface
def approve(surface: Surface, calls: Calls, note: Note = "", as_json: AsJson = False) -> None:  # noqa: FBT002
    """Approve these calls, once and with these arguments. Executions with no other pending calls continue."""

    async def work(service: CodeMode) -> int:
        return await _decide(service, calls, "approved", note=note, as_json=as_json)

    with_service(surface, work, needs_sources=False, as_json=as_json)


@approvals.command()
@on_surface
def reject(surface: Surface, calls: Calls, note: Note = "", as_json: AsJson = False) -> None:  # noqa: FBT002
    """Reject these calls. Their programs get an error that they may handle."""

    async def work(service: CodeMode) -> int:
        return await _decide(service, calls, "rejected", note=note, as_json=as_json)

    with_service(surface, work, needs_sources=False, as_json=as_json)


async def _decide(
    service: CodeMode, ids: list[str], verdict: Verdict, *, note: str, as_json: bool, value: Any = None
) -> int:
    """Decide on calls as shown, and run their executions to the end."""
    operator = _operator(service)
    service.executions.role_of = _roles(service)
    waiting = await _waiting(service, ids)
    if not as_json:
        for call in waiting:
            show.console.print(show.plain(f"{verdict}: {_line(call)}"), soft_wrap=True)
    decisions = [Decision(call.id, call.digest, verdict, by="", note=note, value=value) for call in waiting]
    answered = await service.executions.decide(decisions, operator)
    code = 0
    results = {}
    for execution in dict.fromkeys(call.execution for call in answered):
        after = await gone_on(service, execution, operator)
        if after["reason"]:
            results[execution] = after
            if not as_json:
                show.console.print(show.plain(f"{execution}: {after['reason']}", style="yellow"), soft_wrap=True)
        elif as_json:
            results[execution] = {"outcome": (await _waited(service, execution)).outcome}
        else:
            code = max(code, await _ended(service, execution, as_json=False))
    if as_json:
        show.print_json({"approvals": [call.to_json() for call in answered], "executions": results})
    return code


async def _waiting(service: CodeMode, ids: list[str]) -> list[PendingCall]:
    there = {call.id: call for call in await service.executions.approvals(_operator(service))}
    absent = [id_ for id_ in ids if id_ not in there]
    if absent:
        message = f"no pending call {', '.join(absent)}; pending calls: {', '.join(there) or 'none'}"
        raise ApprovalRefused(message)
    return [there[id_] for id_ in ids]


async def _waited(service: CodeMode, execution: str) -> StoredExecution:
    return await service.executions.wait(execution, _operator(service), service.settings.limits.wall_s + BEYOND_S)


async def _ended(service: CodeMode, execution: str, *, as_json: bool) -> int:
    """Wait for an execution, show it, and return the exit code."""
    stored = await _waited(service, execution)
    await _print_execution(service, execution, as_json=as_json)
    return 0 if stored.status == "completed" else 1


async def _print_execution(service: CodeMode, execution: str, *, as_json: bool) -> None:
    found = await whole(service, execution, _operator(service))
    if as_json:
        show.print_json(found)
        return
    outcome = found["outcome"] or {}
    show.console.print(show.plain(f"{execution}  {found['status']}  of {found['owner']}", style="bold"))
    show.console.print(show.program(found["code"]))
    for call in outcome.get("calls", ()):
        arguments = ", ".join(f"{name}={value!r}" for name, value in call["arguments"].items())
        reused = f" (from {call['reused']})" if call.get("reused") else ""
        show.console.print(show.plain(f"{call['state']:<12} {call['tool']}({arguments}){reused}"), soft_wrap=True)
    if outcome.get("output"):
        show.console.print(show.shortened("output", outcome["output"].rstrip("\n")))
    if outcome.get("has_value"):
        show.console.print(show.shortened("answer", json.dumps(outcome["value"], indent=2, ensure_ascii=False)))
    failure = outcome.get("failure")
    if failure:
        show.console.print(show.plain(f"{failure['type']}: {failure['message']}", style="red"), soft_wrap=True)
    for call in found["pending"]:
        show.console.print(
            show.plain(f"pending: {call['id']}  {call['tool']} at {call['host']}", style="yellow"), soft_wrap=True
        )
    for note in outcome.get("notes", ()):
        show.console.print(show.plain(f"note: {note}", style="dim"), soft_wrap=True)


def _rollback_json(found: Any) -> dict[str, Any]:
    return {
        "execution": found.execution,
        "steps": [{"path": one.path, "tool": one.tool, "arguments": one.arguments} for one in found.steps],
        "left": [{"path": one.path, "tool": one.tool, "why": one.why} for one in found.left],
    }


def _roles(service: CodeMode) -> Callable[[NewExecution], str | None]:
    """Return the role for continuing an execution: the owner's current role. A rollback may use any known role."""
    of_today = roles_of_today(service.settings)

    def role_of(given: NewExecution) -> str | None:
        return given.role if is_rollback(given) and given.role in service.policy.roles else of_today(given)

    return role_of


def _operator(service: CodeMode) -> Caller:
    return Caller("operator", next(iter(service.settings.policy.approvers), DEFAULT_ROLE))


def _status(text: str) -> ExecutionStatus | None:
    known = get_args(ExecutionStatus)
    if text and text not in known:
        message = f"--status: {text!r} is not one of {', '.join(known)}{did_you_mean(text, known)}"
        raise ConfigurationError(message)
    return next((status for status in known if status == text), None)


def _verdict(text: str) -> Verdict:
    match text.replace("-", "_"):
        case "committed" | "failed" | "send_again" as verdict:
            return verdict
        case _:
            message = f"verdict {text!r} is not one of committed, failed, send_again"
            raise ConfigurationError(message)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        message = f"--value is not JSON: {error}"
        raise ConfigurationError(message) from None


def _line(call: PendingCall) -> str:
    if call.damage:
        return f"{call.id}  {call.damage}"
    arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
    asks = "what happened to" if call.kind == "unknown" else "approve"
    why = f": {call.reason}" if call.reason else ""
    at = f" at {call.host}" if call.host else ""
    return f"{call.id}  {asks} {call.tool}({arguments}){at}  [{call.execution}]{why}"


def _print_list(found: tuple[StoredExecution, ...]) -> None:
    """Print one line per execution without wrapping, so that ids can be copied."""
    rows = [("execution", "status", "owner", "started", "program"), *map(_row, found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for at, row in enumerate(rows):
        line = "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        show.console.print(show.plain(line, style="" if at else "dim"), soft_wrap=True)


def _row(stored: StoredExecution) -> tuple[str, ...]:
    started = datetime.fromtimestamp(stored.given.start_us / _MICROSECONDS, UTC).strftime("%Y-%m-%d %H:%M:%S")
    first = "(damaged)" if stored.damage else stored.given.code.strip().partition("\n")[0]
    return stored.given.id, stored.status, stored.given.owner, started, first[:60]
