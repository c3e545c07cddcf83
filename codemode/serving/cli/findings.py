"""What `codemode doctor` finds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """The severity of a finding."""

    OK = "ok"
    WARNING = "warning"  # works, but weaker or less complete than possible
    FAILURE = "failure"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: what was found, and how to fix it."""

    area: str
    subject: str
    state: State
    found: str
    fix: str = ""
