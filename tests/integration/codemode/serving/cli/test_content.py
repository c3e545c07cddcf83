"""`codemode run --file` and `codemode content`."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.command_line import SCRIPT, codemode, script_environment

if TYPE_CHECKING:
    from pathlib import Path

PNG = b"\x89PNG\r\n\x1a\n\xff synthetic"

FILES = '''
def size(data: bytes) -> int:
    """Return the size of a file."""
    return len(data)


def twice(data: bytes) -> bytes:
    """Return a file twice."""
    return data + data
'''

CONFIG = """
sources: {files: {kind: python, location: files.py}}
policy: {default: {write: allow}}
state_folder: state
cache_folder: cache
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "files.py").write_text(FILES, encoding="utf-8")
    (tmp_path / "codemode.yaml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "photo.png").write_bytes(PNG)
    return tmp_path


def test_a_file_goes_into_a_program_and_another_comes_out(folder: Path) -> None:
    (folder / "program.py").write_text("[files.size(data=photo), factor, files.twice(data=photo)]", encoding="utf-8")
    ran = codemode("run", "program.py", "--file", "photo=photo.png", "--input", "factor=3", folder=folder)
    assert ran.returncode == 0, ran.stderr
    size, factor, reference = json.loads(ran.stdout)
    assert (size, factor, reference["media_type"]) == (len(PNG), 3, "image/png")
    id_ = reference["$content"]
    assert f"image/png: codemode content get {id_} -o FILE" in ran.stderr
    got = codemode("content", "get", id_, "-o", "out.png", folder=folder)
    assert got.stderr == f"wrote {2 * len(PNG)} bytes of image/png to out.png\n"
    assert (folder / "out.png").read_bytes() == PNG + PNG
    command = [SCRIPT, "content", "get", id_]
    piped = subprocess.run(command, cwd=folder, env=script_environment(folder), capture_output=True, check=True)
    assert piped.stdout == PNG + PNG


def test_a_stored_file_is_listed_and_its_reference_is_an_input(folder: Path) -> None:
    assert codemode("content", "list", folder=folder).returncode == 1
    put = codemode("content", "put", "photo.png", folder=folder)
    assert json.loads(put.stdout)["name"] == "photo.png"
    listed = json.loads(codemode("content", "list", "--json", folder=folder).stdout)
    assert [(one["id"], one["size_bytes"]) for one in listed] == [(json.loads(put.stdout)["$content"], len(PNG))]
    (folder / "program.py").write_text("files.size(data=photo)", encoding="utf-8")
    ran = codemode("run", "program.py", "--input", f"photo={put.stdout}", folder=folder)
    assert json.loads(ran.stdout) == len(PNG)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "program.py", "--file", "photo"), "--file 'photo' is not NAME=PATH, with the name of a variable"),
        (("run", "program.py", "--input", "a b=1"), "--input 'a b=1' is not NAME=VALUE"),
        (("run", "program.py", "--input", "a=1", "--file", "a=b"), "--file 'a=b': the input 'a' is given twice"),
        (("run", "program.py", "--file", "a=absent"), "cannot read the file absent: No such file or directory"),
        (("content", "get", "c_0"), "this content is no longer stored, or never was"),
    ],
)
def test_mistakes_are_reported(folder: Path, words: tuple[str, ...], said: str) -> None:
    (folder / "program.py").write_text("1", encoding="utf-8")
    ran = codemode(*words, folder=folder)
    assert ran.returncode != 0
    assert said in " ".join(ran.stderr.split())
