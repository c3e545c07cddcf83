"""Outcomes of executions as results of `tools/call`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mcp_types

from codemode.executions.execution import ExecutionOutcome
from codemode.serving.mcp.content_blocks import content_blocks
from codemode.serving.model_text import shown_to_model

if TYPE_CHECKING:
    from codemode.executions.journal.records import StoredExecution
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode

#: Key of a result's `_meta` with the continuation of a paused execution. Clients do not show it to their model.
CONTINUATION = "codemode/continuation"


def outcome_of(stored: StoredExecution) -> ExecutionOutcome:
    """Return the outcome of a stored execution. An outcome that has not been recorded yet is empty."""
    return ExecutionOutcome.from_json({**(stored.outcome or {}), "id": stored.given.id, "status": stored.status})


async def result_of(service: CodeMode, ended: ExecutionOutcome, caller: Caller) -> mcp_types.CallToolResult:
    """Return an outcome as text, as data, and with its images and files. Only a completed program is no error."""
    text, data = shown_to_model(ended, service.hooks, can_resume=service.settings.keeps_journal)
    blocks = await content_blocks(service, ended, caller)
    content: list[mcp_types.ContentBlock] = [mcp_types.TextContent(type="text", text=text), *blocks]
    meta = {CONTINUATION: ended.continuation} if ended.continuation else None
    return mcp_types.CallToolResult(content=content, structured_content=data, is_error=not ended.ok, _meta=meta)
