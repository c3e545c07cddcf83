"""The tools of each MCP conversation: the one that a request's `_meta` names, else its session.

The protocol of 2026-07-28 has no sessions, and MCP defines no other id of a chat. A client of that era sends an opaque
id with each call: `"_meta": {"codemode/conversation": "…"}`.
"""

from __future__ import annotations

import uuid
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from codemode.model.memory import Memory
from codemode.model.modes import mode_of
from codemode.model.tools import ModelTools

if TYPE_CHECKING:
    from collections.abc import Callable

    import mcp_types
    from mcp.server import ServerRequestContext

    from codemode.gateway.caller import Caller
    from codemode.model.background import Background
    from codemode.model.modes import Sees
    from codemode.service import CodeMode
    from codemode.settings import ModeName, Settings

    Context = ServerRequestContext[Any]

#: Where a request names its mode: the key in `_meta`, the query parameter, the header.
MODE_KEY, MODE_QUERY, MODE_HEADER = "codemode/mode", "mode", "codemode-mode"


def mode_of_request(context: Context, caller: Caller, settings: Settings, sees: Sees) -> ModeName:
    """Return the mode of a request. `sees` returns the tools of a role. Raises ModeRejected."""
    request = context.request
    wanted = (context.meta or {}).get(MODE_KEY)
    if not wanted and request is not None:
        wanted = request.query_params.get(MODE_QUERY) or request.headers.get(MODE_HEADER)
    agent = request.headers.get("user-agent", "") if request is not None else ""
    client = context.session.client_params
    name = client.client_info.name if client is not None else ""
    rules, names = settings.modes, (name, agent)
    return mode_of(rules, settings.server.mcp, role=caller.role, clients=names, wanted=str(wanted or ""), sees=sees)


#: The key in `_meta`.
META_KEY = "codemode/conversation"

#: Maximum number of conversations that are remembered.
_MOST = 10_000


@dataclass(slots=True)
class ConversationMemory:
    """What a conversation remembers: of its tools, and the tool list that it was given."""

    memory: Memory = field(default_factory=Memory)
    listed: list[mcp_types.Tool] | None = None


class McpConversations:
    """Tells the conversations of one server apart. A process with one client on stdio has one conversation."""

    def __init__(self, service: CodeMode, caller_of: Callable[[Context], Caller], background: Background) -> None:
        self._service = service
        #: Returns who sent a request.
        self.caller_of = caller_of
        self._background = background
        self._of_process = uuid.uuid4().hex
        self._remembered: OrderedDict[tuple[str, ...], ConversationMemory] = OrderedDict()

    def tools(self, context: Context) -> ModelTools:
        """Return the tools of a request's conversation. Raises ModeRejected."""
        caller = self.caller_of(context)
        mode = mode_of_request(context, caller, self._service.settings, self._service.visible)
        return ModelTools(
            self._service,
            caller,
            self._of(context),
            mode=mode,
            shows=None,
            background=self._background,
            memory=self.remembered(context, caller, mode).memory,
            asks_in_client=True,
        )

    def remembered(self, context: Context, caller: Caller, mode: str) -> ConversationMemory:
        """Return what a conversation remembers. Requests without one remember what was added to their tools alone."""
        conversation = self._of(context)
        if not conversation and mode == "code":
            return ConversationMemory()
        key = (conversation, caller.id, caller.role, mode)
        known = self._remembered.setdefault(key, ConversationMemory())
        self._remembered.move_to_end(key)
        if len(self._remembered) > _MOST:
            self._remembered.popitem(last=False)
        return known

    def _of(self, context: Context) -> str:
        """Return the id of a request's conversation, "" if it has none."""
        named = (context.meta or {}).get(META_KEY)
        if named is not None:
            return cast("str", named)  # the service checks it
        if context.request is None:
            return self._of_process
        return context.request.headers.get("mcp-session-id") or ""
