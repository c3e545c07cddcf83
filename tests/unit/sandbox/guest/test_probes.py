"""One feature each, under CPython and in a guest: a difference that the page of differences lacks fails here."""

from __future__ import annotations

import gc
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.sandbox.guest.host_double import run_guest
from tests.unit.sandbox.guest.probe_files import PROGRAMS, probes

PAGE = (Path(__file__).parents[4] / "docs" / "limitations" / "language.md").read_text()
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")

#: Probes that differ, with the words of the page that say so. One that no longer differs must go from here.
DIFFERENT = {
    "class assign": "`x.__class__ = …`",
    "types.new_class": "`types`",
    "memoryview": "`memoryview`",
    "gi_frame": "`g.gi_frame`",
    "closure": "`f.__closure__`",
    "func globals": "`f.__globals__`",
    "annotations": "`__annotations__` of the program |",
    "inspect stack": "`inspect.currentframe`",
    "module type": "work for `isinstance` only",
    "pickle": "`pickle`",
    "reduce": "`__reduce__`",
    "globals locals": "`vars(math)`, `f.__dict__` of a function | partly live | copies",
    "sys modules": "no `modules`",
    "os path": "files and the system | `os`",
    "pathlib pure": "`pathlib`",
    "os getenv": "files and the system | `os`",
    "os linesep": "files and the system | `os`",
    "collections": "`collections.UserString`",
    "multiprocessing": "`multiprocessing`",
    "tempfile": "`tempfile`",
    "unittest": "`unittest`",
    "unittest mock": "`unittest`",
    "argparse": "`argparse`",
    "sched": "`sched`",
    "getopt shlex": "`glob`",
    "sqlite": "`sqlite3`",
    "platform locale": "`platform`",
    "compile": "`eval`, `exec`, `compile`",
    "open": "`open`, `input`",
    "input": "`open`, `input`",
    "dunder file": "`__file__`",
}


PROBES = probes()


@pytest.fixture(scope="module")
def under_cpython() -> dict[str, list[str]]:
    ran = subprocess.run(
        [sys.executable, PROGRAMS / "under_cpython.py"],
        input=json.dumps(list(PROBES.values())),
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(PROBES, json.loads(ran.stdout), strict=True))


def difference(name: str, output: str, failed: str) -> str | None:
    """Return what a probe says that CPython does not, or None if both say the same."""
    gc.collect()  # what other programs left says its last words now
    ended = run_guest(PROBES[name])
    here = [ended.output, ended.failure["type"] if ended.failure else ""]
    is_same = [_ADDRESS.sub("0x", each) for each in here] == [_ADDRESS.sub("0x", each) for each in (output, failed)]
    return None if is_same else f"under CPython {(output, failed)}, here {here}: {ended.message}"


def test_a_feature_works_as_under_cpython_or_the_page_says_how_it_differs(under_cpython: dict[str, list[str]]) -> None:
    known = {name: answer for name, answer in under_cpython.items() if answer[1] != "SyntaxError"}  # of a newer Python
    differences = {name: difference(name, *answer) for name, answer in known.items()}
    assert {name: told for name, told in differences.items() if told and name not in DIFFERENT} == {}
    assert [name for name in DIFFERENT if name in known and not differences[name]] == [], "take it out of the page too"
    assert [words for words in DIFFERENT.values() if words not in PAGE] == []
