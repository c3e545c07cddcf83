"""The schema of a store: its version, and the lowest version of a program that can use it.

`PRAGMA user_version` in SQLite and the highest number in `codemode_migrations` in PostgreSQL hold the latter. Programs
before version 8 compare it with the last version that they know, and so accept a store that was only expanded.
The table `journal_schema` holds the version. Older stores lack it; both numbers are then the same.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, NamedTuple

from codemode.errors import ConfigurationError
from codemode.executions.journal.migrations import Dialect, Expiring, Migration, MigrationPlan, migrations
from codemode.executions.journal.sql.space import measure_all
from codemode.executions.journal.sql.statements import Statement

if TYPE_CHECKING:
    from codemode.executions.journal.sql.statements import Transaction

log = logging.getLogger(__name__)

#: The migrations that introduce seals, and the measurement of executions.
_SEALS = 2
_MEASURES = 3


class Schema(NamedTuple):
    """The version of a store, 0 for an empty one, and the lowest version of a program that can use it."""

    version: int
    readable_from: int


def read_schema(dialect: Dialect) -> Transaction[Schema]:
    """Return the schema of a store. Reads only."""
    if dialect == "sqlite":
        readable_from = int((yield Statement("PRAGMA user_version"))[0][0])
        has_version = yield Statement("SELECT 1 FROM sqlite_master WHERE name = 'journal_schema'")
    else:
        has_version = yield Statement("SELECT 1 WHERE to_regclass('journal_schema') IS NOT NULL")
        readable_from = 0
        if (yield Statement("SELECT 1 WHERE to_regclass('codemode_migrations') IS NOT NULL")):
            rows = yield Statement("SELECT coalesce(max(version), 0) FROM codemode_migrations")
            readable_from = int(rows[0][0])
    if not has_version:
        return Schema(readable_from, readable_from)
    return Schema(int((yield Statement("SELECT max(version) FROM journal_schema"))[0][0]), readable_from)


def pending(schema: Schema, dialect: Dialect, store: str) -> tuple[Migration, ...]:
    """Return the migrations that a store lacks. Raises ConfigurationError if this program is too old for it."""
    steps = migrations(dialect)
    known = steps[-1].version
    if schema.readable_from > known:
        message = (
            f"the journal {store} has version {schema.version}, readable by versions >= {schema.readable_from}, and"
            f" this codemode has version {known}: a newer codemode has migrated it; upgrade codemode, restore a"
            " backup from before with `codemode journal restore`, or use another journal"
        )
        raise ConfigurationError(message)
    return tuple(step for step in steps if step.version > schema.version)


def plan_of(dialect: Dialect, store: str, project: str) -> Transaction[MigrationPlan]:
    """Return what migrating a store would do. Raises ConfigurationError if this program is too old for it."""
    schema = yield from read_schema(dialect)
    steps = pending(schema, dialect, store)
    new = (steps[-1].version, steps[-1].readable_from) if steps else schema
    expires = yield from _expiring(schema, project)
    return MigrationPlan(*schema, tuple(step.name for step in steps), *new, expires)


def _expiring(schema: Schema, project: str) -> Transaction[tuple[Expiring, ...]]:
    """Return the open executions that `prepare_project` will end."""
    if not schema.version:
        return ()
    if schema.version >= _SEALS:
        keys = yield Statement(
            "SELECT seal FROM journal_key WHERE project IN ($1, '') ORDER BY project DESC LIMIT 1", (project,)
        )
        if not keys or keys[0][0] is not None:
            return ()
    open_rows = yield Statement(
        "SELECT executions.id, questions.id, asked FROM executions LEFT JOIN questions ON execution = executions.id"
        " AND verdict = '' WHERE status IN ('queued', 'running', 'paused') ORDER BY number, asked_us"
    )
    waiting: dict[str, list[str]] = {}
    for execution, question, asked in open_rows:
        calls = waiting.setdefault(execution, [])
        if question is not None:
            calls.append(f"{json.loads(asked)['tool']}, {question}")
    return tuple(Expiring(execution, tuple(calls)) for execution, calls in waiting.items())


def announced(dialect: Dialect, store: str, project: str) -> Transaction[None]:
    """Log what preparing a store of an earlier version will change. Reads only."""
    text = (yield from plan_of(dialect, store, project)).announcement(store)
    if text:
        log.warning("%s", text)


def require_none(steps: tuple[Migration, ...], store: str) -> None:
    """Raise ConfigurationError if migrations are pending that only `codemode journal migrate` may apply."""
    if steps:
        message = (
            f"the journal {store} lacks {', '.join(step.name for step in steps)}, and `journal.migrate` is `manual`:"
            " run `codemode journal migrate` before the first server of this version starts"
        )
        raise ConfigurationError(message)


def apply(step: Migration, dialect: Dialect) -> Transaction[None]:
    """Apply one migration, and record it."""
    for statement in step.statements:
        yield Statement(statement)
    if step.version == _MEASURES:
        yield from measure_all()
    yield from record(step, dialect)


def record(step: Migration, dialect: Dialect) -> Transaction[None]:
    """Record that a store has reached the version of a migration."""
    if dialect == "sqlite":
        yield Statement(f"PRAGMA user_version = {step.readable_from}")
    else:
        yield Statement("CREATE TABLE IF NOT EXISTS codemode_migrations (version INTEGER NOT NULL)")
        yield Statement(
            "INSERT INTO codemode_migrations SELECT $1::integer WHERE NOT EXISTS"
            " (SELECT 1 FROM codemode_migrations WHERE version >= $1::integer)",
            (step.readable_from,),
        )
    yield Statement("CREATE TABLE IF NOT EXISTS journal_schema (version INTEGER NOT NULL)")
    yield Statement("DELETE FROM journal_schema")
    yield Statement("INSERT INTO journal_schema VALUES ($1)", (step.version,))
