"""Backups of a journal. A backup is a journal file, whatever the database, and can be restored to either kind.

A backup does not know what was done after it was made. So executions that were running are restored as paused, and a
person decides whether they continue.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError, JournalDamaged
from codemode.executions.journal.checking import check
from codemode.executions.journal.configured import JOURNAL_FILE, KEY_FILE, journal_file, journal_of, url_of
from codemode.executions.journal.sqlite.maintenance import back_up as back_up_file
from codemode.executions.journal.sqlite.maintenance import new_file
from codemode.executions.types.outcome import unasked

if TYPE_CHECKING:
    from codemode.executions.journal.base import StoredJournal
    from codemode.executions.journal.checking import CheckReport
    from codemode.executions.types.records import ExecutionStatus
    from codemode.settings import Secrets, Settings

_PAGE = 200

#: Suffixes of the logs of SQLite, which it would apply to any file beside them.
_LOGS = ("-wal", "-journal")

_NOTE = (
    "it was running when the backup was made from which it was restored: calls after that are not recorded. Check what"
    " they did, then continue it with `codemode executions resume {0}` or end it with `codemode executions cancel {0}`"
)


@dataclass(frozen=True, slots=True)
class RestoreCounts:
    """Numbers of restored executions.

    - `executions`: all of them.
    - `paused`: those that were running, and are paused now. `waiting`: those that were paused.
    - `damaged`: those that cannot be read.
    """

    executions: int
    paused: int
    waiting: int
    damaged: int


async def back_up(settings: Settings, secrets: Secrets, target: Path) -> int:
    """Copy the journal, also beside running servers, to a new file with mode 0600. Return its size in bytes.

    Raises ConfigurationError if the target cannot be created or there is no journal, JournalUnavailable if the journal
    cannot be read.
    """
    if settings.journal.url is None:
        return back_up_file(journal_file(settings), target)
    url, store = url_of(settings, secrets)
    from codemode.executions.journal.postgres.copying import copy_to_file

    with new_file(target):
        await copy_to_file(url, store, target)
    return await asyncio.to_thread(_size, target)


async def restore(settings: Settings, secrets: Secrets, backup: Path, *, keep_damaged: bool = False) -> RestoreCounts:
    """Restore a backup to the configured journal, which must be empty. Stop all servers before.

    The backup is checked first: its structure, the seals of every execution, its key and its project. It does not
    change. With `keep_damaged`, executions whose seals do not hold are restored too, and stay unreadable. Raises
    ConfigurationError for another key, for another project and for a journal that is not empty, JournalDamaged for a
    damaged backup, and JournalUnavailable.
    """
    _require_restorable(settings, backup)
    with tempfile.TemporaryDirectory(prefix=".restore-", dir=settings.state()) as folder:
        draft = Path(folder) / JOURNAL_FILE
        back_up_file(backup, draft)
        _require_journal(draft, settings.project, backup)
        restored = await _prepared(settings, secrets, draft, keep_damaged=keep_damaged)
        if settings.journal.url is None:
            _end_write_ahead(draft)
            draft.rename(settings.state() / JOURNAL_FILE)
        else:
            url, store = url_of(settings, secrets)
            from codemode.executions.journal.postgres.copying import copy_from_file

            await copy_from_file(draft, url, store)
    return restored


async def _prepared(settings: Settings, secrets: Secrets, draft: Path, *, keep_damaged: bool) -> RestoreCounts:
    """Migrate and check a copy of the backup, and pause what was running."""
    journal = journal_of(settings, secrets, file=draft)
    if journal is None:
        message = "executions are not recorded here: set `journal.enabled: true` in the configuration"
        raise ConfigurationError(message)
    try:
        await journal.open()
        found = await check(journal)
        if found.structure or (found.damaged and not keep_damaged):
            raise _damaged(found)
        waiting = len(await _ids(journal, "paused"))
        running = {*await _ids(journal, "running"), *await _ids(journal, "queued")} - found.damaged.keys()
        for execution in running:
            await _pause(journal, execution)
    finally:
        await journal.aclose()
    return RestoreCounts(found.executions, len(running), waiting, len(found.damaged))


def _damaged(found: CheckReport) -> JournalDamaged:
    problems = (*found.structure, *found.damaged.values())
    way_out = "restore an earlier one" + ("" if found.structure else ", or keep what is damaged with --keep-damaged")
    message = f"the backup is damaged: {problems[0]} ({len(problems)} in all); {way_out}"
    return JournalDamaged(message, execution=next(iter(found.damaged), ""))


async def _ids(journal: StoredJournal, status: ExecutionStatus) -> list[str]:
    ids: list[str] = []
    while page := await journal.list(status=status, limit=_PAGE, before=ids[-1] if ids else ""):
        ids.extend(one.request.id for one in page)
    return ids


async def _pause(journal: StoredJournal, execution: str) -> None:
    lease = await journal.claim(execution, by_force=True)
    known = unasked((await journal.get(execution)).outcome) or {"id": execution}
    outcome = {**known, "status": "paused", "notes": [_NOTE.format(execution)], "pending": []}
    await journal.pause(lease, (), outcome)


def _size(file: Path) -> int:
    return file.stat().st_size


def _end_write_ahead(file: Path) -> None:
    """Move what is in the write-ahead file to the journal file, which is then complete alone."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()


def _require_restorable(settings: Settings, backup: Path) -> None:
    """Require the backup and its key, because a new key would be made, and no journal where it is restored."""
    journal, key = settings.state() / JOURNAL_FILE, settings.state() / KEY_FILE
    if not backup.is_file():
        message = f"there is no backup {backup}: name a file made by `codemode journal backup`"
        raise ConfigurationError(message)
    if settings.journal.key is None and settings.journal.url is None and not key.exists():
        message = f"there is no key {key}: copy the `journal.key` that was kept with the backup to this place first"
        raise ConfigurationError(message)
    parts = (journal, *(journal.with_name(journal.name + suffix) for suffix in _LOGS))
    found = next((part for part in parts if part.exists()), None)
    if settings.journal.url is None and found is not None:
        message = (
            f"there is already a journal {found}, and a restore replaces nothing: stop all servers, and move it away"
            f" with `mv {journal}* FOLDER/`"
        )
        raise ConfigurationError(message)
    settings.state().mkdir(parents=True, exist_ok=True, mode=0o700)


def _require_journal(draft: Path, project: str, backup: Path) -> None:
    """Require a journal of the project without triggers and views: no journal has any, and they would act on it."""
    with closing(sqlite3.connect(draft)) as copy:
        try:
            foreign = copy.execute("SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view')").fetchone()
            if foreign is not None:
                message = f"{backup} is not a backup of a journal: it has the {foreign[0]} {foreign[1]}"
                raise ConfigurationError(message)
            projects = [row[0] for row in copy.execute("SELECT project FROM journal_key ORDER BY project")]
        except sqlite3.DatabaseError as error:
            message = f"{backup} is not a backup of a journal of this version: {error}"
            raise ConfigurationError(message) from None
    if project not in projects and "" not in projects:
        message = (
            f"the backup {backup} has executions of {', '.join(projects) or 'no project'}, and this configuration"
            f" belongs to {project}: set `name: {projects[0] if projects else 'NAME'}` to continue them"
        )
        raise ConfigurationError(message)
