"""Dry runs: reads are sent. Writes, and calls that need a person, are listed and return placeholders.

A read with a placeholder among its arguments is not sent either. Plugins are not asked about calls that are not sent.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codemode.catalog.next_page import items_of
from codemode.catalog.paging import walked
from codemode.catalog.saved import SAVED
from codemode.catalog.tool import Effect
from codemode.executions.run.ends import page_text
from codemode.executions.run.forms import OF_RESPONSE
from codemode.executions.run.placeholders import Placeholders
from codemode.executions.run.replay.dependencies import account_mark, call_facts, meaning
from codemode.executions.types.planned import PlannedCall
from codemode.executions.types.record import End
from codemode.gateway.call import CallState
from codemode.gateway.policy import READ_ONLY, Decision
from codemode.transports.base import Page

if TYPE_CHECKING:
    from codemode.catalog.tool import Tool
    from codemode.executions.run.context import RunContext
    from codemode.executions.types.planned import Listing
    from codemode.executions.types.record import RecordedCall
    from codemode.gateway.call import JudgedCall, ToolCall

#: Notes on every dry run, and on one whose program continued with placeholders.
_NOTHING_CHANGED = "dry run: writes were listed and not sent"
_MAY_DIFFER = (
    "the program continued with placeholders for the answers of planned calls: if it branches on one, a real run may "
    "make other calls; reads after a planned call do not see it"
)


class DryRun:
    """Judges and decides on the calls of a dry run, and adds what is not sent to `listing`."""

    def __init__(self, run: RunContext, listing: Listing) -> None:
        self._run = run
        self._listing = listing
        self._placeholders = Placeholders()
        self._run.ledger.note(_NOTHING_CHANGED)

    def judge(self, call: ToolCall) -> JudgedCall:
        """Judge a call and add it to the ledger. Arguments that hold placeholders are not validated."""
        held = self._held(call)
        judged = self._run.gateway.judge(call, unchecked=held)
        if _is_sent(judged, has_placeholders=bool(held)):
            self._run.ledger.take(judged)
            return judged
        return self._run.take(replace(judged, error=None))

    async def decide(self, judged: JudgedCall, _: RecordedCall | None) -> JudgedCall | End:
        """Return the call if it is sent, else list it and return the placeholder of its answer as its end."""
        tool = judged.tool
        if tool is None or _is_sent(judged, has_placeholders=bool(self._held(judged.call))):
            return judged
        label, answer = self._placeholder(judged, tool)
        planned = self._planned(judged, tool, label)
        if tool.effect is Effect.READ and judged.state is CallState.NOT_STARTED:
            self._listing.reads.append(planned)
            facts = {"preview": f"placeholders of {label}: an argument holds one"}
            return End(CallState.NOT_STARTED, _text(judged, tool, answer), is_error=False, facts=facts)
        self._listing.calls.append(planned)
        self._run.ledger.note(_MAY_DIFFER)
        return End(CallState.PLANNED, _text(judged, tool, answer), is_error=False, facts={})

    def _placeholder(self, judged: JudgedCall, tool: Tool) -> tuple[str, Any]:
        schema = self._run.gateway.result_schema(tool, self._run.caller)
        if judged.call.path.endswith(OF_RESPONSE):
            return self._placeholders.whole(tool.id, schema, tool.details.headers or {})
        return self._placeholders.create(tool.id, schema)

    def _held(self, call: ToolCall) -> frozenset[str]:
        """Return the names of the arguments that hold placeholders."""
        return frozenset(name for name, value in call.arguments.items() if self._placeholders.are_in(value))

    def _planned(self, judged: JudgedCall, tool: Tool, label: str) -> PlannedCall:
        path = judged.call.path
        entry = self._run.ledger.entry(path)
        gateway, digest = self._run.gateway, self._listing.digest
        mark = account_mark(judged, digest)
        return PlannedCall(
            path,
            label,
            tool.id,
            tool.effect,
            gateway.destination(tool).host,
            entry.arguments,
            entry.decision,
            entry.rule,
            digest=digest(call_facts(tool.id, path, judged.call.arguments)),
            definition=digest(meaning(tool, gateway, digest, mark)),
            account=entry.account,
        )


def _text(judged: JudgedCall, tool: Tool, answer: Any) -> bytes:
    """Return the placeholder of an answer in the journal's form."""
    if "/" not in judged.call.path:
        return json.dumps(answer).encode()
    if judged.call.path.endswith(OF_RESPONSE):
        return page_text(Page(items=[], next_arguments=None, **answer))
    paging = walked(tool)  # the call is a page of a whole list
    return page_text(Page(answer, items_of(paging, answer) if paging is not None else [answer], None))


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
