"""`sandbox` as a package of its own: its wheel runs a program where nothing else of the project is installed."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING
from zipfile import ZipFile

from tests.acceptance.packaging.conftest import PIP, ROOT, checked

if TYPE_CHECKING:
    from pathlib import Path

_PROGRAM = """
import asyncio
from importlib.util import find_spec

from sandbox import Sandbox


async def main():
    async with Sandbox() as sandbox:
        outcome = await sandbox.run("sum(range(10))")
        print(outcome.status, outcome.value, find_spec("codemode"))


asyncio.run(main())
"""


def test_its_wheel_runs_a_program_in_an_empty_environment(tmp_path: Path) -> None:
    checked([*PIP, "wheel", "--no-deps", "--wheel-dir", tmp_path, ROOT / "sandbox"])
    (wheel,) = tmp_path.glob("*.whl")
    with ZipFile(wheel) as archive:
        assert {name.partition("/")[0] for name in archive.namelist() if ".dist-info/" not in name} == {"sandbox"}
        assert "sandbox/py.typed" in archive.namelist()
    environment = tmp_path / "venv"
    checked([sys.executable, "-m", "venv", "--without-pip", environment])
    checked([*PIP, "--python", environment / "bin" / "python", "install", wheel])
    program = tmp_path / "program.py"
    program.write_text(_PROGRAM, encoding="utf-8")
    ended = subprocess.run(
        [environment / "bin" / "python", program], capture_output=True, text=True, cwd=tmp_path, env={}
    )
    assert ended.stdout == "completed 45 None\n", ended.stderr


def test_it_needs_what_the_project_needs_for_it() -> None:
    ours, whole = (
        tomllib.loads((folder / "pyproject.toml").read_text())["project"] for folder in (ROOT / "sandbox", ROOT)
    )
    assert set(ours["dependencies"]) <= set(whole["dependencies"])
    assert ours["optional-dependencies"]["monty"] == whole["optional-dependencies"]["monty"]
    assert ours["requires-python"] == whole["requires-python"]
