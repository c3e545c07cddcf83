"""Pending calls as questions for the person at an MCP client (`elicitation/create` in form mode), and the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types

from codemode.executions.journal.base import Decision
from codemode.text.prose import shorten
from codemode.text.visible import visible, visible_data

if TYPE_CHECKING:
    from codemode.executions.journal.base import PendingCall, Verdict

#: Largest number of characters of one argument in a question, and of a reason in an answer.
_ARGUMENT_CHARACTERS, _REASON_CHARACTERS = 300, 500

_VERDICTS: dict[Any, Verdict] = {"approve": "approved", "reject": "rejected"}

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
    """Return the elicitation request about a pending call."""
    params = mcp_types.ElicitRequestFormParams(message=approval_text(call), requested_schema=_FORM)
    return mcp_types.ElicitRequest(params=params)


def decision(call: str, digest: str, answer: mcp_types.ElicitResult, by: str) -> Decision | None:
    """Return the decision in an answer about the call with this digest. Return None if it decides nothing.

    A declined form rejects the call. A cancelled or an invalid one leaves it pending.
    """
    if answer.action == "decline":
        return Decision(call, digest, "rejected", by)
    content = answer.content or {}
    verdict = _VERDICTS.get(content.get("decision"))
    if answer.action != "accept" or verdict is None:
        return None
    reason = content.get("reason")
    return Decision(call, digest, verdict, by, note=reason[:_REASON_CHARACTERS] if isinstance(reason, str) else "")
