"""The attempts of a file, made against one layer in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
IN_SETTING = HERE.parents[1] / "unit" / "sandbox" / "programs" / "in_setting.py"

#: The attempts that this project found.
OWN = HERE / "own.yaml"


def attack(records: Path, layer: str, setting: str = "") -> None:
    """Check that `layer` holds the attempts, in a `setting` such as `nobody,filtered`; "" is that of the tests."""
    command = [sys.executable, str(HERE / "run.py"), str(records), "--layer", layer]
    if setting:
        command = [sys.executable, str(IN_SETTING), setting, *command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=380, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-2000:]}"
