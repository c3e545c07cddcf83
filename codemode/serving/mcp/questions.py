"""Pending calls as questions for the person at an MCP client (`elicitation/create` in form mode), and the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types

from codemode.executions.journal.base import Decision
from codemode.text.prose import shorten
from codemode.text.visible import visible, visible_data

if TYPE_CHECKING:
    from codemode.executions.journal.base import PendingCall, QuestionKind, Verdict

#: Largest number of characters of one argument in a question, and of a reason in an answer.
_ARGUMENT_CHARACTERS, _REASON_CHARACTERS = 300, 500

_VERDICTS: dict[str, Verdict] = {"approve": "approved", "reject": "rejected"}

#: The form: a decision without a default, and a reason. All protocol versions with elicitation can show it.
_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "decision": {"type": "string", "title": "Decision", "enum": [*_VERDICTS]},
        "reason": {"type": "string", "title": "Reason", "maxLength": _REASON_CHARACTERS},
    },
    "required": ["decision"],
}


def approval_text(call: PendingCall) -> str:
    """Return a pending call as plain text for the person who decides. Invisible characters are escaped."""
    where = f" at {call.host}" if call.host else ""
    arguments = [
        f"  {name} = {shorten(repr(value), _ARGUMENT_CHARACTERS)}"
        for name, value in visible_data(call.arguments).items()
    ]
    reason = [f"Reason: {visible(call.reason)}"] if call.reason else []
    return "\n".join([f"May the program call {visible(call.tool)}{where}?", *arguments, *reason, f"Call: {call.id}"])


def question(call: PendingCall) -> mcp_types.ElicitRequest:
    """Return the elicitation request about a pending call: the service's own, or the form for a decision."""
    if call.asks is None:
        form = mcp_types.ElicitRequestFormParams(message=approval_text(call), requested_schema=_FORM)
        return mcp_types.ElicitRequest(params=form)
    message = f"{visible(call.tool)} asks: {visible(call.asks['message'])}"
    if call.asks["mode"] == "url":
        link = mcp_types.ElicitRequestURLParams(message=message, url=call.asks["url"], elicitation_id=call.id)
        return mcp_types.ElicitRequest(params=link)
    form = mcp_types.ElicitRequestFormParams(message=message, requested_schema=call.asks["requestedSchema"])
    return mcp_types.ElicitRequest(params=form)


def decision(kind: QuestionKind, call: str, digest: str, answer: mcp_types.ElicitResult, by: str) -> Decision | None:
    """Return the decision in an answer about the call with this digest. Return None if it decides nothing.

    A declined form rejects the call, or declines to answer. A cancelled or an invalid one leaves it pending.
    """
    if answer.action == "decline":
        return Decision(call, digest, "declined" if kind == "input" else "rejected", by)
    if answer.action != "accept":
        return None
    content = answer.content or {}
    if kind == "input":
        return Decision(call, digest, "answered", by, value=content)
    chosen, reason = content.get("decision"), content.get("reason")
    if not isinstance(chosen, str) or chosen not in _VERDICTS:
        return None
    note = reason[:_REASON_CHARACTERS] if isinstance(reason, str) else ""
    return Decision(call, digest, _VERDICTS[chosen], by, note=note)
