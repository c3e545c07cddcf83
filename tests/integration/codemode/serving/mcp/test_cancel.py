"""A client that gives up ends its program: over stdio and over HTTP, in both eras."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

COMMAND = str(Path(sys.executable).parent / "codemode")
CONFIGURATION = """
sources: {shop: {location: shop.py}}
limits: {wall_s: 600, cpu_s: 600}
observe: {audit_file: audit.jsonl}
server: {port: 0}
state_folder: state
cache_folder: cache
"""
SHOP = '''
def price_of(name: str) -> int:
    """What a thing costs."""
    return 3
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "codemode.yaml").write_text(CONFIGURATION, encoding="utf-8")
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    return tmp_path


def variables(folder: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(folder)}  # noqa: TID251


@asynccontextmanager
async def over_stdio(folder: Path, era: str) -> AsyncIterator[Client]:
    server = StdioServerParameters(command=COMMAND, args=["mcp"], env=variables(folder), cwd=folder)
    async with Client(stdio_client(server), mode=era, read_timeout_seconds=60) as client:
        yield client


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of `codemode serve`."""
    with subprocess.Popen(
        [COMMAND, "serve"], cwd=folder, stderr=subprocess.PIPE, env=variables(folder), text=True
    ) as process:
        assert process.stderr is not None
        said = ""
        while "http://" not in (line := process.stderr.readline()):
            assert line, said
            said += line
        yield line.rpartition(" ")[2].strip()
        process.send_signal(signal.SIGTERM)
        process.communicate()


@asynccontextmanager
async def over_http(folder: Path, era: str) -> AsyncIterator[Client]:
    with serving(folder) as address:
        async with Client(f"{address}/mcp", mode=era, read_timeout_seconds=60) as client:
            yield client


def ended(folder: Path) -> list[Any]:
    """How executions ended, as the audit log has them."""
    file = folder / "audit.jsonl"
    events = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []
    return [event["status"] for event in events if event["event"] == "ended"]


@pytest.mark.parametrize("era", ["auto", "legacy"])
@pytest.mark.parametrize("connected", [over_stdio, over_http], ids=["stdio", "http"])
async def test_a_request_that_is_cancelled_ends_its_program_and_the_next_is_answered(
    folder: Path, connected: Any, era: str
) -> None:
    runs = asyncio.Event()

    async def heard(_progress: float, _total: float | None, _message: str | None) -> None:
        runs.set()

    async with connected(folder, era) as client:
        call = asyncio.create_task(client.call_tool("execute", {"code": "while True: pass"}, progress_callback=heard))
        await runs.wait()
        call.cancel()
        with suppress(asyncio.CancelledError):
            await call
        while not ended(folder):  # noqa: ASYNC110 -- another process writes it
            await asyncio.sleep(0.05)
        assert ended(folder) == ["cancelled"]
        answer = await client.call_tool("execute", {"code": "shop.price_of(name='bolt')"})
        assert answer.structured_content["value"] == 3
