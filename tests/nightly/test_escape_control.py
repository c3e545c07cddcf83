"""The control sees what a program changes, whatever it is, and nothing where a program harms nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sandbox.host.launch import import_folders

TESTS = Path(__file__).resolve().parents[1]

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="the runner is for Linux"),
]

#: Each changes one thing that a later program in the process would find changed.
CHANGES = {
    "a folder of imports": "import sys\nsys.path.insert(0, '/tmp')",
    "a builtin": "import builtins\nbuiltins.len = lambda x: 7",
    "a new builtin": "import builtins\nbuiltins.mine = 7",
    "tracing": "import sys\nsys.settrace(lambda *a: None)",
    "profiling": "import sys\nsys.setprofile(lambda *a: None)",
    "tracing of threads": "import threading\nthreading.settrace(lambda *a: None)",
    "a hook of errors": "import sys\nsys.excepthook = print",
    "a hook of errors without a reader": "import sys\nsys.unraisablehook = print",
    "a hook of audits": "import sys\nsys.addaudithook(lambda *a: None)",
    "a hook of imports": "import sys\nsys.meta_path.append(int)",
    "digits": "import string\nstring.digits = 'x'",
    "a function": "import statistics\nstatistics.mean = max",
    "a function's code": "import statistics\nstatistics.mean.__code__ = (lambda data: 7).__code__",
    "a function's defaults": "import json\njson.dumps.__kwdefaults__['sort_keys'] = True",
    "an attribute of the host's tool": "tool.seen = 1",
    "an attribute of the host's object": "obj.seen = 1",
    "a method of the host's object": "type(obj).read = lambda self: 'x'",
    "a class of the library": "import collections\ncollections.Counter.most_common = None",
    "a registered class": "import collections.abc\ncollections.abc.Sized.register(int)",
    "a module's place": "import sys\nsys.modules['json'] = 7",
    "an environment variable": "import os\nos.environ['X'] = '1'",
    "the folder": "import os\nos.chdir('/')",
    "a signal": "import signal\nsignal.signal(10, lambda *a: None)",
    "a limit": "import sys\nsys.setrecursionlimit(5000)",
    "a filter of warnings": "import warnings\nwarnings.simplefilter('error')",
    "the collector": "import gc\ngc.set_threshold(7)",
    "what is done at the end": "import atexit\natexit.register(print)",
    "the output": "import sys, io\nsys.stdout = io.StringIO()",
    "an open file": "import os\nos.dup(1)",
    "memory that is given back": "x = b'x' * 600_000_000\ndel x",
    "the canary is deleted": "import os\nos.remove('@WRITE_FILE@')",
    "its folder is deleted": "import shutil\nshutil.rmtree('@DIR@')",
    "its mode is changed": "import os\nos.chmod('@SECRET_FILE@', 0)",
    "a tool without arguments raises": "try:\n    tool()\nexcept TypeError:\n    print('@M1@' + '@M2@')",
}

#: Other programs than those by which the runner learns what is harmless.
HARMLESS = (
    "rows = [{'n': n} for n in range(1000)]\nprint(sum(r['n'] for r in rows), max(rows, key=lambda r: r['n']))",
    "import csv, io, itertools\nprint(list(csv.reader(io.StringIO('a,b\\n1,2'))), list(itertools.accumulate([1, 2])))",
    "import re, string\nprint(re.findall(r'(\\d+)-(\\w+)', '1-a 2-b'), string.Template('$x').substitute(x=1))",
    "raise ValueError('ends badly')",
    "x = '\udc80'",
    "x = '\ud800'",
)


def found(programs: list[str]) -> list[dict[str, Any]]:
    """What the host without a wall saw of each program."""
    folders = [*import_folders(), str(TESTS / "unit" / "sandbox" / "programs")]
    done = subprocess.run(
        [sys.executable, str(TESTS / "security" / "escapes" / "unwalled.py"), "bare_program", *folders],
        input="".join(json.dumps(program) + "\n" for program in programs),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_change_is_seen() -> None:
    unseen = [name for name, seen in zip(CHANGES, found(list(CHANGES.values())), strict=True) if not seen["signs"]]

    assert unseen == []


def test_what_harms_nothing_is_no_sign() -> None:
    assert [(one["signs"], one["says"]) for one in found(list(HARMLESS)) if one["signs"]] == []
