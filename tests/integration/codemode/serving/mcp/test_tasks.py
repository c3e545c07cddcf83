"""Clients in sessions have no tasks, on the wire: the SDK's client cannot send what is tested here."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

COMMAND = str(Path(sys.executable).parent / "codemode")
CONFIGURATION = "sources: {words: {kind: python, location: words.py}}\nstate_folder: state\ncache_folder: cache\n"
FIRST = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}


async def test_in_sessions_a_request_for_a_task_is_answered_with_the_result(tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text("def count(text: str) -> int:\n    return len(text.split())\n", encoding="utf-8")
    (tmp_path / "codemode.yaml").write_text(CONFIGURATION, encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        *(COMMAND, "mcp", "--config", "codemode.yaml"),
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},  # noqa: TID251
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    to_server, from_server = process.stdin, process.stdout
    assert to_server is not None
    assert from_server is not None

    async def ask(number: int, method: str, **params: Any) -> dict[str, Any]:
        await tell({"id": number, "method": method, "params": params})
        while True:
            answer: dict[str, Any] = json.loads(await from_server.readline())
            if answer.get("id") == number:
                return answer

    async def tell(message: dict[str, Any]) -> None:
        to_server.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        await to_server.drain()

    greeting = (await ask(1, "initialize", **FIRST))["result"]
    assert "tasks" not in greeting["capabilities"]
    assert "extensions" not in greeting["capabilities"]
    await tell({"method": "notifications/initialized"})
    tools = (await ask(2, "tools/list"))["result"]["tools"]
    assert [tool["name"] for tool in tools if "execution" in tool] == []
    called = await ask(3, "tools/call", name="execute", arguments={"code": "1 + 1"}, task={"ttl": 60_000})
    assert called["result"]["structuredContent"]["value"] == 2
    missing = await ask(4, "tasks/get", taskId=called["result"]["structuredContent"]["id"])
    assert missing["error"]["code"] == -32601
    to_server.close()
    await process.wait()
