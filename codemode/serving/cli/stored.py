"""Commands on what the journal has stored. They read no source and start no sandbox."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import typer

from codemode.errors import ApprovalRefused, CodeModeError, ConfigurationError
from codemode.executions.journal.configured import journal_of, store_of
from codemode.executions.types.outcome import unasked
from codemode.executions.types.records import OPEN
from codemode.serving.auth.keys import keys_of
from codemode.serving.cli.execution_list import PAGE, whole_id
from codemode.serving.cli.project_options import run_until_signal
from codemode.serving.output.exit_codes import errors_as_exit_codes
from codemode.settings import Secrets
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from codemode.executions.journal.base import Journal, StoredJournal
    from codemode.executions.types.records import ExecutionStatus, PendingCall, StoredExecution
    from codemode.serving.cli.execution_list import ReadPage
    from codemode.serving.cli.project_options import Project
    from codemode.settings import Settings

_T = TypeVar("_T")


def with_journal(project: Project, work: Callable[[StoredJournal], Awaitable[int]], *, as_json: bool) -> None:
    """Open the journal, do the work, and exit with its exit code. Errors are printed as JSON with `as_json`."""
    with errors_as_exit_codes(as_json=as_json):
        raise typer.Exit(run_until_signal(on_journal(project.settings(), work)))


async def on_journal(settings: Settings, work: Callable[[StoredJournal], Awaitable[_T]]) -> _T:
    """Open the configured journal and do the work. Raises ConfigurationError, JournalUnavailable."""
    journal = journal_of(settings, Secrets())
    if journal is None:
        message = "executions are not recorded here: set `journal.enabled: true` in the configuration"
        raise ConfigurationError(message)
    try:
        await journal.open()
        return await work(journal)
    finally:
        await journal.aclose()


def pages(journal: Journal, status: ExecutionStatus | None = None) -> ReadPage:
    """Return what reads one page of executions after another."""

    async def read(before: str) -> tuple[StoredExecution, ...]:
        return await journal.list(status=status, limit=PAGE, before=before)

    return read


async def stored_execution(journal: Journal, execution: str) -> StoredExecution:
    """Return an execution with its outcome, by its id or the beginning of it.

    Raises ExecutionNotFound, JournalDamaged, and ConfigurationError for a beginning of several ids.
    """
    stored = await journal.get(await whole_id(pages(journal), execution))
    return stored if stored.status in OPEN else replace(stored, outcome=unasked(stored.outcome))


def labels_of_keys(settings: Settings) -> dict[str, str]:
    """Return the labels of the server's keys by id, none if the keys cannot be read."""
    try:
        with closing(store_of(settings, Secrets())) as store:
            return {key.id: key.label for key in keys_of(settings, store).entries() if key.label}
    except CodeModeError:
        return {}


def find_pending(ids: Sequence[str], named: Sequence[PendingCall], waiting: Sequence[PendingCall]) -> list[PendingCall]:
    """Return the pending calls with these ids. Raises ApprovalRefused if one is not pending; `waiting` are others."""
    there = {call.id: call for call in named}
    absent = [id_ for id_ in ids if id_ not in there]
    if absent:
        known = [call.id for call in waiting]
        near = did_you_mean(absent[0], known)
        message = f"no pending call {', '.join(absent)}; pending calls: {', '.join(known) or 'none'}{near}"
        raise ApprovalRefused(message)
    return [there[id_] for id_ in ids]
