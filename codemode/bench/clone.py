"""Suites that others wrote, and code modes of peers: files in `benchmarks/agents` of a clone, not of the package."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from codemode.errors import ConfigurationError, SourceError
from codemode.sources.functions.source import import_target

FOLDER = Path(__file__).parents[2] / "benchmarks" / "agents"

#: Where to read which packages each of them needs.
REMEDY = "docs/how-to/bench.md says what to install"


def names_of(kind: Literal["suites", "peers"]) -> dict[str, Path]:
    """Return the files of the clone that this package is in, by name. There are none outside of a clone."""
    return {file.stem.replace("_", "-"): file for file in sorted((FOLDER / kind).glob("[!_]*.py"))}


def member_of(file: Path, attribute: str) -> Any:
    """Import an attribute of such a file. Raises ConfigurationError if what it needs is not installed."""
    try:
        return import_target(f"{file}:{attribute}")
    except SourceError as error:
        message = f"{file.stem} {error}: {REMEDY}"
        raise ConfigurationError(message) from None
