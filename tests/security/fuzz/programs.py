"""Run generated programs under CPython and in a guest: what they print and how they fail must be the same.

    python tests/security/fuzz/programs.py [--seconds 60] [--seed N]

A difference prints the seed and the program; the seed then belongs into
`tests/unit/sandbox/guest/test_differential.py`.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.unit.sandbox.guest.both_interpreters import in_a_guest, under_cpython
from tests.unit.sandbox.guest.program_generator import program


def fuzz(seconds: float, first: int) -> int:
    """Compare programs for this long, from a seed on. Returns how many. Raises AssertionError."""
    deadline = time.monotonic() + seconds
    seed = first
    while time.monotonic() < deadline:
        code = program(seed)
        expected, got = under_cpython(code), in_a_guest(code)
        assert expected == got, f"seed {seed}: CPython {expected!r}, guest {got!r}\n{code}"
        seed += 1
    return seed - first


def main() -> int:
    """Parse the command line and fuzz."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    count = fuzz(options.seconds, options.seed)
    sys.stdout.write(f"{count} programs from seed {options.seed}: the same under CPython and in a guest\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
