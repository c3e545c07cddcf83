"""`codemode serve --processes 2`: real processes on one port, one of which is killed."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import yaml

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

COMMAND = str(Path(sys.executable).parent / "codemode")
TOOLS = """
import os, time
from pathlib import Path
from codemode import tool

@tool(effect="read")
def server() -> int:
    "Return the process of the server."
    return os.getpid()

@tool(effect="read")
def get_when_released(started: str, release: str) -> int:
    "Get the process of the server, once a file exists."
    Path(started).with_suffix(".new").write_text(str(os.getpid()))
    Path(started).with_suffix(".new").rename(started)
    while not Path(release).exists():
        time.sleep(0.01)
    return os.getpid()
"""
SECTIONS = {"sources": {"box": {"location": "python:tools"}}, "policy": {"default": {"write": "allow"}}}


class Server:
    """A supervisor, with the lines that it and its processes wrote."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.lines: list[str] = []
        self._news = asyncio.Condition()
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self.process.stderr is not None
        while line := await self.process.stderr.readline():
            async with self._news:
                self.lines.append(line.decode())
                self._news.notify_all()
        async with self._news:
            self.lines.append("")  # the end
            self._news.notify_all()

    async def said(self, pattern: str, times: int = 1) -> list[str]:
        """Wait until lines with this pattern were written, and return them."""

        def found() -> list[str]:
            return [line for line in self.lines if re.search(pattern, line)]

        async with self._news:
            await self._news.wait_for(lambda: len(found()) >= times or "" in self.lines)
        assert len(found()) >= times, "".join(self.lines)
        return found()

    async def ended(self) -> int:
        """Wait for the end, and return the exit code."""
        code = await self.process.wait()
        await self._reading
        return code


@asynccontextmanager
async def serving(folder: Path, **sections: Any) -> AsyncIterator[Server]:
    """Start two processes."""
    folders = {"state_folder": str(folder / "state"), "cache_folder": str(folder / "cache")}
    (folder / "codemode.yaml").write_text(yaml.safe_dump({**folders, **SECTIONS, **sections}))
    (folder / "tools.py").write_text(TOOLS)
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(folder)}  # noqa: TID251
    temporary = folder / "temporary"
    temporary.mkdir()
    environment["TMPDIR"] = str(temporary)
    process = await asyncio.create_subprocess_exec(
        *(COMMAND, "serve", "--config", "codemode.yaml", "--port", "0", "--processes", "2"),
        cwd=folder,
        env=environment,
        stderr=PIPE,
    )
    server = Server(process)
    try:
        yield server
    finally:
        if process.returncode is None:
            process.terminate()
            await server.ended()


async def url_of(server: Server) -> str:
    lines = await server.said("http://", 2)
    return "http://" + lines[0].partition("http://")[2].strip()


async def ask(url: str, code: str, **more: Any) -> dict[str, Any]:
    """Run a program over a connection of its own."""
    async with httpx2.AsyncClient(base_url=url, timeout=200) as http:
        answer = await http.post("/v1/execute", json={"code": code, **more})
    found: dict[str, Any] = answer.json()
    assert answer.status_code == 200, found
    return found


def is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


async def is_open(url: str) -> bool:
    """Whether the port takes connections."""
    host, _, port = url.removeprefix("http://").partition(":")
    try:
        _, writer = await asyncio.open_connection(host, int(port))
    except ConnectionRefusedError:
        return False
    writer.close()
    return True


async def both(url: str) -> set[int]:
    """Ask until both processes have answered, and return their process ids."""
    seen: set[int] = set()
    while len(seen) < 2:
        answers = await asyncio.gather(*(ask(url, "box.server()") for _ in range(4)))
        seen |= {answer["value"] for answer in answers}
    return seen


async def test_both_processes_answer_and_sigterm_ends_all(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        pids = await both(await url_of(server))
        assert server.process.pid not in pids
        server.process.terminate()
        assert await server.ended() == 0
        assert not any(map(is_running, pids))


async def test_sigterm_closes_the_port_and_lets_a_request_end(tmp_path: Path) -> None:
    started, release = tmp_path / "started", tmp_path / "release"
    async with serving(tmp_path) as server:
        url = await url_of(server)
        code = f"box.get_when_released(started={str(started)!r}, release={str(release)!r})"
        running = asyncio.create_task(ask(url, code))
        while not started.exists():  # noqa: ASYNC110 -- another process creates it
            await asyncio.sleep(0.01)
        server.process.terminate()
        while await is_open(url):  # noqa: ASYNC110 -- another process closes it
            await asyncio.sleep(0.01)
        release.touch()
        assert (await running)["status"] == "completed"
        assert await server.ended() == 0


async def test_a_killed_process_is_replaced_and_its_execution_continues(tmp_path: Path) -> None:
    started, release = tmp_path / "started", tmp_path / "release"
    code = f"box.get_when_released(started={str(started)!r}, release={str(release)!r})"
    async with serving(tmp_path) as server:
        url = await url_of(server)
        before = await both(url)
        async with httpx2.AsyncClient(base_url=url, timeout=200) as http:
            begun = (await http.post("/v1/execute", json={"code": code, "wait_s": 0})).json()
        while not started.exists():  # noqa: ASYNC110 -- another process creates it
            await asyncio.sleep(0.01)
        killed = int(started.read_text())
        os.kill(killed, signal.SIGKILL)
        (other,) = before - {killed}
        assert (await ask(url, "box.server()"))["value"] == other
        await server.said("started again in")
        release.touch()
        async with httpx2.AsyncClient(base_url=url, timeout=200) as http:
            await http.get(f"/v1/executions/{begun['id']}/events")  # until it ends
            ended = (await http.get(f"/v1/executions/{begun['id']}")).json()
        assert ended["status"] == "completed", ended
        assert ended["outcome"]["value"] != killed
        assert killed not in await both(url)


async def test_the_processes_end_with_a_killed_supervisor(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await both(await url_of(server))
        server.process.kill()
        await server.ended()  # standard error closes with the last of the processes
    assert not list((tmp_path / "temporary").iterdir())


async def test_a_mistake_in_the_configuration_ends_the_start(tmp_path: Path) -> None:
    async with serving(tmp_path, observe={"audit_file": str(tmp_path)}) as server:
        assert await server.ended() == 2
        assert await server.said("observe.audit_file: cannot write")


async def test_metrics_are_those_of_all_processes(tmp_path: Path) -> None:
    async with serving(tmp_path, observe={"metrics": True}) as server:
        url = await url_of(server)
        await both(url)
        async with httpx2.AsyncClient(base_url=url) as http:
            first = (await http.get("/metrics")).text
        async with httpx2.AsyncClient(base_url=url) as http:
            second = (await http.get("/metrics")).text
        assert first == second
        assert 'codemode_executions_total{status="completed"}' in first
