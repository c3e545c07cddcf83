"""Questions to the person at a client in a session (up to 2025-11-25): the server asks while a request is under way."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import mcp_types
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from pydantic import ValidationError

from codemode.serving.mcp.questions import question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp.server import ServerRequestContext

    from codemode.executions.types.card import ApprovalCard

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
