"""What is done before a program comes: it must not fail, since nobody would hear of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_REHEARSALS = """
import sys
from sandbox.guest import program
from sandbox.guest.process.run import Run

ends = []

def note(frame, event, result):
    if event == "return" and frame.f_code is Run.execute.__code__:
        ends.append((result.status, result.failure))

sys.setprofile(note)
program.warm_up()
at_first = len(ends)
program.practise()
program.rehearse()
sys.setprofile(None)
print(at_first > 0, len(ends) > at_first + 2, [end for end in ends if end != ("completed", None)])
"""


def test_every_rehearsal_completes() -> None:
    root = str(Path(__file__).parents[4])
    done = subprocess.run([sys.executable, "-c", _REHEARSALS], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "True True []\n"
