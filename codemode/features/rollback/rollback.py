"""Rollback: a program of the inverses that an execution's tools name, newest call first."""

from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from codemode.catalog.inverse import Inverse, InverseInvalid
from codemode.catalog.tool import Effect
from codemode.errors import RequestRepeated
from codemode.executions.life.programs import Request
from codemode.executions.life.visible import refuse_changed
from codemode.executions.run.ends import value_of
from codemode.executions.types.records import OPEN
from codemode.executions.types.rollback import Left, Rollback, Step
from codemode.features.feature import FeaturePart
from codemode.gateway.call import CallState
from codemode.transports.base import Page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool
    from codemode.executions.life.executions import Executions
    from codemode.executions.types.record import End, Record, RecordedCall
    from codemode.features.feature import Core
    from codemode.gateway.caller import Caller


class Rollbacks(FeaturePart):
    """Undoes executions of one journal."""

    def __init__(self, executions: Executions) -> None:
        self._executions = executions
        self._access = executions.access

    @classmethod
    def of(cls, core: Core) -> Self | None:
        """See `FeaturePart`."""
        return cls(core.executions) if core.executions is not None else None

    async def start(
        self, execution: str, caller: Caller, credentials: Mapping[str, str] = MappingProxyType({})
    ) -> Rollback:
        """Start an execution that undoes committed calls, newest first, as far as their tools name an inverse.

        The same policy applies. A repeated rollback continues where the previous one failed. Raises ExecutionNotFound,
        also for an execution of another key, and LeaseHeld while the execution runs.
        """
        planned = await self.plan(execution, caller)
        if not planned.steps:
            return planned
        request = Request(planned.program(), credentials, key=f"rollback {execution}", digest=execution)
        return await self._begun(planned, request, caller)

    async def plan(self, execution: str, caller: Caller) -> Rollback:
        """Return what `start` would undo, and start nothing. Raises the same errors."""
        programs, visible = self._access.programs, self._access.visible
        stored = await visible.own(execution, caller)
        refuse_changed(execution, programs.moved(stored.request, self._access.journal.digest))
        return plan(await visible.record(stored), await programs.catalog(caller))

    async def _begun(self, planned: Rollback, request: Request, caller: Caller) -> Rollback:
        """Start a rollback's execution. Continue an earlier one that failed, and return one that did not."""
        while True:
            try:
                return replace(planned, execution=await self._executions.start(request, caller))
            except RequestRepeated as repeated:
                earlier = await self._access.journal.get(repeated.execution)
                if earlier.status in (*OPEN, "completed"):
                    return replace(planned, execution=earlier.request.id)
                again = f"rollback {earlier.request.id}"
                request = replace(request, resume_from=earlier.request.id, key=again)


def plan(record: Record, catalog: Catalog) -> Rollback:
    """Return what the current tools can undo of an execution."""
    steps: list[Step] = []
    left: list[Left] = []
    for call in sorted(record.calls.values(), key=lambda one: one.sequence, reverse=True):
        if call.effect in ("", Effect.READ):
            continue
        if call.end is None or call.end.state is CallState.UNKNOWN:
            left.append(Left(call.path, call.tool, "it is unknown whether it took effect"))
        elif call.end.state is CallState.COMMITTED:
            inverse = _inverse(call, catalog)
            steps.append(inverse) if isinstance(inverse, Step) else left.append(inverse)
    return Rollback(tuple(steps), tuple(left))


def _inverse(call: RecordedCall, catalog: Catalog) -> Step | Left:
    assert call.end is not None  # noqa: S101 - it was committed
    reused = call.end.facts.get("reused")
    if reused:
        return Left(call.path, call.tool, f"it was made by {str(reused).partition(' ')[0]}: roll that execution back")
    text = catalog.get(call.tool).revert if call.tool in catalog else ""
    if not text:
        return Left(call.path, call.tool, "its tool names no inverse")
    if call.end.is_error:
        return Left(call.path, call.tool, "its answer was unusable, so the arguments of its inverse are unknown")
    try:
        inverse = Inverse.parse(text)
        arguments = inverse.arguments(result=_value(call.end, is_page=call.is_page), arguments=call.arguments)
    except InverseInvalid as error:
        return Left(call.path, call.tool, str(error))
    name = _named(inverse.tool, call.tool.partition(".")[0], catalog)
    if name is None:
        return Left(call.path, call.tool, f"its inverse {inverse.tool} is not in the catalog")
    if "[secret " in json.dumps(arguments):
        return Left(call.path, call.tool, "its inverse needs a secret, and secrets are not recorded")
    return Step(call.path, name, arguments | _account(call, catalog.get(name)))


def _account(call: RecordedCall, inverse: Tool) -> dict[str, Any]:
    """Return the argument by which the inverse is made as whom the call was made."""
    is_choice = call.account and inverse.account_parameter and inverse.source == call.tool.partition(".")[0]
    return {inverse.account_parameter: call.account.partition(" ")[0]} if is_choice else {}


def _value(end: End, *, is_page: bool) -> Any:
    answer = value_of(end, is_page=is_page)
    return answer.value if isinstance(answer, Page) else answer


def _named(name: str, namespace: str, catalog: Catalog) -> str | None:
    """Return the id of a tool in the namespace, or else in the whole catalog."""
    return next((catalog.get(one).id for one in (f"{namespace}.{name}", name) if one in catalog), None)
