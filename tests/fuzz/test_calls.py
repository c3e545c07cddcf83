from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux")

#: With the policy as it was before the fuzzer was there, each of these finds a call that changes a shared class.
SEEDS = [1, 2]


@pytest.mark.parametrize("seed", SEEDS)
def test_no_call_hands_out_what_is_out_of_reach_or_changes_what_is_shared(seed: int) -> None:
    script = Path(__file__).with_name("calls.py")
    done = subprocess.run(
        [sys.executable, str(script), "--seconds", "4", "--seed", str(seed)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
