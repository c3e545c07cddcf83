"""Roll executions back as the operator, on behalf of the callers who started them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codemode.features.rollback.rollback import Rollbacks
from codemode.serving.cli.execution_control import print_ended, waited
from codemode.serving.cli.project_options import local_caller, operator_of
from codemode.serving.output import terminal as show

if TYPE_CHECKING:
    from codemode.service import CodeMode


async def rollback(service: CodeMode, execution: str, *, as_json: bool) -> int:
    """Undo the committed calls of an execution as its owner. Return exit code 1 if some were not undone."""
    given = (await service.executions.get(execution, operator_of(service))).request
    owner = replace(local_caller(service, given.role), id=given.owner)
    found = await service.part(Rollbacks).start(execution, owner)
    if found.execution and not as_json:
        await print_ended(service, found.execution, as_json=False)
    if as_json:
        outcome = await waited(service, found.execution) if found.execution else None
        show.print_json({**_rollback_json(found), "outcome": outcome and outcome.outcome})
    for one in () if as_json else found.left:
        show.console.print(show.plain(f"not undone: {one.tool} ({one.path}): {one.why}"), soft_wrap=True)
    if not (found.execution or found.left or as_json):
        show.console.print("nothing to undo: no write was committed")
    return 0 if not found.left else 1


def _rollback_json(found: Any) -> dict[str, Any]:
    return {
        "execution": found.execution,
        "steps": [{"path": one.path, "tool": one.tool, "arguments": one.arguments} for one in found.steps],
        "left": [{"path": one.path, "tool": one.tool, "why": one.why} for one in found.left],
    }
