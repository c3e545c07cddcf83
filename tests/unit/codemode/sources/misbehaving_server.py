"""An MCP server that does what no server should: raw JSON-RPC over standard input and output, without an SDK.

    misbehaving_server.py LOG [MODE]

The file LOG has a line for each thing that it heard. MODE is about the list of tools: `endless` (new pages for ever),
`circle` (the same page again), `twice` (two tools of one name), `odd` (definitions that break the protocol), `blank`
and `blank_end` (an empty cursor, with another page or without), `changing` (another text each time), `deaf` (no answer
to anything), `stubborn` (ends neither with its input nor when asked to), `storm` (says each time that it has changed).
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

LOG = Path(sys.argv[1])
MODE = sys.argv[2] if len(sys.argv) > 2 else ""
NAMES = ("garbage", "silent", "huge", "wrong_id", "progress", "dies", "no_result", "talks", "plain")

#: What is answered as it stands here.
RESULTS = {
    "digits": '{"content":[],"structuredContent":{"a":' + "7" * 5_000 + "}}",
    "half": '{"content":[],"structuredContent":{"a":"\\ud800"}}',
    "deep": '{"content":[],"structuredContent":{"a":' + "[" * 600 + "]" * 600 + "}}",
    "many": '{"content":[{"type":"text","text":"[' + "[]," * 1_100_000 + '1]"}]}',
    "nan": '{"content":[],"structuredContent":{"a":NaN,"b":1e999}}',
    "deep_text": '{"content":[{"type":"text","text":"' + "[" * 600 + "]" * 600 + '"}]}',
    "half_text": '{"content":[{"type":"text","text":"[\\"\\\\ud800\\"]"}]}',
    "rambles": '{"isError":true,"content":[{"type":"text","text":"' + "e" * 1_000_000 + '"}]}',
}
#: Errors that are none, as they stand here.
ERRORS = {
    "error_text": '"out of paper"',
    "error_without_code": '{"message":"out of paper","data":{"result":1}}',
    "error_null": "null",
    "error_digits": '{"code":' + "7" * 5_000 + ',"message":"out of paper"}',
}
RAW = {name: ("result", text) for name, text in RESULTS.items()} | {
    name: ("error", text) for name, text in ERRORS.items()
}
LISTED = 0


def note(what: str) -> None:
    with LOG.open("a", encoding="utf-8") as file:
        file.write(what + "\n")


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def say_raw(id_: object, what: str, content: str) -> None:
    sys.stdout.write(f'{{"jsonrpc":"2.0","id":{id_},"{what}":{content}}}\n')
    sys.stdout.flush()


def answer(id_: object, text: str) -> None:
    say({"id": id_, "result": {"content": [{"type": "text", "text": text}]}})


def tool(name: str, description: str = "Do it.") -> dict[str, Any]:
    return {"name": name, "description": description, "inputSchema": {"type": "object"}}


def listed(params: dict[str, Any]) -> dict[str, Any]:
    global LISTED
    LISTED += 1
    match MODE:
        case "endless":
            return {"tools": [], "nextCursor": str(int(params.get("cursor", 0)) + 1)}
        case "circle":
            return {"tools": [tool("one")], "nextCursor": "again"}
        case "twice":
            return {"tools": [tool("one", "The first."), tool("one", "The second."), tool("two")]}
        case "odd":
            odd = {"name": "odd", "description": 7, "inputSchema": {"type": "object", "properties": []}}
            return {"tools": [odd, {"name": "bare"}, "text", tool("one"), {"title": "nameless"}]}
        case "blank":
            return (
                {"tools": [tool("first")], "nextCursor": ""} if "cursor" not in params else {"tools": [tool("second")]}
            )
        case "blank_end":
            return {"tools": [tool("first")], "nextCursor": ""}
        case "changing":
            return {"tools": [tool("one", f"Text {os.getpid()} {LISTED}.")]}
        case _:
            return {"tools": [tool(name) for name in (*NAMES, *RAW)]}


def say_changed(times: int) -> None:
    for _ in range(times):
        say({"method": "notifications/tools/list_changed"})


def call(id_: object, params: dict[str, Any]) -> None:
    match params["name"]:
        case "garbage":
            sys.stdout.write('Loading…\n\n{"jsonrpc": \n[]\nnull\n{"id": 1}\n\x00\x01\n')
            answer(id_, "after garbage")
        case "silent":
            note("silent")
        case "huge":
            answer(id_, "x" * 3_000_000)
        case "wrong_id":
            answer(999_999, "for nobody")
            answer(str(id_) + "0", "for nobody")
            answer(id_, "for you")
            answer(id_, "twice")
        case "progress":
            token = params.get("_meta", {}).get("progressToken")
            for done in (1, 2):
                report = {"progressToken": token, "progress": done, "total": 2, "message": f"step {done}"}
                say({"method": "notifications/progress", "params": report})
        case "dies":
            sys.stdout.write('{"jsonrpc":"2.0","id":')
            sys.stdout.flush()
            os._exit(1)
        case "no_result":
            say({"id": id_, "result": {"content": "nonsense", "isError": "perhaps"}})
        case "talks":
            sys.stderr.write("a secret-of-the-test and more\n" * 100_000)
            answer(id_, "talked")
        case name:
            say_raw(id_, *RAW[name]) if name in RAW else answer(id_, name)


def main() -> None:
    note(f"began {os.getpid()}")
    if MODE == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in sys.stdin:
        message = json.loads(line)
        match message.get("method"):
            case _ if MODE == "deaf":
                pass
            case "initialize":
                version = message["params"]["protocolVersion"]
                offered = {"protocolVersion": version, "capabilities": {"tools": {"listChanged": True}}}
                say({"id": message["id"], "result": {**offered, "serverInfo": {"name": "bad", "version": "1"}}})
            case "tools/list":
                say({"id": message["id"], "result": listed(message.get("params", {}))})
                note("listed")
                say_changed(2 if MODE == "storm" else 0)
            case "tools/call":
                call(message["id"], message["params"])
            case "notifications/cancelled":
                note(f"cancelled {message['params']['requestId']}")
            case method if "id" in message:
                say({"id": message["id"], "error": {"code": -32601, "message": f"no method {method}"}})
    note("input closed")
    while MODE == "stubborn":
        time.sleep(60)


if __name__ == "__main__":
    main()
