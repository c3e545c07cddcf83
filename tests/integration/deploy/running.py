"""`codemode serve` on ports of our own, and HAProxy with `deploy/haproxy.cfg` in front of two of them."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import yaml

from tests.ports import free_port

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator

DEPLOY = Path(__file__).parents[3] / "deploy"

#: The key of callers.
KEY = "a-key"
BEARER = {"Authorization": f"Bearer {KEY}"}

_COMMAND = str(Path(sys.executable).parent / "codemode")
_PAUSE_S = 0.05
_TOOLS = """
import os
from codemode import tool

@tool(effect="read")
def server() -> int:
    "Return the process of the server."
    return os.getpid()

@tool(effect="read")
def fail() -> None:
    "Fail."
    raise ValueError("no")

@tool(effect="destructive")
def drop() -> None:
    "Drop what a person approves."
"""


def program(name: str) -> str:
    """Return the path of a program of the distribution. Skips without it."""
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin")
    if path is None:
        pytest.skip(f"{name} is not installed: make servers")
    return path


def environment(folder: Path, **variables: str) -> dict[str, str]:
    """Return what a process needs, and nothing else of ours."""
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(folder), **variables}  # noqa: TID251


async def end(process: Process) -> None:
    """Stop a process as an operator does."""
    if process.returncode is None:
        process.terminate()
    await process.wait()


class Servers:
    """Two servers with one configuration and one journal, on fixed ports."""

    def __init__(self, folder: Path, load: dict[str, Any] | None = None, **sections: Any) -> None:
        self.ports = (free_port(), free_port())
        self.processes: list[Process] = []
        self._folder = folder
        own = {
            "name": "test",
            "sources": {"box": {"location": "python:tools"}},
            "policy": {"default": {"destructive": "ask"}},
            "server": {"keys": [{"env": "CODEMODE_API_KEY"}], "load": load or {"wait_s": 60}},
            "state_folder": "state",
            "cache_folder": "cache",
        }
        (folder / "codemode.yaml").write_text(yaml.safe_dump(own | sections), encoding="utf-8")
        (folder / "tools.py").write_text(_TOOLS, encoding="utf-8")

    async def start(self, port: int) -> Process:
        """Start a server, and wait until it listens."""
        command = (_COMMAND, "serve", "--config", "codemode.yaml", "--port", str(port))
        variables = environment(self._folder, CODEMODE_API_KEY=KEY)
        process = await asyncio.create_subprocess_exec(*command, cwd=self._folder, env=variables, stderr=PIPE)
        self.processes.append(process)
        assert process.stderr is not None
        said = ""
        while f":{port}" not in said:
            line = await process.stderr.readline()
            assert line, f"the server did not start: {said}"
            said += line.decode()
        return process

    async def end(self) -> None:
        """Stop the servers that run."""
        await asyncio.gather(*map(end, self.processes))


class Balancer:
    """HAProxy that runs. `url` is where clients connect, `metrics` where it reports."""

    def __init__(self, port: int, metrics_port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.metrics = f"http://127.0.0.1:{metrics_port}/metrics"

    async def up(self, count: int) -> None:
        """Wait until so many servers are in use."""
        async with httpx2.AsyncClient() as http:
            while (found := await self._up(http)) != count:
                assert found is None or found <= 2
                await asyncio.sleep(_PAUSE_S)

    async def _up(self, http: httpx2.AsyncClient) -> int | None:
        try:
            text = (await http.get(self.metrics)).text
        except httpx2.TransportError:
            return None  # it is starting
        lines = [line for line in text.splitlines() if line.startswith("haproxy_backend_active_servers{")]
        return int(float(lines[0].rpartition(" ")[2])) if lines else None


@asynccontextmanager
async def haproxy(folder: Path, configuration: Path, **variables: str) -> AsyncIterator[None]:
    """Run HAProxy with a configuration."""
    process = await asyncio.create_subprocess_exec(
        *(program("haproxy"), "-db", "-f", str(configuration)),
        env=environment(folder, **variables),
        stdout=DEVNULL,
        stderr=DEVNULL,
    )
    try:
        yield
    finally:
        process.kill()  # SIGTERM lets its clients finish, which keep connections
        await process.wait()


@asynccontextmanager
async def balancer(folder: Path, ports: tuple[int, int]) -> AsyncIterator[Balancer]:
    """Run HAProxy in front of the servers on these ports, and wait until it uses both."""
    port, metrics_port = free_port(), free_port()
    variables = {
        "CODEMODE_BIND": f"127.0.0.1:{port}",
        "CODEMODE_METRICS_BIND": f"127.0.0.1:{metrics_port}",
        "CODEMODE_ADMIN_SOCKET": str(folder / "admin.sock"),
        "CODEMODE_SERVER_1": f"127.0.0.1:{ports[0]}",
        "CODEMODE_SERVER_2": f"127.0.0.1:{ports[1]}",
    }
    async with haproxy(folder, DEPLOY / "haproxy.cfg", **variables):
        running = Balancer(port, metrics_port)
        await asyncio.wait_for(running.up(2), 60)
        yield running
