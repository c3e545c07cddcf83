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

from codemode.text.counted import counted

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


#: Why executions that the first version of the journal recorded do not continue.
UNSEALED = (
    "it was recorded by version 1 of the journal, without seals and without the places of its calls: nobody could tell"
    " what an approval would send, and where; run its program again"
)

#: Executions that a text names.
_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class Expiring:
    """An open execution that a migration ends as `expired`. `waiting` are its calls that wait for a person."""

    execution: str
    waiting: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    """The migrations that a store lacks, by name, with its schema before and after.

    `expires` are the open executions that end. Only those of version 1 do; see `UNSEALED`.
    """

    version: int
    readable_from: int
    steps: tuple[str, ...]
    new_version: int
    new_readable_from: int
    expires: tuple[Expiring, ...] = ()

    @property
    def end_of_executions(self) -> str:
        """Say which executions end, and why; "" if none does."""
        if not self.expires:
            return ""
        named = [f"{one.execution} ({'; '.join(one.waiting) or 'no call waits'})" for one in self.expires[:_MOST_NAMED]]
        more = f" and {len(self.expires) - _MOST_NAMED} more" if len(self.expires) > _MOST_NAMED else ""
        waiting = sum(len(one.waiting) for one in self.expires)
        return (
            f"{counted(len(self.expires), 'open execution')} with {counted(waiting, 'undecided call')}"
            f" will have expired: {', '.join(named)}{more}. The reason: {UNSEALED}"
        )

    def announcement(self, store: str) -> str:
        """Say what opening a store is about to change; "" for nothing, or for a new store."""
        if not self.version or not (self.steps or self.expires):
            return ""
        text = f"the journal {store} is from an earlier version"
        if self.steps:
            text += f": it is migrated from version {self.version} to {self.new_version} now"
        if self.new_readable_from > self.version:
            text += f", and programs that know only versions below {self.new_readable_from} cannot use it any more"
        return ". ".join(filter(None, (text, self.end_of_executions)))


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
