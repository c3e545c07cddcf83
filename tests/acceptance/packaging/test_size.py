"""What a plain `pip install codemode` brings: which distributions, and how large they are."""

from __future__ import annotations

from importlib.metadata import distributions
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from pathlib import Path

MB = 1_000_000

#: docs/adr/0002-runtime-dependencies.md says what takes it. The margin is for new releases.
MOST_MB = 227

#: What the packages of pyproject.toml require in turn.
REQUIRED_IN_TURN = {
    "annotated-doc",
    "annotated-types",
    "attrs",
    "cffi",
    "click",
    "cryptography",
    "h11",
    "httpcore2",
    "idna",
    "jiter",
    "jsonschema-specifications",
    "markdown-it-py",
    "markupsafe",
    "mcp-types",
    "mdurl",
    "pycparser",
    "pydantic-core",
    "pygments",
    "pyjwt",
    "python-multipart",
    "rpds-py",
    "shellingham",
    "sniffio",
    "sse-starlette",
    "truststore",
    "typing-extensions",
    "typing-inspection",
}


def site_packages(installed: Path) -> Path:
    (folder,) = installed.glob("lib/python*/site-packages")
    return folder


def size(path: Path) -> int:
    """Bytes on the disk, as `du` counts them."""
    return sum(each.lstat().st_blocks * 512 for each in (path, *path.rglob("*")))


def is_plain(requirement: Requirement) -> bool:
    """Whether a requirement holds without an extra."""
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})


def test_it_brings_these_distributions_and_no_others(installed: Path) -> None:
    there = distributions(path=[str(site_packages(installed))])
    found = {canonicalize_name(each.metadata["Name"]): each for each in there}
    declared = map(Requirement, found[canonicalize_name("codemode")].requires or ())
    plain = {canonicalize_name(each.name) for each in declared if is_plain(each)}
    assert set(found) == {"codemode", *plain, *REQUIRED_IN_TURN}


def test_it_is_no_larger_than_recorded(installed: Path) -> None:
    folder = site_packages(installed)
    sizes = sorted(((size(each) / MB, each.name) for each in folder.iterdir()), reverse=True)
    total = sum(each for each, _ in sizes)
    assert total <= MOST_MB, [f"{name}: {each:.1f} MB" for each, name in sizes[:10]]
