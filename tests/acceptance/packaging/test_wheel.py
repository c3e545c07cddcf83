"""The wheel, built and tried outside the tree."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import PathDistribution
from pathlib import Path
from zipfile import ZipFile

import pytest

from codemode import __version__

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(command, check=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's files in a folder of their own; what it depends on comes from this environment."""
    folder = tmp_path_factory.mktemp("installed")
    with ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run(installed: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {"PYTHONPATH": str(installed), "PATH": os.environ["PATH"], "HOME": str(installed)}  # noqa: TID251
    return subprocess.run([sys.executable, *command], cwd=installed, env=environment, capture_output=True, text=True)


def test_it_holds_the_packages_and_nothing_of_the_rest(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {
        "codemode",
        "sandbox",
        "api_specs",
    }
    tracked = subprocess.run(
        ["git", "ls-files", "codemode", "sandbox", "api_specs"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    assert set(tracked) <= set(names)


def test_the_demo_runs_from_it(installed: Path) -> None:
    where = run(installed, "-c", "import codemode, sandbox, api_specs; print(codemode.__file__)")
    assert where.stdout.startswith(str(installed)), where.stderr
    ended = run(installed, "-c", "from codemode.serving.cli.main import main; main()", "demo")
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr


def test_it_runs_as_a_module_and_knows_its_version(installed: Path) -> None:
    ended = run(installed, "-m", "codemode", "--version")
    assert ended.stdout == f"codemode {__version__}\n", ended.stderr
    metadata = PathDistribution(next(installed.glob("*.dist-info"))).metadata
    assert metadata["Version"] == __version__
    assert {url.partition(",")[0] for url in metadata.get_all("Project-URL", [])} == {
        "Changelog",
        "Documentation",
        "Issues",
        "Source",
    }


def test_it_is_typed(installed: Path) -> None:
    assert all((installed / package / "py.typed").is_file() for package in ("codemode", "sandbox"))
