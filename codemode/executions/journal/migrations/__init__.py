"""Numbered migrations, one folder a database: `0001_what.sql`, … A semicolon at the end of a line ends a statement."""

from __future__ import annotations

from importlib.resources import files
from typing import Literal

from codemode.errors import ConfigurationError

Dialect = Literal["sqlite", "postgres"]


def migrations(dialect: Dialect) -> tuple[tuple[str, ...], ...]:
    """The statements of each migration, the first one first; the version of a store is how many it has had."""
    found = sorted((one for one in (files(__name__) / dialect).iterdir() if one.name.endswith(".sql")), key=str)
    texts = (one.read_text(encoding="utf-8") for one in found)
    return tuple(tuple(part.strip() for part in text.split(";\n") if part.strip()) for text in texts)


def refuse_newer(version: int, known: int, store: str) -> None:
    """Raise ConfigurationError where a newer program has migrated the store."""
    if version > known:
        message = (
            f"the journal {store} has version {version}, and this program knows versions up to {known}: a newer"
            " codemode has migrated it; use that one, or another journal"
        )
        raise ConfigurationError(message)
