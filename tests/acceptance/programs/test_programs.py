"""The recorded programs run as recorded, and the product answers the recorded mistakes as it should."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[3]

#: Of the mistakes: what the product says of each is all that counts, and not every wish of the records is fulfilled.
HELPED = 0.95


def test_every_recorded_program_gives_its_recorded_outcome(shared_data: Callable[[str], Path]) -> None:
    folder = shared_data("programs")

    ran = subprocess.run(
        [
            sys.executable,
            folder / "run.py",
            "tests.acceptance.programs.corpus_adapter:Adapter",
            folder / "programs.jsonl",
            "--timeout",
            "60",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    summary = re.search(r"programs: (\d+) of (\d+) as recorded; mistakes: (\d+) of (\d+)", ran.stdout)
    assert summary is not None, ran.stderr
    assert summary[1] == summary[2], ran.stdout
    assert int(summary[3]) >= HELPED * int(summary[4]), ran.stdout
