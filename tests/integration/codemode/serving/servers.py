"""Real `codemode serve` processes on one PostgreSQL, each with its own state folder."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import yaml

from tests.integration.codemode.executions.upstream import Place, document

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncGenerator, AsyncIterator

COMMAND = str(Path(sys.executable).parent / "codemode")


@dataclass
class Served:
    """A server process, and a client of it. `log` is what it wrote, once it has ended."""

    process: Process
    http: httpx2.AsyncClient
    log: list[str] = field(default_factory=list)

    async def execute(self, code: str) -> dict[str, Any]:
        """Run a program and return its outcome."""
        answer = await self.http.post("/v1/execute", json={"code": code})
        outcome: dict[str, Any] = answer.json()
        assert answer.status_code == 200, outcome
        return outcome

    async def start(self, code: str) -> str:
        """Start a program in the background and return the id of its execution."""
        answer = await self.http.post("/v1/execute", json={"code": code, "wait_s": 0})
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])

    async def running(self) -> list[str]:
        """Return the ids of running executions."""
        answer = await self.http.get("/v1/executions", params={"status": "running"})
        return [one["id"] for one in answer.json()["executions"]]

    async def ended(self, execution: str) -> dict[str, Any]:
        """Return an execution once it has ended."""
        async for _ in self.events(execution):
            pass
        found: dict[str, Any] = (await self.http.get(f"/v1/executions/{execution}")).json()
        return found

    async def events(self, execution: str) -> AsyncGenerator[dict[str, Any]]:
        """Yield the events of an execution as they arrive."""
        async with self.http.stream("GET", f"/v1/executions/{execution}/events") as answer:
            async for line in answer.aiter_lines():
                if line.startswith("data:"):
                    yield json.loads(line[5:])


@asynccontextmanager
async def served(here: Place, url: str, name: str, **sections: Any) -> AsyncIterator[Served]:
    """Start a server over the upstream of a place. It is told to stop at the end, unless it was killed."""
    folder = here.folder / name
    folder.mkdir()
    (folder / "x.json").write_text(json.dumps(document()))
    journal = {"url": url, "key": {"env": "JOURNAL_KEY"}, **sections.pop("journal", {})}
    up = {"location": "x.json", "base_url": f"http://127.0.0.1:{here.port}"}
    folders = {"state_folder": "state", "cache_folder": "cache"}
    configuration = {"name": "shared", "sources": {"up": up}, "journal": journal, **folders, **sections}
    (folder / "codemode.yaml").write_text(yaml.safe_dump(configuration))
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "JOURNAL_KEY": "the key of all"}  # noqa: TID251
    process = await asyncio.create_subprocess_exec(
        *(COMMAND, "serve", "--config", "codemode.yaml", "--port", "0"),
        cwd=folder,
        env=environment,
        stdout=DEVNULL,
        stderr=PIPE,
    )
    assert process.stderr is not None
    while b"http://" not in (line := await process.stderr.readline()):
        assert line, "it did not start"
    base_url = "http://" + line.decode().partition("http://")[2].split()[0]
    async with httpx2.AsyncClient(base_url=base_url, timeout=120) as http:
        server = Served(process, http)
        reading = asyncio.create_task(_read(process.stderr, server.log))
        try:
            yield server
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()
            await reading


async def _read(stream: asyncio.StreamReader, log: list[str]) -> None:
    log.extend([line.decode() async for line in stream])


@asynccontextmanager
async def several(here: Place, url: str, count: int, **sections: Any) -> AsyncIterator[list[Served]]:
    """Start several servers."""
    async with AsyncExitStack() as stack:
        entering = [stack.enter_async_context(served(here, url, f"server-{n}", **sections)) for n in range(count)]
        yield [await one for one in entering]
