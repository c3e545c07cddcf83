"""Ray Serve with codemode, as `serve run` starts it from a configuration file."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2

from tests.integration.codemode.executions.upstream import document
from tests.integration.servers.running import program
from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

KEY = "a-key-for-tests"
IN_SETTING = Path(__file__).parents[2] / "unit/sandbox/programs/in_setting.py"
TOOLS = """
import os
from codemode import tool

@tool(effect="read")
def server() -> int:
    "Return the process of the replica."
    return os.getpid()
"""

#: Seconds that Ray and its replicas may take to start on a busy machine.
STARTED_S = 180.0

_PAUSE_S = 0.2


def configuration(folder: Path, upstream_port: int, database: str, **sections: Any) -> Path:
    """Write the configuration of replicas over the counting service, and return its file."""
    (folder / "tools.py").write_text(TOOLS, encoding="utf-8")
    (folder / "x.json").write_text(json.dumps(document()), encoding="utf-8")
    (folder / "secret").write_text(KEY, encoding="utf-8")
    up = {
        "location": "x.json",
        "base_url": f"http://127.0.0.1:{upstream_port}",
        "credentials": [{"kind": "none"}],
        "idempotency_header": "Idempotency-Key",
    }
    content = {
        "name": "on-ray",
        "sources": {"up": up, "box": {"location": "python:tools"}},
        "server": {"keys": [{"file": str(folder / "secret")}], "drain_s": 5},
        "journal": {"url": database, "key": {"file": str(folder / "secret")}, "lease_s": 2},
        "policy": {"default": {"write": "allow"}},
        "state_folder": str(folder / "state"),
        "cache_folder": str(folder / "cache"),
        **sections,
    }
    file = folder / "codemode.yaml"
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


def serve_run(folder: Path, arguments: dict[str, Any], port: int, *, setting: str = "") -> subprocess.Popen[bytes]:
    """Start `serve run` with a Serve configuration. What it writes is in the file `log`.

    `setting` is one of `in_setting.py`, which takes layers of isolation away.
    """
    application = {
        "name": "codemode",
        "import_path": "codemode.serving.ray:app",
        "args": arguments,
        "deployments": [{"name": "codemode", "ray_actor_options": {"num_cpus": 0.5}}],
    }
    content = {"http_options": {"host": "127.0.0.1", "port": port}, "applications": [application]}
    (folder / "serve.yaml").write_text(json.dumps(content), encoding="utf-8")
    command = [program("ray", "serve"), "run", "serve.yaml"]
    if setting:
        command = [program("ray", "python"), str(IN_SETTING), setting, *command]
    environment = {
        "PATH": os.environ["PATH"],  # noqa: TID251
        "HOME": str(folder),
        "PYTHONPATH": os.pathsep.join((str(folder), str(Path(__file__).parents[3]))),
        "PYTHONUNBUFFERED": "1",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ADDRESS": "local",  # no cluster that already runs on this machine
        "RAY_AUTH_MODE": "disabled",
        "RAY_DEFAULT_OBJECT_STORE_MEMORY_MAX_BYTES": str(200 * 1024**2),
    }
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            command, cwd=folder, stdout=log, stderr=subprocess.STDOUT, env=environment, start_new_session=True
        )


async def ended(process: subprocess.Popen[bytes]) -> int:
    """Interrupt `serve run` like a person at a terminal, and wait for its end."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    return await asyncio.to_thread(process.wait, 60)


@dataclass(frozen=True)
class RayServe:
    """Replicas that answer at `client`."""

    process: subprocess.Popen[bytes]
    client: httpx2.AsyncClient

    async def execute(self, code: str, *, key: str = "", **body: Any) -> httpx2.Response:
        """Ask for an execution."""
        headers = {"Idempotency-Key": key} if key else {}
        return await self.client.post("/v1/execute", json={"code": code, **body}, headers=headers)

    async def replicas(self, count: int) -> set[int]:
        """Wait until this many replicas have answered, and return their processes."""
        found: set[int] = set()
        async with asyncio.timeout(STARTED_S):
            while len(found) < count:
                answer = await self.execute("box.server()")
                assert answer.status_code == 200, answer.text
                found.add(answer.json()["value"])
        return found


@asynccontextmanager
async def ray_serve(folder: Path, config: Path, *, replicas: int = 2) -> AsyncIterator[RayServe]:
    """Run replicas until the end of the block."""
    port = free_port()
    process = serve_run(folder, {"config": str(config), "min_replicas": replicas}, port)
    client = httpx2.AsyncClient(
        base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {KEY}"}, timeout=60
    )
    try:
        async with client:
            await _ready(process, client, folder / "log")
            yield RayServe(process, client)
    finally:
        await ended(process)


async def _ready(process: subprocess.Popen[bytes], client: httpx2.AsyncClient, log: Path) -> None:
    async with asyncio.timeout(STARTED_S):
        while process.poll() is None:
            with suppress(httpx2.HTTPError):
                if (await client.get("/readyz")).status_code == 200:
                    return
            await asyncio.sleep(_PAUSE_S)
    raise AssertionError(await _text(log))


async def _text(log: Path) -> str:
    return await asyncio.to_thread(log.read_text, errors="replace")


async def said(process: subprocess.Popen[bytes], log: Path, words: Sequence[str]) -> str:
    """Wait until the log has all these words, and return it."""
    async with asyncio.timeout(STARTED_S):
        while True:
            is_over = process.poll() is not None
            text = await _text(log)
            if all(word in text for word in words):
                return text
            assert not is_over, text[-3000:]
            await asyncio.sleep(_PAUSE_S)
