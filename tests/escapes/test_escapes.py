"""Every attempt of the corpus, against each layer alone and against all of them, in each setting."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
IN_SETTING = HERE.parent / "sandbox" / "programs" / "in_setting.py"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.skipif(sys.platform != "linux", reason="the process wall is Linux's"),
]
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")

SETTINGS = [
    None,
    "filtered",
    pytest.param("nobody", marks=needs_root),
    pytest.param("nobody,filtered", marks=needs_root),
]


def attack(shared_data, layer, setting=None):
    attack_with(shared_data("security") / "escapes.yaml", layer, setting)


def attack_with(records, layer, setting=None):
    command = [sys.executable, str(HERE / "run.py"), str(records), "--layer", layer]
    if setting is not None:
        command = [sys.executable, str(IN_SETTING), setting, *command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=380, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-2000:]}"


def test_without_walls_the_attempts_succeed(shared_data):
    attack(shared_data, "control")


def test_the_language_alone_holds_every_attempt_that_names_it(shared_data):
    attack(shared_data, "language")


def test_the_capability_layer_alone_holds_every_hostile_frame(shared_data):
    attack(shared_data, "capability")


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_process_alone_holds_every_attempt_that_names_it(shared_data, setting):
    attack(shared_data, "os", setting)


@pytest.mark.parametrize("setting", SETTINGS)
def test_all_layers_together_hold_every_attempt(shared_data, setting):
    attack(shared_data, "all", setting)


@pytest.mark.parametrize("layer", ["control", "language", "capability", "os", "all"])
def test_attempts_that_this_project_found_are_held(layer):
    attack_with(HERE / "own.yaml", layer)
