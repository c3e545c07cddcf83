"""`codemode mcp` answers a client before its sources are read, and says in its answers where they cannot be."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import TextContent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

COMMAND = str(Path(sys.executable).parent / "codemode")

#: A source that is not there before a file is.
SERVER = Path(__file__).parents[4] / "unit" / "codemode" / "sources" / "misbehaving_server.py"
SLOW = f"while [ ! -e go ]; do sleep 0.05; done; exec {sys.executable} {SERVER} log"


@asynccontextmanager
async def client(folder: Path, era: str, configuration: str) -> AsyncIterator[Client]:
    (folder / "codemode.yaml").write_text(
        f"{configuration}\nstate_folder: state\ncache_folder: cache\n", encoding="utf-8"
    )
    variables = {"PATH": os.environ["PATH"], "HOME": str(folder)}  # noqa: TID251
    with (folder / "errors").open("w", encoding="utf-8") as errors:
        server = StdioServerParameters(
            command=COMMAND, args=["mcp", "--config", "codemode.yaml"], env=variables, cwd=folder
        )
        async with Client(stdio_client(server, errlog=errors), mode=era, read_timeout_seconds=60) as connected:
            yield connected


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_client_is_greeted_while_the_sources_are_read(tmp_path: Path, era: str) -> None:
    source = json.dumps({"slow": {"command": ["sh", "-c", SLOW], "timeout_s": 60}})
    async with client(tmp_path, era, f"sources: {source}") as connected:
        assert connected.server_info is not None
        (tmp_path / "go").touch()
        search, execute = (await connected.list_tools()).tools
        assert (search.name, execute.name) == ("search", "execute")
        assert "slow.plain(" in str(execute.description), "the first list of a new project has the signatures"
        ended = await connected.call_tool("execute", {"code": "slow.plain()"})
        assert ended.structured_content["value"] == "plain"


async def test_where_a_source_cannot_be_read_the_client_and_standard_error_are_told(tmp_path: Path) -> None:
    async with client(tmp_path, "auto", "sources: {gone: {location: gone.json}}") as connected:
        assert [tool.name for tool in (await connected.list_tools()).tools] == ["search", "execute"]
        ended = await connected.call_tool("execute", {"code": "gone.things()"})
        assert ended.is_error
        assert isinstance(ended.content[0], TextContent)
        assert "gone is unavailable: cannot be read: No such file" in ended.content[0].text
    assert "gone.json" in (tmp_path / "errors").read_text(encoding="utf-8")


WAITS = '''
import asyncio
from pathlib import Path

from codemode import tool


@tool(effect="read")
async def wait() -> None:
    """Wait for ever, and say so through a pipe."""
    Path(__file__).with_name("came").write_text("", encoding="utf-8")
    await asyncio.Event().wait()
'''


def test_who_is_told_to_end_leaves_nothing_that_would_go_on(tmp_path: Path) -> None:
    (tmp_path / "bank.py").write_text(WAITS, encoding="utf-8")
    (tmp_path / "codemode.yaml").write_text(
        "sources: {bank: {kind: python, location: bank.py}}\nstate_folder: state\ncache_folder: cache\n",
        encoding="utf-8",
    )
    os.mkfifo(tmp_path / "came")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}  # noqa: TID251
    greeting = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    call = {"name": "execute", "arguments": {"code": "bank.wait()"}}
    with subprocess.Popen(
        [COMMAND, "mcp", "--config", "codemode.yaml"],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        for message in (
            {"id": 1, "method": "initialize", "params": greeting},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/call", "params": call},
        ):
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()
        (tmp_path / "came").read_bytes()  # until the call is under way
        server.send_signal(signal.SIGTERM)
        assert server.wait() == 143
    listed = subprocess.run(
        [COMMAND, "executions", "list", "--json", "--config", "codemode.yaml"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        check=True,
    )
    assert [one["status"] for one in json.loads(listed.stdout)] == ["cancelled"]
