"""The wheel, built from this tree, and an environment into which it alone was installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[3]
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


def checked(command: Sequence[str | Path]) -> None:
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    checked([*PIP, "wheel", "--no-deps", "--wheel-dir", folder, ROOT])
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel, its dependencies and nothing else, not even pip."""
    environment = tmp_path_factory.mktemp("installed") / "venv"
    checked([sys.executable, "-m", "venv", "--without-pip", environment])
    checked([*PIP, "--python", environment / "bin" / "python", "install", wheel])
    return environment
