"""Warnings about sources on the terminal: each set of them once, not with every command."""

from __future__ import annotations

import json
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING

from codemode.serving.output import terminal as show

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from codemode.sources.factory import LoadedSource

_FILE = "shown-warnings.json"


def show_warnings(sources: Mapping[str, LoadedSource], cache: Path) -> None:
    """Print the warnings of each source that were not printed before. Those of a source that failed are repeated.

    `cache` is the folder that remembers what was printed. `codemode sources check` lists all of them.
    """
    file = cache / _FILE
    before = _remembered(file)
    now = {name: _digest(source) for name, source in sources.items()}
    for name, source in sources.items():
        if source.failure is not None or before.get(name) != now[name]:
            show.warnings(name, source.warnings)
    if not before.items() >= now.items():
        with suppress(OSError):
            cache.mkdir(parents=True, exist_ok=True, mode=0o700)
            file.write_text(json.dumps(before | now), encoding="utf-8")


def _remembered(file: Path) -> dict[str, str]:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(digest) for name, digest in data.items()} if isinstance(data, dict) else {}


def _digest(source: LoadedSource) -> str:
    """Return the digest of the warnings. Empty without warnings."""
    rows = [list(warning) for warning in source.warnings]
    return sha256(json.dumps(rows).encode()).hexdigest() if rows else ""
