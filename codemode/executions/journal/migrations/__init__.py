"""Numbered migrations, one folder per database: `0001_what.sql`, … A semicolon at a line's end ends a statement.

The version of a store is the number of the last one applied. A number may be missing in the folder of a database that
needs no such change.

Programs of two versions use one store while servers are replaced. So a migration *expands* the store: earlier programs
can still use it. A line `-- readable by versions >= N` marks one that they cannot use (*contract*), where N is the
lowest version of a program that can. docs/contributing/migrations.md has the rules.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

Dialect = Literal["sqlite", "postgres"]

_CONTRACT = re.compile(r"^-- readable by versions >= (\d+)$", re.MULTILINE)
_COMMENT = re.compile(r"^--.*\n", re.MULTILINE)


class Migration(NamedTuple):
    """One step of a store to `version`, usable by programs of version `readable_from` and later."""

    version: int
    name: str
    readable_from: int
    statements: tuple[str, ...]

    @property
    def is_online(self) -> bool:
        """Whether it builds indexes without locking their tables. PostgreSQL does that outside transactions only."""
        return any("CONCURRENTLY" in statement for statement in self.statements)


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    """The migrations that a store lacks, by name, with its schema before and after."""

    version: int
    readable_from: int
    steps: tuple[str, ...]
    new_version: int
    new_readable_from: int


def migrations(dialect: Dialect) -> tuple[Migration, ...]:
    """Return all migrations, in order."""
    scripts = sorted((one for one in (files(__name__) / dialect).iterdir() if one.name.endswith(".sql")), key=_name)
    steps: list[Migration] = []
    for script in scripts:
        text = script.read_text(encoding="utf-8")
        readable_from = max((int(one) for one in _CONTRACT.findall(text)), default=0)
        if steps:
            readable_from = max(readable_from, steps[-1].readable_from)
        statements = tuple(part.strip() for part in _COMMENT.sub("", text).split(";\n") if part.strip())
        steps.append(Migration(int(script.name[:4]), script.name.removesuffix(".sql"), readable_from, statements))
    return tuple(steps)


def _name(script: Traversable) -> str:
    return script.name
