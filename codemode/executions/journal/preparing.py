"""Preparation of a store: migrate it to this version, and bind it to the project. See `transactions` for the form."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from codemode.executions.journal.key import edited_key, wrong_key
from codemode.executions.journal.migrations import Dialect, migrations, refuse_newer
from codemode.executions.journal.space import measure_all
from codemode.executions.journal.statements import Statement, now_us

if TYPE_CHECKING:
    from codemode.executions.journal.seals import Seals
    from codemode.executions.journal.statements import Transaction

#: The migration that introduces the measurement of executions.
_MEASURES = 3

log = logging.getLogger(__name__)


def prepare(version: Transaction[int], dialect: Dialect, note: str, seals: Seals, store: str) -> Transaction[None]:
    """Migrate a store from its `version` to this program's. `note`, with {} for the number, records each step.

    Only one preparation may run at a time. Raises ConfigurationError for a newer store, and for another key.
    """
    steps = migrations(dialect)
    reached = yield from version
    refuse_newer(reached, len(steps), store)
    for number, statements in enumerate(steps[reached:], reached + 1):
        for statement in statements:
            yield Statement(statement)
        if number == _MEASURES:
            yield from measure_all()
        yield Statement(note.format(number))
    yield from _prepare_project(seals, store)


def _prepare_project(seals: Seals, store: str) -> Transaction[None]:
    """Check the project's key, and take over executions recorded by an earlier version.

    An earlier journal belonged to one project, or to several that cannot be told apart. Its open executions expire,
    because their call locations were not recorded.
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
