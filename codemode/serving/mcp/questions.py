"""Pending calls as questions for the person at an MCP client (`elicitation/create` in form mode), and the answers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import mcp_types
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from pydantic import ValidationError

from codemode.executions.types.records import OF_OWNER, Decision
from codemode.serving.output.card_text import WHOLE, card_text
from codemode.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp.server import ServerRequestContext

    from codemode.executions.types.card import ApprovalCard
    from codemode.executions.types.records import QuestionKind, Verdict
    from codemode.executions.types.remembered import RememberScope


#: Largest number of characters of a reason in an answer.
_REASON_CHARACTERS = 500

_VERDICTS: dict[str, Verdict] = {"approve": "approved", "reject": "rejected"}

#: Approvals that also cover the same call later.
_REMEMBERED: dict[str, RememberScope] = {"approve_in_conversation": "conversation", "approve_for_an_hour": "hour"}

#: The form: a decision without a default, and a reason. All protocol versions with elicitation can show it.
_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "decision": {"type": "string", "title": "Decision", "enum": [*_VERDICTS, *_REMEMBERED]},
        "reason": {"type": "string", "title": "Reason", "maxLength": _REASON_CHARACTERS},
    },
    "required": ["decision"],
}


def question(card: ApprovalCard) -> mcp_types.ElicitRequest:
    """Return the elicitation request about a pending call: the service's own, or the form for a decision."""
    call = card.call
    if call.asks is None:
        text = card_text(card, with_answers=False, most=WHOLE)
        form = mcp_types.ElicitRequestFormParams(message=text, requested_schema=_FORM)
        return mcp_types.ElicitRequest(params=form)
    told = visible(call.asks["message"])
    message = told if call.kind == "login" else f"{visible(call.tool)} asks: {told}"
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
        return Decision(call, digest, "declined" if kind in OF_OWNER else "rejected", by, via="mcp")
    if answer.action != "accept" or kind == "login":  # a login is over when the issuer says so, not the client
        return None
    content = answer.content or {}
    if kind == "input":
        return Decision(call, digest, "answered", by, value=content, via="mcp")
    chosen, reason = content.get("decision"), content.get("reason")
    if not isinstance(chosen, str) or chosen not in (*_VERDICTS, *_REMEMBERED):
        return None
    note = reason[:_REASON_CHARACTERS] if isinstance(reason, str) else ""
    verdict = _VERDICTS.get(chosen, "approved")
    return Decision(call, digest, verdict, by, note=note, via="mcp", remember=_REMEMBERED.get(chosen, ""))


_UNANSWERED = mcp_types.ElicitResult(action="cancel")


async def ask_now(
    context: ServerRequestContext[Any], cards: Sequence[ApprovalCard], wait_s: float
) -> dict[str, mcp_types.InputResponse]:
    """Ask about calls, one after another. Return the answers by call id.

    A question without an answer after `wait_s` seconds, or with an unusable one, counts as cancelled.
    """
    answers: dict[str, mcp_types.InputResponse] = {}
    metadata = ServerMessageMetadata(related_request_id=context.request_id)
    for card in cards:
        try:
            async with asyncio.timeout(wait_s):
                answers[card.call.id] = await context.session.send_request(
                    question(card), mcp_types.ElicitResult, metadata=metadata
                )
        except (TimeoutError, MCPError, ValidationError):
            answers[card.call.id] = _UNANSWERED
    return answers
