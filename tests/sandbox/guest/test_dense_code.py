from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_PROGRAM = """
import gc
from sandbox.guest.dense_code import make_dense

def outer(n):
    def inner(m):
        return [m + n for _ in range(2)]
    return inner

def twin(n): ...
twin.__code__ = outer.__code__
inner = outer(1)

def never(): ...

class Thing:
    def method(self):
        return (yield from inner(2))

def run():
    outer(3)(4)
    list(Thing().method())

functions = [outer, twin, inner, Thing.method, run, never]
before = [function.__code__ for function in functions]
gc.freeze()
make_dense([run], ())
after = [function.__code__ for function in functions]
print([a is b for a, b in zip(before, after)], before == after, outer.__code__ is twin.__code__)
print(outer(3)(4), list(Thing().method()), inner(5))
print(outer.__code__.co_consts.count(before[2]), any(c is before[2] for c in outer.__code__.co_consts))
make_dense([run], (__name__,))
print(never.__code__ is before[5], never())
"""


def test_code_that_is_run_is_made_anew_and_does_what_it_did() -> None:
    root = str(Path(__file__).parents[3])
    done = subprocess.run([sys.executable, "-c", _PROGRAM], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "[False, False, False, False, False, True] True True",
        "[7, 7] [3, 3] [6, 6]",
        "1 False",
        "False None",
    ]
