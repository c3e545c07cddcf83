"""The `codemode` command in two forms: run in this process, which takes milliseconds, and as the console script."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from codemode.serving.cli.main import app
from codemode.settings import DEFAULT_FILE

#: The console script that the installation made.
SCRIPT = str(Path(sys.executable).parent / "codemode")


@dataclass(frozen=True)
class Ended:
    """The exit code and the output of a command."""

    returncode: int
    stdout: str
    stderr: str


def codemode(*arguments: str, folder: Path | None = None, stdin: str = "", **environment: str) -> Ended:
    """Run a command in this process, in `folder`, which is also its home and whose configuration the user trusts.

    For everything but the behavior of the process itself: signals, encodings, imports, limits of the system.
    """
    if folder is not None:
        trust(folder, **environment)
    return untrusting(*arguments, folder=folder, stdin=stdin, **environment)


def untrusting(*arguments: str, folder: Path | None = None, stdin: str = "", **environment: str) -> Ended:
    """Run a command as `codemode` does, but in a folder that somebody else wrote."""
    variables = {"COLUMNS": "200", **({} if folder is None else {"HOME": str(folder)}), **environment}
    with contextlib.chdir(folder or Path.cwd()):
        ended = CliRunner().invoke(app, arguments, input=stdin, env=variables, catch_exceptions=False)
    return Ended(ended.exit_code, ended.stdout, ended.stderr)


def script(*arguments: str, folder: Path | None = None, stdin: str = "", **environment: str) -> Ended:
    """Run the console script in a process of its own, with no more of the environment than it needs."""
    variables = script_environment(folder) | environment
    ended = subprocess.run(
        [SCRIPT, *arguments], cwd=folder, input=stdin, env=variables, capture_output=True, text=True, timeout=120
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def trust(folder: Path, **environment: str) -> None:
    """Trust the configuration in a folder as the user whose home it is, if there is one."""
    if (folder / DEFAULT_FILE).exists():
        with contextlib.chdir(folder):
            CliRunner().invoke(app, ("trust", "--yes"), env={"HOME": str(folder), **environment})


def script_environment(folder: Path | None = None) -> dict[str, str]:
    """Return the environment of the console script.

    `folder` is its home, where one is given, and the user trusts the configuration there.
    """
    if folder is not None:
        trust(folder)
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}  # noqa: TID251
    return {**kept, "COLUMNS": "200", **({} if folder is None else {"HOME": str(folder)})}
