"""Continue, cancel, decide on and roll back executions as the operator.

Access to the state folder makes the user the operator. The operator sees every execution, decides as `operator`, and
continues executions in this process on behalf of the callers who started them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codemode.executions.rollback import is_rollback
from codemode.executions.types.outcome_lines import question_line
from codemode.executions.types.records import Decision
from codemode.model.programs import BEYOND_S
from codemode.serving.auth.callers import roles_of_today
from codemode.serving.cli.execution_output import print_execution
from codemode.serving.cli.project_options import local_caller, operator_of
from codemode.serving.cli.stored import find_pending
from codemode.serving.executions import continue_after_decision, read_execution
from codemode.serving.output import terminal as show
from codemode.serving.output.exit_codes import exit_code_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codemode.executions.types.records import NewExecution, PendingCall, StoredExecution, Verdict
    from codemode.service import CodeMode


async def resume(service: CodeMode, execution: str, *, as_json: bool) -> int:
    """Continue a paused execution, print it, and return the exit code."""
    service.executions.role_of = _roles(service)
    await service.executions.resume(execution, operator_of(service))
    return await _ended(service, execution, as_json=as_json)


async def cancel(service: CodeMode, execution: str, *, as_json: bool) -> int:
    """Cancel an execution, and print it."""
    await service.executions.cancel(execution, operator_of(service))
    await _print(service, execution, as_json=as_json)
    return 0


async def rollback(service: CodeMode, execution: str, *, as_json: bool) -> int:
    """Undo the committed calls of an execution as its owner. Return exit code 1 if some were not undone."""
    given = (await service.executions.get(execution, operator_of(service))).given
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


async def decide(
    service: CodeMode,
    ids: Sequence[str],
    verdict: Verdict,
    *,
    note: str,
    as_json: bool,
    value: Any = None,
    up_to: int = 0,
) -> int:
    """Decide on calls as shown, run their executions to the end, and return the exit code."""
    operator = operator_of(service)
    service.executions.role_of = _roles(service)
    waiting = await _waiting(service, ids)
    if not as_json:
        for call in waiting:
            show.console.print(show.plain(f"{verdict}: {question_line(call)}"), soft_wrap=True)
    how: dict[str, Any] = {"by": "", "note": note, "value": value, "via": "command line", "up_to": up_to}
    decisions = [Decision(call.id, call.digest, verdict, **how) for call in waiting]
    answered = await service.executions.decide(decisions, operator)
    code = 0
    results = {}
    for execution in dict.fromkeys(call.execution for call in answered):
        after = await continue_after_decision(service, execution, operator)
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


async def _waiting(service: CodeMode, ids: Sequence[str]) -> list[PendingCall]:
    operator = operator_of(service)
    return find_pending(
        ids, await service.executions.named(ids, operator), await service.executions.approvals(operator)
    )


async def _waited(service: CodeMode, execution: str) -> StoredExecution:
    return await service.executions.wait(execution, operator_of(service), service.settings.limits.longest_s + BEYOND_S)


async def _ended(service: CodeMode, execution: str, *, as_json: bool) -> int:
    """Wait for an execution, print it, and return the exit code."""
    stored = await _waited(service, execution)
    await _print(service, execution, as_json=as_json)
    return exit_code_of(stored.status)


async def _print(service: CodeMode, execution: str, *, as_json: bool) -> None:
    found = await read_execution(service, execution, operator_of(service))
    if as_json:
        show.print_json(found)
    else:
        print_execution(found)


def _rollback_json(found: Any) -> dict[str, Any]:
    return {
        "execution": found.execution,
        "steps": [{"path": one.path, "tool": one.tool, "arguments": one.arguments} for one in found.steps],
        "left": [{"path": one.path, "tool": one.tool, "why": one.why} for one in found.left],
    }


def _roles(service: CodeMode) -> Callable[[NewExecution], str | None]:
    """Return the role for continuing an execution: the owner's current role. A rollback may use any known role."""
    of_today = roles_of_today(service.settings, service.store)

    def role_of(given: NewExecution) -> str | None:
        return given.role if is_rollback(given) and given.role in service.policy.roles else of_today(given)

    return role_of
