"""The lockdown on this machine, in the settings that it meets: as root, as nobody, and inside containers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parents[1] / "programs"
REPORT = """
import asyncio, json, sys
from sandbox import Sandbox
async def main():
    async with Sandbox(program="bare_program", folders=(sys.argv[1],), require=()) as sandbox:
        outcome = await sandbox.run("result = 1 + 1")
        print(json.dumps([dict(sandbox.isolation), outcome.value, outcome.isolation]))
asyncio.run(main())
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the lockdown is Linux's")
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")

ALL = {"seccomp", "rlimits", "fork_server", "user", "capabilities", "namespaces", "landlock"}


def report(setting: str | None) -> tuple[dict[str, str], object, list[str]]:
    command = [sys.executable, "-c", REPORT, str(PROGRAMS)]
    if setting is not None:
        command = [sys.executable, str(PROGRAMS / "in_setting.py"), setting, *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found, value, layers = json.loads(done.stdout)
    return found, value, layers


@pytest.mark.parametrize("setting", [None, pytest.param("nobody", marks=needs_root)])
def test_every_layer_is_in_force(setting: str | None) -> None:
    found, value, layers = report(setting)
    assert found == dict.fromkeys(found, "in force")
    assert (set(found), set(layers), value) == (ALL, ALL, 2)


@pytest.mark.parametrize("setting", ["filtered", pytest.param("nobody,filtered", marks=needs_root)])
def test_where_unshare_and_landlock_are_refused_the_required_layers_hold_and_the_others_are_told(setting: str) -> None:
    found, value, layers = report(setting)
    assert set(layers) == ALL - {"namespaces", "landlock"}
    assert value == 2
    assert found["namespaces"].startswith("possible: see the machine's files, send a packet, see other processes (")
    assert "unshare: Operation not permitted" in found["namespaces"]
    assert found["landlock"].startswith("not there: landlock_create_ruleset: Operation not permitted")


@needs_root
@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("stuck", "Operation not permitted"),
        ("nobody,rootless", "Operation not permitted"),
        ("nobody,rootless,filtered", "Operation not permitted"),
    ],
)
def test_a_root_that_cannot_change_its_user_does_not_have_that_layer(setting: str, reason: str) -> None:
    found, _, layers = report(setting)
    assert "user" not in layers
    assert reason in found["user"]


@needs_root
def test_a_root_that_cannot_change_its_user_is_refused_where_that_layer_is_required() -> None:
    command = [sys.executable, "-c", REPORT.replace("require=()", 'require=("user",)'), str(PROGRAMS)]
    in_setting = [sys.executable, str(PROGRAMS / "in_setting.py"), "nobody,rootless,filtered"]
    done = subprocess.run([*in_setting, *command], capture_output=True, text=True, check=False)
    assert "SandboxUnavailable" in done.stderr
    assert "run as an ordinary user, or give root CAP_SETUID and CAP_SETGID" in done.stderr
