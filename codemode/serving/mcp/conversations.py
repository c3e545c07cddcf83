"""The conversation of an MCP request: the one that its `_meta` names, else its session.

The protocol of 2026-07-28 has no sessions, and MCP defines no other id of a chat. A client of that era sends an opaque
id with each call: `"_meta": {"codemode/conversation": "…"}`.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext

#: The key in `_meta`.
META_KEY = "codemode/conversation"


class McpConversations:
    """Tells the conversations of one server apart. A process with one client on stdio has one conversation."""

    def __init__(self) -> None:
        self._of_process = uuid.uuid4().hex

    def of(self, context: ServerRequestContext[Any]) -> str:
        """Return the id of a request's conversation, "" if it has none."""
        named = (context.meta or {}).get(META_KEY)
        if named is not None:
            return cast("str", named)  # the service checks it
        if context.request is None:
            return self._of_process
        return context.request.headers.get("mcp-session-id") or ""
