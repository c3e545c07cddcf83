"""Continue, cancel and decide on executions as the operator.

Access to the state folder makes the user the operator. The operator sees every execution, decides as `operator`, and
continues executions in this process on behalf of the callers who started them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from codemode.executions.types.outcome_lines import question_line
from codemode.executions.types.records import Decision
from codemode.executions.types.rollback import is_rollback
from codemode.model.programs import BEYOND_S
from codemode.serving.auth.callers import roles_of_today
from codemode.serving.cli.execution_list import PAGE, whole_id
from codemode.serving.cli.execution_output import print_execution
from codemode.serving.cli.project_options import operator_of
from codemode.serving.cli.stored import find_pending
from codemode.serving.executions import continue_after_decision, read_execution
from codemode.serving.output import terminal as show
from codemode.serving.output.exit_codes import exit_code_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codemode.executions.types.records import NewExecution, PendingCall, StoredExecution, Verdict
    from codemode.executions.types.remembered import RememberScope
    from codemode.service import CodeMode


async def resume(service: CodeMode, execution: str, *, as_json: bool) -> int:
    """Continue a paused execution, print it, and return the exit code."""
    service.executions.role_of = _roles(service)
    execution = await whole(service, execution)
    await service.executions.resume(execution, operator_of(service))
    return await print_ended(service, execution, as_json=as_json)


async def cancel(service: CodeMode, execution: str, *, as_json: bool) -> int:
    """Cancel an execution, and print it."""
    execution = await whole(service, execution)
    await service.executions.cancel(execution, operator_of(service))
    await _print(service, execution, as_json=as_json)
    return 0


async def decide(
    service: CodeMode,
    ids: Sequence[str],
    verdict: Verdict,
    *,
    note: str,
    as_json: bool,
    value: Any = None,
    up_to: int = 0,
    remember: RememberScope | Literal[""] = "",
) -> int:
    """Decide on calls as shown, run their executions to the end, and return the exit code."""
    operator = operator_of(service)
    service.executions.role_of = _roles(service)
    waiting = await _waiting(service, ids)
    if not as_json:
        for call in waiting:
            show.console.print(show.plain(f"{verdict}: {question_line(call)}"), soft_wrap=True)
    how: dict[str, Any] = {"by": "", "note": note, "value": value, "via": "command line", "up_to": up_to}
    how["remember"] = remember
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
            results[execution] = {"outcome": (await waited(service, execution)).outcome}
        else:
            code = max(code, await print_ended(service, execution, as_json=False))
    if as_json:
        show.print_json({"approvals": [call.to_json() for call in answered], "executions": results})
    return code


async def whole(service: CodeMode, execution: str) -> str:
    """Return the id of an execution, by its id or the beginning of it."""

    async def read(before: str) -> tuple[StoredExecution, ...]:
        return await service.executions.list(operator_of(service), limit=PAGE, before=before)

    return await whole_id(read, execution)


async def _waiting(service: CodeMode, ids: Sequence[str]) -> list[PendingCall]:
    operator = operator_of(service)
    return find_pending(
        ids, await service.executions.named(ids, operator), await service.executions.approvals(operator)
    )


async def waited(service: CodeMode, execution: str) -> StoredExecution:
    """Return an execution once it has ended or paused, or as it is when its time is surely over."""
    return await service.executions.wait(execution, operator_of(service), service.settings.limits.longest_s + BEYOND_S)


async def print_ended(service: CodeMode, execution: str, *, as_json: bool) -> int:
    """Wait for an execution, print it, and return the exit code."""
    stored = await waited(service, execution)
    await _print(service, execution, as_json=as_json)
    return exit_code_of(stored.status)


async def _print(service: CodeMode, execution: str, *, as_json: bool) -> None:
    found = await read_execution(service, execution, operator_of(service))
    if as_json:
        show.print_json(found)
    else:
        print_execution(found)


def _roles(service: CodeMode) -> Callable[[NewExecution], str | None]:
    """Return the role for continuing an execution: the owner's current role. A rollback may use any known role."""
    of_today = roles_of_today(service.settings, service.store)

    def role_of(given: NewExecution) -> str | None:
        return given.role if is_rollback(given) and given.role in service.discovery.policy.roles else of_today(given)

    return role_of
