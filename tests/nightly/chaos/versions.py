"""Two versions of codemode: this tree, and another commit of it, or a copy with another version number."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[3]

_PACKAGES = ("codemode", "sandbox")


@dataclass(frozen=True, slots=True)
class Version:
    """What a server runs. `path` comes before this tree where modules are looked up."""

    name: str
    path: str = ""


THIS = Version("this tree")


def other(folder: Path, commit: str = "") -> Version:
    """Return another version in `folder`: a commit, or this tree with another version number."""
    folder.mkdir()
    if commit:
        packed = subprocess.run(["git", "archive", commit, *_PACKAGES], cwd=ROOT, capture_output=True, check=True)
        subprocess.run(["tar", "--extract", "--directory", str(folder)], input=packed.stdout, check=True)
        return Version(commit, str(folder))
    for package in _PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    number = f"{version('codemode')}+other"
    facts = folder / "codemode-0+other.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: codemode\nVersion: {number}\n", encoding="utf-8")
    return Version(number, str(folder))
