"""Dry runs: reads are sent. Writes, and calls that need a person, are listed and return placeholders.

A read with a placeholder among its arguments is not sent either. Plugins are not asked about calls that are not sent.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codemode.catalog.next_page import items_of
from codemode.catalog.paging import walked
from codemode.catalog.saved import SAVED
from codemode.catalog.tool import Effect
from codemode.executions.run.call_session import CallSession
from codemode.executions.run.failures import for_program
from codemode.executions.run.placeholders import Placeholders
from codemode.executions.run.replay.dependencies import call_facts, meaning
from codemode.executions.types.planned import Listing, PlannedCall
from codemode.gateway.call import CallState
from codemode.gateway.policy import READ_ONLY, Decision
from codemode.transports.base import Page

if TYPE_CHECKING:
    from codemode.executions.run.call_session import Send
    from codemode.gateway.call import JudgedCall, ToolCall

#: Notes on every dry run, and on one whose program continued with placeholders.
_NOTHING_CHANGED = "dry run: writes were listed and not sent"
_MAY_DIFFER = (
    "the program continued with placeholders for the answers of planned calls: if it branches on one, a real run may "
    "make other calls; reads after a planned call do not see it"
)


class DryRunSession(CallSession):
    """Answers the calls of a program in a dry run, and adds what it does not send to `listing`."""

    def __init__(self, *arguments: Any, listing: Listing | None = None, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._listing = listing or Listing()
        self._placeholders = Placeholders()
        self.ledger.note(_NOTHING_CHANGED)

    @property
    def planned(self) -> tuple[PlannedCall, ...]:
        """See `CallSession`."""
        return tuple(self._listing.calls)

    async def _make(self, call: ToolCall, send: Send) -> Any:
        held = frozenset(name for name, value in call.arguments.items() if self._placeholders.are_in(value))
        judged = self._gateway.judge(call, unchecked=held)
        if _is_sent(judged, has_placeholders=bool(held)):
            self.ledger.take(judged)
            return await self._send_in_turn(judged, send)
        return self._listed(replace(judged, error=None))

    def _listed(self, judged: JudgedCall) -> Any:
        """Record a call that is not sent, and return the placeholder of its answer."""
        tool, path = judged.tool, judged.call.path
        assert tool is not None  # noqa: S101 - a call without a tool fails at once
        label, answer = self._placeholders.create(tool.id, self._gateway.result_schema(tool, self.caller))
        judged = self._taken(judged)
        if judged.error is not None:
            raise for_program(judged.error)
        if tool.effect is Effect.READ and judged.state is CallState.NOT_STARTED:
            self.ledger.settle(path, CallState.NOT_STARTED, preview=f"placeholders of {label}: an argument holds one")
            self._listing.reads.append(self._planned(judged, label))
        else:
            self.ledger.settle(path, CallState.PLANNED)
            self._listing.calls.append(self._planned(judged, label))
            self.ledger.note(_MAY_DIFFER)
        if "/" not in path:
            return answer
        paging = walked(tool)  # the call is a page of a whole list
        return Page(answer, items_of(paging, answer) if paging is not None else [answer], None)

    def _planned(self, judged: JudgedCall, label: str) -> PlannedCall:
        tool, path = judged.tool, judged.call.path
        assert tool is not None  # noqa: S101 - see `_listed`
        entry = self.ledger.entry(path)
        host, digest = self._gateway.destination(tool).host, self._listing.digest
        return PlannedCall(
            path,
            label,
            tool.id,
            tool.effect,
            host,
            entry.arguments,
            entry.decision,
            entry.rule,
            digest=digest(call_facts(tool.id, path, judged.call.arguments)),
            definition=digest(meaning(tool, self._gateway, digest)),
        )


def _is_sent(judged: JudgedCall, *, has_placeholders: bool) -> bool:
    """Return whether a call takes its usual way: an allowed read, or a call that fails or is denied in any run."""
    tool, ruling = judged.tool, judged.ruling
    if tool is None or ruling is None:
        return True
    if ruling.decision is Decision.DENY:
        return ruling is not READ_ONLY
    if ruling.decision is Decision.ALLOW and tool.source == SAVED:
        return True  # its calls are listed one by one
    return tool.effect is Effect.READ and ruling.decision is Decision.ALLOW and not has_placeholders
