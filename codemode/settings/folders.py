"""What the environment says beside secrets: folders, and whether a variable is set."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path, user_state_path

_PROGRAM = "codemode"


def user_state() -> Path:
    """Where this program keeps what must be kept of a user: a folder for each project."""
    return user_state_path(_PROGRAM, appauthor=False)


def user_cache() -> Path:
    """Where this program keeps what can be made again."""
    return user_cache_path(_PROGRAM, appauthor=False)


def tokenizer_folder() -> Path | None:
    """Where the operator keeps a tokenizer's data, as `tiktoken` reads it; None for its default place."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR")
    return Path(folder) if folder else None


def is_set(variable: str) -> bool:
    """Whether the environment has a variable, and something in it."""
    return bool(os.environ.get(variable))
