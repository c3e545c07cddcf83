"""The Monty engine on systems without Linux's modules: commands and the server, with a journal, and no `insecure`."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import yaml

from tests.command_line import script_environment
from tests.integration.codemode.executions.upstream import Place, place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ROOT = Path(__file__).parents[3]
CODE = "import asyncio\nprint('begun')\n[each['n'] for each in await asyncio.gather(up.x.get(n=1), up.x.get(n=2))]"


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as found:
        yield found


async def started(here: Place, engine: str, *arguments: str) -> asyncio.subprocess.Process:
    """Start `codemode` as if on Windows."""
    here.settings()  # writes the document
    source = {"location": str(here.folder / "x.json"), "base_url": f"http://127.0.0.1:{here.port}"}
    config = here.folder / "codemode.yaml"
    config.write_text(yaml.safe_dump({"sources": {"up": source}, "sandbox": {"engine": engine}}), encoding="utf-8")
    command = [sys.executable, "-m", "tests.integration.codemode.elsewhere", *arguments, "--config", str(config)]
    environment = script_environment(here.folder)
    return await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, env=environment, stdin=PIPE, stdout=PIPE, stderr=PIPE
    )


async def test_a_program_runs(here: Place) -> None:
    process = await started(here, "monty", "run", "-", "--json")
    out, errors = await process.communicate(CODE.encode())
    assert process.returncode == 0, errors.decode()
    outcome: dict[str, Any] = json.loads(out)
    assert (outcome["value"], outcome["output"], outcome["isolation"]) == (["1", "2"], "begun\n", ["interpreter"])


async def test_the_server_runs_programs(here: Place) -> None:
    process = await started(here, "monty", "serve", "--port", "0")
    try:
        assert process.stderr is not None
        said = b""
        while b" on http://127.0.0.1:" not in said:
            line = await process.stderr.readline()
            assert line, said.decode()
            said += line
        port = int(said.partition(b" on http://127.0.0.1:")[2].split()[0])
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=200) as http:
            answer = await http.post("/v1/execute", json={"code": CODE})
    finally:
        process.kill()
        await process.wait()
    assert answer.json()["value"] == ["1", "2"]


async def test_doctor_tells_the_engine(here: Place) -> None:
    process = await started(here, "monty", "doctor")
    out, errors = await process.communicate()
    found = b" ".join(out.split()).decode()
    assert "monty: programs are confined by the interpreter, not by the kernel" in found, errors.decode()
    assert "in force (pydantic-monty" in found
