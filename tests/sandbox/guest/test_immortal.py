from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_PROGRAM = """
import sys
from sandbox.guest.immortal import make_immortal

def outer():
    def inner():
        return [name for name in ("a", "b")]
    return inner

class Thing:
    pass

things = [outer, outer.__code__, outer().__code__, Thing, sys, {"kept": Thing}]
make_immortal()
later = Thing()
print([sys.getrefcount(thing) >> 31 for thing in things], sys.getrefcount(later))
"""


def test_what_is_there_is_no_longer_counted_from_python_3_12_on_and_what_comes_later_is() -> None:
    root = str(Path(__file__).parents[3])
    done = subprocess.run([sys.executable, "-c", _PROGRAM], cwd=root, capture_output=True, text=True, check=True)
    expected = [int(sys.version_info >= (3, 12))] * 6  # the bit that says so
    assert done.stdout.splitlines()[0] == f"{expected} 2"
