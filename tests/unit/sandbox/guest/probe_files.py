"""The probes: programs with their expected ends."""

from __future__ import annotations

import re
from pathlib import Path

PROGRAMS = Path(__file__).parents[1] / "programs"


def probes() -> dict[str, str]:
    """Return the programs by name."""
    parts = re.split(r"^# (.*)\n", (PROGRAMS / "probes.txt").read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], (part.strip("\n") + "\n" for part in parts[2::2]), strict=True))
