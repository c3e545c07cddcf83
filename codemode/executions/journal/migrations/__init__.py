"""Numbered migrations, one folder per database: `0001_what.sql`, … A semicolon at a line's end ends a statement."""

from __future__ import annotations

from importlib.resources import files
from typing import Literal

from codemode.errors import ConfigurationError

Dialect = Literal["sqlite", "postgres"]


def migrations(dialect: Dialect) -> tuple[tuple[str, ...], ...]:
    """Return the statements of each migration, in order. A store's version is the number of migrations applied."""
    scripts = sorted((one for one in (files(__name__) / dialect).iterdir() if one.name.endswith(".sql")), key=str)
    texts = (one.read_text(encoding="utf-8") for one in scripts)
    return tuple(tuple(part.strip() for part in text.split(";\n") if part.strip()) for text in texts)


def refuse_newer(version: int, known: int, store: str) -> None:
    """Raise ConfigurationError if a newer program has migrated the store."""
    if version > known:
        message = (
            f"the journal {store} has version {version}, and this codemode supports versions up to {known}: a newer"
            " codemode has migrated it; upgrade codemode, or use another journal"
        )
        raise ConfigurationError(message)
