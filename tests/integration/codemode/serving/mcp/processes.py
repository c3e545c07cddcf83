"""Clients of `codemode mcp` and `codemode serve`, each a process of its own in the folder of its configuration."""

from __future__ import annotations

import signal
import subprocess
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from tests.command_line import SCRIPT, script_environment

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path


@asynccontextmanager
async def over_stdio(folder: Path, **options: Any) -> AsyncIterator[Client]:
    """Yield a client of `codemode mcp`."""
    server = StdioServerParameters(
        command=SCRIPT, args=["mcp", "--config", "codemode.yaml"], env=script_environment(folder), cwd=folder
    )
    async with Client(stdio_client(server), read_timeout_seconds=60, **options) as client:
        yield client


@asynccontextmanager
async def over_http(folder: Path, **options: Any) -> AsyncIterator[Client]:
    """Yield a client of `codemode serve`."""
    with _serving(folder) as address:
        async with Client(f"{address}/mcp", read_timeout_seconds=60, **options) as client:
            yield client


WAYS = pytest.mark.parametrize("connected", [over_stdio, over_http], ids=["stdio", "http"])


@contextmanager
def _serving(folder: Path) -> Iterator[str]:
    """Yield the address of `codemode serve`."""
    with subprocess.Popen(
        [SCRIPT, "serve"], cwd=folder, stderr=subprocess.PIPE, env=script_environment(folder), text=True
    ) as process:
        assert process.stderr is not None
        said = ""
        while "http://" not in (line := process.stderr.readline()):
            assert line, said
            said += line
        yield line.rpartition(" ")[2].strip()
        process.send_signal(signal.SIGTERM)
        process.communicate()
