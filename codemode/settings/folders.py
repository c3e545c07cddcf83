"""What the environment says beside secrets: folders, and whether a variable is set."""

from __future__ import annotations

import os
from pathlib import Path


def user_folder(variable: str, usual: str) -> Path:
    """A folder of this program, by the XDG Base Directory Specification."""
    named = os.environ.get(variable, "")
    base = Path(named) if named.startswith("/") else Path(os.environ.get("HOME") or "/nonexistent") / usual
    return base / "codemode"


def tokenizer_folder() -> Path | None:
    """Where the operator keeps a tokenizer's data, as `tiktoken` reads it; None for its default place."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR")
    return Path(folder) if folder else None


def is_set(variable: str) -> bool:
    """Whether the environment has a variable, and something in it."""
    return bool(os.environ.get(variable))
