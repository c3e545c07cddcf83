"""`deploy/seccomp.json`: under it all layers of the sandbox are in force."""

from __future__ import annotations

import json
import subprocess
import sys
from ctypes.util import find_library
from pathlib import Path
from typing import Any

import pytest

from tests.integration.deploy.running import DEPLOY, environment


def isolation(folder: Path, profile: dict[str, Any]) -> dict[str, str]:
    """What `codemode doctor` finds of each layer under this seccomp profile."""
    (folder / "profile.json").write_text(json.dumps(profile), encoding="utf-8")
    (folder / "codemode.yaml").write_text("sources: {}\n", encoding="utf-8")
    under = [sys.executable, str(Path(__file__).parent / "under_profile.py"), str(folder / "profile.json")]
    command = ["setpriv", "--no-new-privs", *under, str(Path(sys.executable).parent / "codemode"), "doctor", "--json"]
    ended = subprocess.run(command, cwd=folder, env=environment(folder), capture_output=True, text=True)
    findings = json.loads(ended.stdout)
    return {each["subject"]: each["found"] for each in findings if each["area"] == "isolation"}


def without(profile: dict[str, Any], name: str) -> dict[str, Any]:
    rules = [{**rule, "names": [each for each in rule["names"] if each != name]} for rule in profile["syscalls"]]
    return {**profile, "syscalls": rules}


@pytest.mark.skipif(find_library("seccomp") is None, reason="libseccomp is not installed: make servers")
def test_the_seccomp_profile_leaves_the_sandbox_what_it_needs(tmp_path: Path) -> None:
    profile = json.loads((DEPLOY / "seccomp.json").read_text(encoding="utf-8"))
    assert set(isolation(tmp_path, profile).values()) == {"in force"}
    assert isolation(tmp_path, without(profile, "unshare"))["namespaces"] != "in force"
