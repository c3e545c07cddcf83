"""Exit codes for the status of an execution."""

from __future__ import annotations

#: The program waits for a person (`EX_TEMPFAIL` of BSD's sysexits.h: try again later).
PAUSED = 75


def exit_code_of(status: str) -> int:
    """Return 0 for a completed execution, 75 for one that waits for a person, else 1."""
    return {"completed": 0, "paused": PAUSED}.get(status, 1)
