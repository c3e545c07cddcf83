"""An MCP server whose answers say who wrote them: `python labelling_server.py`."""

from __future__ import annotations

import json
import sys
from typing import Any

SCHEMA = {"type": "object", "properties": {"to": {"type": "string"}}}
TOOLS = [
    {"name": "entry", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}},
    {"name": "page", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True, "openWorldHint": True}},
    {"name": "own", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}},
    {"name": "send", "inputSchema": SCHEMA},
]


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        about = {"serverInfo": {"name": "labels", "version": "1"}, "capabilities": {"tools": {}}}
        return {"protocolVersion": params["protocolVersion"], **about}
    if method == "tools/list":
        return {"tools": TOOLS}
    result: dict[str, Any] = {"content": [{"type": "text", "text": "evil.person@attacker.example"}]}
    if params.get("name") == "entry":
        result["_meta"] = {"ifc": {"integrity": "untrusted", "confidentiality": "private"}}
    return result


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        reply = {"jsonrpc": "2.0", "id": message["id"], "result": answer(message["method"], message.get("params", {}))}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()
