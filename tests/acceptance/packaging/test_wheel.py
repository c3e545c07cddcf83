"""The wheel, installed into an empty environment and tried outside the tree."""

from __future__ import annotations

import re
import subprocess
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

from codemode import __version__
from codemode.shared.extras import EXTRAS

if TYPE_CHECKING:
    from importlib.metadata import Distribution

ROOT = Path(__file__).parents[3]


def found(installed: Path) -> dict[str, Distribution]:
    (site_packages,) = installed.glob("lib/python*/site-packages")
    return {each.metadata["Name"]: each for each in distributions(path=[str(site_packages)])}


def run(installed: Path, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the environment in a folder, with no other program on its path and no development tools."""
    environment = {"PATH": str(installed / "bin"), "HOME": str(folder)}
    program = installed / "bin" / command[0]
    return subprocess.run([program, *command[1:]], cwd=folder, env=environment, capture_output=True, text=True)


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
    readmes = {"api_specs/gym/README.md", "api_specs/outbox/README.md"}
    left_out = {"sandbox/pyproject.toml", "api_specs/gym/queries.yaml", *readmes}
    assert set(tracked) - set(names) == left_out


def test_the_demo_runs_from_it(installed: Path, tmp_path: Path) -> None:
    where = run(installed, tmp_path, "python", "-c", "import codemode, sandbox, api_specs; print(codemode.__file__)")
    assert where.stdout.startswith(str(installed)), where.stderr
    ended = run(installed, tmp_path, "codemode", "demo")
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr


def test_it_runs_as_a_module_and_knows_its_version(installed: Path, tmp_path: Path) -> None:
    ended = run(installed, tmp_path, "python", "-m", "codemode", "--version")
    assert ended.stdout == f"codemode {__version__}\n", ended.stderr
    metadata = found(installed)["codemode"].metadata
    assert metadata["Version"] == __version__
    assert {url.partition(",")[0] for url in metadata.get_all("Project-URL", [])} == {
        "Changelog",
        "Documentation",
        "Issues",
        "Source",
    }


def test_the_page_and_doctor_know_every_extra(installed: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "install.md").read_text(encoding="utf-8")
    extras = set(found(installed)["codemode"].metadata.get_all("Provides-Extra", []))
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == extras
    assert set(EXTRAS) == extras


def test_it_is_typed(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        assert {"codemode/py.typed", "sandbox/py.typed"} <= set(archive.namelist())
