"""Folders and variables of the environment, other than secrets."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path, user_state_path

_PROGRAM = "codemode"


def user_state() -> Path:
    """Return the user's state directory. It has one folder for each project."""
    return user_state_path(_PROGRAM, appauthor=False)


def user_cache() -> Path:
    """Return the user's cache directory."""
    return user_cache_path(_PROGRAM, appauthor=False)


def tokenizer_folder() -> Path | None:
    """Return the folder of tokenizer data for `tiktoken`, or None for its default."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR")
    return Path(folder) if folder else None


def is_set(variable: str) -> bool:
    """Return whether a variable is set and not empty."""
    return bool(os.environ.get(variable))


def default_configuration() -> str:
    """Return the configuration file of a process without a command line: `CODEMODE_CONFIG`, else `codemode.yaml`."""
    return os.environ.get("CODEMODE_CONFIG") or "codemode.yaml"
