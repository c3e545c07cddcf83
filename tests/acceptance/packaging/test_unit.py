"""The systemd units: their directives are known, and leave the sandbox what it locks its workers with."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DEPLOY = Path(__file__).parents[3] / "deploy"
UNIT = DEPLOY / "codemode.service"

#: One server for each tenant.
TEMPLATE = DEPLOY / "codemode@.service"

#: Settings of systemd that take from the sandbox what its layers are made of, or from Python what greenlets need.
IN_THE_WAY = {"RestrictNamespaces", "PrivateUsers", "MemoryDenyWriteExecute", "PrivateNetwork", "RootDirectory"}

#: Groups of system calls without which no worker can be locked.
NEEDED = {"@mount", "@sandbox", "@privileged", "@process", "@resources", "@system-service"}


def directives(unit: Path = UNIT) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in unit.read_text(encoding="utf-8").splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found.setdefault(name, []).append(value)
    return found


def test_it_leaves_the_sandbox_what_it_needs() -> None:
    unit = directives()
    assert not IN_THE_WAY & unit.keys()
    (calls,) = unit["SystemCallFilter"]
    assert calls.startswith("~")
    assert not NEEDED & set(calls.removeprefix("~").split())


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
@pytest.mark.parametrize("unit", [UNIT, TEMPLATE], ids=lambda unit: unit.name)
def test_systemd_knows_every_directive_of_it(tmp_path: Path, unit: Path) -> None:
    command = str(Path(sys.executable).parent / "codemode")
    name = unit.name.replace("@", "@acme")
    here = tmp_path / name
    here.write_text(unit.read_text(encoding="utf-8").replace("/opt/codemode/bin/codemode", command), encoding="utf-8")
    checked = subprocess.run(["systemd-analyze", "verify", "--man=no", str(here)], capture_output=True, text=True)
    assert (checked.returncode, [line for line in checked.stderr.splitlines() if name in line]) == (0, [])


def test_the_unit_of_a_tenant_differs_in_its_name_and_folders_alone() -> None:
    one, each = directives(), directives(TEMPLATE)
    of_tenants = {name for name in each if each[name] != one.get(name)}
    folders = {"StateDirectory", "CacheDirectory", "ConfigurationDirectory", "Environment"}
    assert of_tenants == {"Description", "ExecStartPre", "ExecStart"} | folders
    assert all("%i" in value for name in of_tenants for value in each[name])
    assert one.keys() == each.keys()


def test_no_layer_is_lost_without_new_privileges(tmp_path: Path) -> None:
    unit = directives()
    assert (unit["NoNewPrivileges"], unit["CapabilityBoundingSet"], unit["UMask"]) == (["yes"], [""], ["0077"])
    assert isolation(tmp_path, "setpriv", "--no-new-privs") == isolation(tmp_path)


def isolation(folder: Path, *before: str) -> dict[str, str]:
    """What `doctor` says of each layer, run by the command `before` it."""
    (folder / "codemode.yaml").write_text("sources: {}\n", encoding="utf-8")
    command = [*before, str(Path(sys.executable).parent / "codemode"), "doctor", "--json"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}  # noqa: TID251
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, umask=0o077)
    findings: list[dict[str, Any]] = json.loads(ended.stdout)
    found = {each["subject"]: each["found"] for each in findings if each["area"] == "isolation"}
    assert found, ended.stderr
    return found
