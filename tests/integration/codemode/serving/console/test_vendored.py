"""The files of others are those of their packages, and NOTICE names them all."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tarfile
from collections import defaultdict
from pathlib import Path

import pytest

from codemode.serving.console.views import STATIC

ROOT = Path(__file__).parents[5]

ENTRY = re.compile(r"file: +(\S+)\npackage: (\S+) (\S+) \(npm\), (\S+)\nsha256: +([0-9a-f]{64})\nlicence: \S+")
NOTICE = (ROOT / "NOTICE").read_text(encoding="utf-8")
ENTRIES = ENTRY.findall(NOTICE)

#: Made of several packages: `make console-editor`.
EDITOR = "codemode/serving/console/static/vendor/codemirror.js"
BUNDLE = re.compile(rf"file: +({re.escape(EDITOR)})\npackage: .+, bundled by .+\nsha256: +([0-9a-f]{{64}})\n")
DIGESTS = [*((file, digest) for file, *_, digest in ENTRIES), *BUNDLE.findall(NOTICE)]


def test_the_notice_has_every_vendored_file() -> None:
    vendored = {path.relative_to(ROOT).as_posix() for path in (STATIC / "vendor").iterdir()}
    assert {file for file, _ in DIGESTS} == vendored


@pytest.mark.parametrize(("file", "digest"), DIGESTS)
def test_a_vendored_file_has_the_digest_of_the_notice(file: str, digest: str) -> None:
    assert hashlib.sha256((ROOT / file).read_bytes()).hexdigest() == digest


def test_vendored_files_equal_those_of_their_packages(tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not here: the packages cannot be read")
    by_package: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for file, package, version, member, _ in ENTRIES:
        by_package[f"{package}@{version}"].append((file, member))
    for package, files in by_package.items():
        command = ["npm", "pack", "--silent", package]
        name = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120).stdout
        with tarfile.open(tmp_path / name.strip()) as archive:
            for file, member in files:
                packed = archive.extractfile(f"package/{member}")
                assert packed is not None
                assert packed.read() == (ROOT / file).read_bytes(), file


def test_the_editor_equals_its_packages() -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not here: the editor cannot be made again")
    made = ROOT / ".venv-servers/editor/codemirror.js"
    subprocess.run(["make", "--silent", made.relative_to(ROOT)], cwd=ROOT, check=True, capture_output=True, timeout=300)
    assert made.read_bytes() == (ROOT / EDITOR).read_bytes()
