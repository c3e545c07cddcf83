"""Preparation of a store: migrate it to this version, and bind it to the project. See `transactions` for the form."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

from codemode.executions.journal.key import edited_key, wrong_key
from codemode.executions.journal.migrations import UNSEALED
from codemode.executions.journal.sql import rows
from codemode.executions.journal.sql.schema import announced, apply, pending, read_schema, require_none
from codemode.executions.journal.sql.statements import Statement, now_us

if TYPE_CHECKING:
    from codemode.executions.journal.migrations import Dialect
    from codemode.executions.journal.seals import Seals
    from codemode.executions.journal.sql.statements import Transaction

log = logging.getLogger(__name__)


def prepare(dialect: Dialect, seals: Seals, store: str, *, migrates: bool = True) -> Transaction[None]:
    """Migrate a store to this program's version, and prepare it for the project, in one transaction.

    Only one preparation may run at a time. Raises ConfigurationError for a store that is too new, for another key, and
    for a store to migrate if this may not migrate it.
    """
    steps = pending((yield from read_schema(dialect)), dialect, store)
    if not migrates:
        require_none(steps, store)
    yield from announced(dialect, store, seals.project)
    for step in steps:
        yield from apply(step, dialect)
    yield from prepare_project(seals, store)


def prepare_project(seals: Seals, store: str) -> Transaction[None]:
    """Check the project's key, and take over executions recorded by an earlier version.

    An earlier journal belonged to one project, or to several that cannot be told apart. Its open executions expire, and
    their outcomes say why.
    """
    project, fingerprint = seals.project, seals.key.fingerprint
    key_rows = yield Statement(
        "SELECT fingerprint, project, sealed_from, seal FROM journal_key WHERE project IN ($1, '')"
        " ORDER BY project DESC LIMIT 1",
        (project,),
    )
    if not key_rows:
        others = yield Statement("SELECT project FROM journal_key ORDER BY project")
        if others:  # another project's, or this project was renamed
            named = ", ".join(row[0] for row in others)
            log.warning("%s also has executions of %s; set `name:` to that project to continue them", store, named)
        seal = seals.seal(b"sealed from", project, 0)
        yield Statement("INSERT INTO journal_key VALUES ($1, $2, 0, $3)", (fingerprint, project, seal))
        return
    known, of, sealed_from, seal = key_rows[0]
    if known != fingerprint:
        raise wrong_key(store)
    if seal is None:
        seals.sealed_from = yield from _take_over(seals, of)
    elif not seals.holds(seal, b"sealed from", of, sealed_from):
        raise edited_key(store)
    else:
        seals.sealed_from = sealed_from


def _take_over(seals: Seals, of: str) -> Transaction[int]:
    now = yield from now_us()
    yield from _explain(of)
    yield Statement(
        "UPDATE executions SET status = 'expired', ended_us = $1, generation = generation + 1, server = '',"
        " lease_until_us = 0 WHERE project = $2 AND status IN ('queued', 'running', 'paused')",
        (now, of),
    )
    yield Statement("UPDATE executions SET project = $1 WHERE project = $2", (seals.project, of))
    yield Statement(
        "UPDATE space SET project = $1, ended_bytes = ended_bytes + open_bytes, open_bytes = 0 WHERE project = $2",
        (seals.project, of),
    )
    last = yield Statement("SELECT coalesce(max(number), 0) FROM executions WHERE project = $1", (seals.project,))
    sealed_from = int(last[0][0])
    seal = seals.seal(b"sealed from", seals.project, sealed_from)
    yield Statement(
        "UPDATE journal_key SET project = $1, sealed_from = $2, seal = $3 WHERE project = $4",
        (seals.project, sealed_from, seal, of),
    )
    return sealed_from


def _explain(of: str) -> Transaction[None]:
    """Add the reason why they end to the outcomes of open executions."""
    outcomes = yield Statement(
        "SELECT execution, outcome FROM contents JOIN executions ON id = execution"
        " WHERE project = $1 AND status IN ('queued', 'running', 'paused')",
        (of,),
    )
    for execution, text in outcomes:
        outcome = json.loads(text) if text else {"id": execution}
        outcome |= {"status": "expired", "notes": [*outcome.get("notes", ()), UNSEALED]}
        yield Statement("UPDATE contents SET outcome = $1 WHERE execution = $2", (rows.encode(outcome), execution))
