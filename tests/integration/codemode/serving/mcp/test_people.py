"""Tasks and approvals in the client, over standard input and output and over HTTP, in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp_types import ElicitResult

from tests.integration.codemode.serving.mcp.task_client import Tasks, ended

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

COMMAND = str(Path(sys.executable).parent / "codemode")
CONFIGURATION = """
sources: {bank: {location: bank.py}}
approvals: {in_client: single_user}
server: {port: 0}
state_folder: state
cache_folder: cache
"""
BANK = '''
from codemode import tool


@tool(effect="destructive")
def pay(amount: int) -> int:
    """Pay an amount."""
    return amount
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "codemode.yaml").write_text(CONFIGURATION, encoding="utf-8")
    (tmp_path / "bank.py").write_text(BANK, encoding="utf-8")
    return tmp_path


def variables(folder: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(folder)}  # noqa: TID251


@asynccontextmanager
async def over_stdio(folder: Path, **options: Any) -> AsyncIterator[Client]:
    server = StdioServerParameters(command=COMMAND, args=["mcp"], env=variables(folder), cwd=folder)
    async with Client(stdio_client(server), read_timeout_seconds=60, **options) as client:
        yield client


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of `codemode serve`."""
    with subprocess.Popen(
        [COMMAND, "serve"], cwd=folder, stderr=subprocess.PIPE, env=variables(folder), text=True
    ) as process:
        assert process.stderr is not None
        while "http://" not in (line := process.stderr.readline()):
            assert line
        yield line.rpartition(" ")[2].strip()
        process.send_signal(signal.SIGTERM)
        process.communicate()


@asynccontextmanager
async def over_http(folder: Path, **options: Any) -> AsyncIterator[Client]:
    with serving(folder) as address:
        async with Client(f"{address}/mcp", read_timeout_seconds=60, **options) as client:
            yield client


WAYS = pytest.mark.parametrize("connected", [over_stdio, over_http], ids=["stdio", "http"])


@WAYS
@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_the_person_at_the_client_approves(folder: Path, connected: Any, era: str) -> None:
    async def person(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"decision": "approve"})

    async with connected(folder, mode=era, elicitation_callback=person) as client:
        answer = await client.call_tool("execute", {"code": "bank.pay(amount=3)"})
        assert answer.structured_content["value"] == 3


@WAYS
async def test_a_long_program_is_a_task(folder: Path, connected: Any) -> None:
    declared = Tasks()
    async with connected(folder, extensions=[declared]) as client:
        await client.call_tool("execute", {"code": "import time\ntime.sleep(6)\n'slept'"})
        state = await ended(client, declared.created[0].task_id)
        assert state["result"]["structuredContent"]["value"] == "slept"
