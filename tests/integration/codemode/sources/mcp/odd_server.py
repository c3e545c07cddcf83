"""An MCP server whose answers break the protocol's schema, or that of their own tool: raw JSON-RPC without an SDK."""

from __future__ import annotations

import json
import sys
from typing import Any

TEXT = [{"type": "text", "text": "order 7 placed"}]
ID = {"id": {"type": "integer"}}
OBJECT = {
    "type": "object",
    "properties": {"id": {"type": "integer"}},
    "required": ["id"],
    "additionalProperties": False,
}

BLOCKS = [{"type": "text", "text": "order"}, {"text": {"id": 7}}, {"type": "odd", "x": 1}, "y"]
OUT = [{"type": "text", "text": "out of paper"}]

#: By the name of the tool: its output schema, and its result.
TOOLS: dict[str, tuple[Any, Any]] = {
    "unstructured": (OBJECT, {"content": TEXT}),
    "mismatched": (OBJECT, {"content": TEXT, "structuredContent": {"id": "seven", "more": 1}}),
    "dangling": ({"type": "object", "$ref": "#/$defs/Gone"}, {"content": TEXT, "structuredContent": {"id": 7}}),
    "untyped": ({"properties": ID}, {"content": TEXT, "structuredContent": {"id": 7}}),
    "listed": (OBJECT, {"content": TEXT, "structuredContent": [{"id": 7}]}),
    "number": (None, {"content": TEXT, "structuredContent": 7}),
    "bare": (None, {"structuredContent": {"id": 7}}),
    "text": (None, {"content": "order 7 placed"}),
    "blocks": (None, {"content": BLOCKS}),
    "no_schema": ("no schema", {"content": TEXT, "structuredContent": {"id": 7}}),
    "failed": (OBJECT, {"isError": True, "content": OUT, "structuredContent": {"id": 7}}),
    "failed_without_text": (OBJECT, {"isError": True, "content": [], "structuredContent": {"why": "out of paper"}}),
}  # fmt: skip


def answer(method: str, params: dict[str, Any]) -> Any:
    """Return the result of a request."""
    match method:
        case "initialize":
            info = {"name": "odd", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": [tool(name, schema) for name, (schema, _) in TOOLS.items()]}
        case _:
            return TOOLS[params["name"]][1]


def tool(name: str, schema: Any) -> dict[str, Any]:
    """Return a definition."""
    output = {} if schema is None else {"outputSchema": schema}
    return {"name": name, "description": "Place an order.", "inputSchema": {"type": "object"}, **output}


def say(id_: object, **answered: Any) -> None:
    """Write an answer."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": id_, **answered}) + "\n")
    sys.stdout.flush()


for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") in ("initialize", "tools/list", "tools/call"):
        say(message["id"], result=answer(message["method"], message.get("params", {})))
    elif "id" in message:
        say(message["id"], error={"code": -32601, "message": "unknown"})
