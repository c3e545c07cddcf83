"""`codemode mcp` answers a client before its sources are read, and says in its answers where they cannot be."""

from __future__ import annotations

import json
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mcp import Client, MCPError, StdioServerParameters, stdio_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

COMMAND = str(Path(sys.executable).parent / "codemode")

#: A source that is not there before a file is.
SERVER = Path(__file__).parents[1] / "sources" / "misbehaving_server.py"
SLOW = f"while [ ! -e go ]; do sleep 0.05; done; exec {sys.executable} {SERVER} log"


@asynccontextmanager
async def client(folder: Path, era: str, configuration: str) -> AsyncIterator[Client]:
    (folder / "codemode.yaml").write_text(
        f"{configuration}\nstate_folder: state\ncache_folder: cache\n", encoding="utf-8"
    )
    variables = {"PATH": os.environ["PATH"], "HOME": str(folder)}  # noqa: TID251
    with (folder / "errors").open("w", encoding="utf-8") as errors:
        server = StdioServerParameters(command=COMMAND, args=["mcp"], env=variables, cwd=folder)
        async with Client(stdio_client(server, errlog=errors), mode=era, read_timeout_seconds=60) as connected:
            yield connected


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_client_is_greeted_while_the_sources_are_read(tmp_path: Path, era: str) -> None:
    source = json.dumps({"slow": {"command": ["sh", "-c", SLOW], "timeout_s": 60}})
    async with client(tmp_path, era, f"sources: {source}") as connected:
        assert connected.server_info is not None
        (tmp_path / "go").touch()
        assert [tool.name for tool in (await connected.list_tools()).tools] == ["search", "execute"]
        ended = await connected.call_tool("execute", {"code": "slow.plain()"})
        assert ended.structured_content["value"] == "plain"


async def test_where_a_source_cannot_be_read_the_client_and_standard_error_are_told(tmp_path: Path) -> None:
    async with client(tmp_path, "auto", "sources: {gone: {location: gone.json}}") as connected:
        with pytest.raises(MCPError, match=r"gone\.json"):
            await connected.list_tools()
        ended = await connected.call_tool("execute", {"code": "1"})
        assert ended.is_error
    assert "gone.json" in (tmp_path / "errors").read_text(encoding="utf-8")
