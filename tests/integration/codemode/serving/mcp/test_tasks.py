"""Executions as tasks of the older era, on the wire: the SDK's client takes nothing but results for an answer."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

COMMAND = str(Path(sys.executable).parent / "codemode")
GATE = '''
import time
from pathlib import Path

from codemode import tool


@tool(effect="read")
def wait() -> str:
    """Wait until it is open."""
    while not Path(__file__).with_name("open").exists():
        time.sleep(0.01)
    return "open"
'''
CONFIGURATION = "sources: {gate: {kind: python, location: gate.py}}\nstate_folder: state\ncache_folder: cache\n"
FIRST = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}


class Wire:
    """A client of `codemode mcp` that writes and reads lines."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._number = 0

    async def ask(self, method: str, **params: Any) -> Any:
        """The result of a request, or its error."""
        self._number += 1
        await self._send({"id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        while True:
            answer = json.loads(await self._process.stdout.readline())
            if answer.get("id") == self._number:
                return answer.get("result", answer.get("error"))

    async def tell(self, method: str) -> None:
        await self._send({"method": method})

    async def begin(self, code: str) -> dict[str, Any]:
        created = await self.ask("tools/call", name="execute", arguments={"code": code}, task={"ttl": 60_000})
        return created["task"]  # type: ignore[no-any-return]

    async def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        await self._process.stdin.drain()


@pytest.fixture
async def wire(tmp_path: Path) -> AsyncIterator[Wire]:
    (tmp_path / "gate.py").write_text(GATE, encoding="utf-8")
    (tmp_path / "codemode.yaml").write_text(CONFIGURATION, encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        *(COMMAND, "mcp", "--config", "codemode.yaml"),
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},  # noqa: TID251
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    wire = Wire(process)
    greeting = await wire.ask("initialize", **FIRST)
    assert greeting["capabilities"]["tasks"] == {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
    await wire.tell("notifications/initialized")
    yield wire
    (tmp_path / "open").touch()
    process.stdin.close()  # type: ignore[union-attr]
    await process.wait()


async def test_a_program_goes_on_as_a_task_and_its_result_is_asked_for(wire: Wire, tmp_path: Path) -> None:
    listed = {one["name"]: one for one in (await wire.ask("tools/list"))["tools"]}
    assert listed["execute"]["execution"] == {"taskSupport": "optional"}
    assert "execution" not in listed["search"]
    task = await wire.begin("gate.wait()")
    assert (task["status"], task["pollInterval"]) == ("working", 1000)
    assert (await wire.ask("tasks/get", taskId=task["taskId"]))["status"] == "working"
    (tmp_path / "open").touch()
    result = await wire.ask("tasks/result", taskId=task["taskId"])
    assert (result["isError"], result["structuredContent"]["value"]) == (False, "open")
    assert (await wire.ask("tasks/get", taskId=task["taskId"]))["status"] == "completed"
    assert [one["taskId"] for one in (await wire.ask("tasks/list"))["tasks"]] == [task["taskId"]]


async def test_tasks_and_calls_of_one_process_share_state(wire: Wire) -> None:
    task = await wire.begin("store('n', 1)\n'first'")
    await wire.ask("tasks/result", taskId=task["taskId"])
    called = await wire.ask("tools/call", name="execute", arguments={"code": "[load('n'), last]"})
    assert called["structuredContent"]["value"] == [1, "first"]


async def test_tasks_are_cancelled_fail_and_are_not_there(wire: Wire) -> None:
    task = await wire.begin("gate.wait()")
    assert (await wire.ask("tasks/cancel", taskId=task["taskId"]))["status"] == "cancelled"
    failed = await wire.begin("nothing_like_it")
    assert (await wire.ask("tasks/result", taskId=failed["taskId"]))["isError"]
    assert (await wire.ask("tasks/get", taskId=failed["taskId"]))["status"] == "failed"
    assert "there is no execution 'ex_none'" in (await wire.ask("tasks/get", taskId="ex_none"))["message"]
    wrong = await wire.ask("tools/call", name="execute", arguments={"program": "1"}, task={})
    assert "program" in json.dumps(wrong)
    dry = await wire.ask("tools/call", name="execute", arguments={"code": "1", "dry_run": True}, task={})
    assert "a dry run is not recorded, and cannot be a task" in dry["message"]
    plain = await wire.ask("tools/call", name="execute", arguments={"code": "1 + 1"})
    assert plain["structuredContent"]["value"] == 2
