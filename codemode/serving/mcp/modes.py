"""The mode of an MCP request: by the role, the client's name and `User-Agent`, and what the request asks for.

A request asks for a mode with the key `codemode/mode` of its `_meta`, with `?mode=` in the server's URL, or with the
header `Codemode-Mode`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codemode.model.modes import mode_of

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext

    from codemode.gateway.caller import Caller
    from codemode.model.modes import Sees
    from codemode.settings import ModeName, Settings

META_KEY, QUERY_KEY, HEADER = "codemode/mode", "mode", "codemode-mode"


def mode_of_request(context: ServerRequestContext[Any], caller: Caller, settings: Settings, sees: Sees) -> ModeName:
    """Return the mode of a request. `sees` returns the tools of a role. Raises ModeRejected."""
    request = context.request
    wanted = (context.meta or {}).get(META_KEY)
    if not wanted and request is not None:
        wanted = request.query_params.get(QUERY_KEY) or request.headers.get(HEADER)
    agent = request.headers.get("user-agent", "") if request is not None else ""
    client = context.session.client_params
    name = client.client_info.name if client is not None else ""
    rules, names = settings.modes, (name, agent)
    return mode_of(rules, settings.server.mcp, role=caller.role, clients=names, wanted=str(wanted or ""), sees=sees)
