"""Several `codemode serve` on one journal, each with a port of its own, which a test stops, kills and starts again."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import yaml

from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

TOOLS = """
import time
from pathlib import Path
from codemode import tool

@tool(effect="read")
def get(n: int) -> int:
    "Get a number."
    return n

@tool(effect="write")
def put(n: int) -> int:
    "Put a number."
    with open("put", "a") as file:
        file.write(f"{n}\\n")
    return n

@tool(effect="write")
def put_when_released(n: int, release: str) -> int:
    "Put a number at once, and return once a file exists."
    put(n)
    while not Path(release).exists():
        time.sleep(0.01)
    return n

@tool(effect="read")
def get_when_released(n: int, release: str) -> int:
    "Get a number, once a file exists."
    with open("got", "a") as file:
        file.write(f"{n}\\n")
    while not Path(release).exists():
        time.sleep(0.01)
    return n

@tool(effect="destructive")
def drop(n: int) -> int:
    "Drop a number."
    return put(n)
"""
SECTIONS: dict[str, Any] = {
    "name": "shop",
    "sources": {"box": {"location": "python:tools"}},
    "policy": {"default": {"write": "allow", "destructive": "ask"}},
}


class Server:
    """One server. `url` stays the same over restarts. With `tree` it runs the packages in that folder."""

    def __init__(self, folder: Path, config: Path, *, tree: Path | None = None) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.tree = tree
        self.log = ""
        self._folder = folder
        self._config = config
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._listens = asyncio.Event()

    async def start(self) -> None:
        """Start it, and wait until it is ready."""
        self._listens.clear()
        where = os.pathsep.join(str(one) for one in (self.tree, self._folder) if one is not None)
        environment = {"PATH": os.environ["PATH"], "HOME": str(self._folder), "PYTHONPATH": where}  # noqa: TID251
        command = [sys.executable, "-m", "codemode", "serve", "-c", str(self._config), "--port", str(self.port)]
        self._process = await asyncio.create_subprocess_exec(
            *command, cwd=self._folder, env=environment, stderr=PIPE, limit=1_000_000
        )
        self._reading = asyncio.create_task(self._read())
        await self._listens.wait()
        assert self._process.returncode is None, self.log
        await until(partial(is_ready, self.url))

    async def _read(self) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        while line := await self._process.stderr.readline():
            self.log += line.decode()
            if b"http://" in line:
                self._listens.set()
        await self._process.wait()
        self._listens.set()

    def tell(self, number: int) -> None:
        """Send a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    async def ended(self) -> int:
        """Wait for its end, and return the exit code."""
        assert self._process is not None
        assert self._reading is not None
        await self._reading
        return await self._process.wait()

    async def stop(self) -> None:
        """Stop it as an operator does. It ends by itself."""
        self.tell(signal.SIGTERM)
        assert await self.ended() == 0, self.log

    async def kill(self) -> None:
        """Kill it."""
        self.tell(signal.SIGKILL)
        await self.ended()

    async def end(self) -> None:
        """Kill it if it runs."""
        if self._process is not None and self._process.returncode is None:
            await self.kill()


@asynccontextmanager
async def servers(folder: Path, url: str | None = None, count: int = 2, **sections: Any) -> AsyncIterator[list[Server]]:
    """Yield servers on one journal, not yet started: in the database at `url`, else in a file."""
    (folder / "tools.py").write_text(TOOLS)
    (folder / "key").write_text("the key of all")
    journal = {"key": {"file": str(folder / "key")}, **({"url": url} if url else {}), **sections.pop("journal", {})}
    made = []
    for number in range(count):
        own = f"state-{number}" if url else "state"
        settings = {
            **SECTIONS,
            "journal": journal,
            "state_folder": str(folder / own),
            "cache_folder": str(folder / "cache"),
            **sections,
        }
        config = folder / f"server-{number}.yaml"
        config.write_text(yaml.safe_dump(settings))
        made.append(Server(folder, config))
    try:
        yield made
    finally:
        for server in made:
            await server.end()


async def is_ready(url: str) -> bool:
    """Return whether a server wants requests, as a load balancer asks it: on a connection of its own."""
    host, _, port = url.removeprefix("http://").partition(":")
    try:
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"GET /readyz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read()
    except OSError:
        return False
    writer.close()
    return answer.startswith(b"HTTP/1.1 200")


async def is_away(url: str) -> bool:
    """Return whether a server wants no requests."""
    return not await is_ready(url)


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something holds that other processes bring about."""
    while not await holds():  # noqa: ASYNC110 -- it has no event here
        await asyncio.sleep(0.02)


async def has_line(file: Path, line: str) -> bool:
    """Return whether a file has a line."""
    return file.exists() and line in file.read_text().split()  # noqa: ASYNC240 -- a few bytes
