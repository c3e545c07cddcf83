"""Settings for a server that misbehaves."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from codemode.settings import Settings

SERVER = Path(__file__).parents[4] / "unit" / "codemode" / "sources" / "misbehaving_server.py"


def settings(folder: Path, mode: str = "", **source: Any) -> Settings:
    command = [sys.executable, str(SERVER), str(folder / "log"), *([mode] if mode else [])]
    folders = {"state_folder": folder / "state", "cache_folder": folder / "cache"}
    return Settings.model_validate({"sources": {"bad": {"command": command, "timeout_s": 200, **source}}, **folders})
