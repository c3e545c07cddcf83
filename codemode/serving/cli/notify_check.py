"""The check of `codemode doctor` of messages to people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.errors import CodeModeError
from codemode.executions.journal.configured import JOURNAL_FILE
from codemode.features.notify.targets import target_of
from codemode.serving.cli.findings import Finding, State
from codemode.serving.cli.stored import on_journal
from codemode.settings import Secrets
from codemode.text.counted import counted

if TYPE_CHECKING:
    from codemode.executions.journal.base import Journal
    from codemode.settings import Settings


async def messages(settings: Settings) -> list[Finding]:
    """Check whether messages to people can be sent, without sending one."""
    targets = settings.notify.targets
    if not targets:
        return []
    try:
        for name, target in targets.items():
            target_of(name, target, Secrets(), settings.notify.timeout_s)  # checks the secrets
        has_journal = settings.journal.url is not None or (settings.state() / JOURNAL_FILE).exists()
        gone, given_up = await on_journal(settings, _undelivered) if has_journal else (frozenset(), 0)
    except CodeModeError as error:
        return [Finding("notify", "targets", State.FAILURE, str(error), "fix it, then run `codemode notify test`")]
    if gone & targets.keys():
        named = ", ".join(sorted(gone & targets.keys()))
        fix = "correct the url, then run `codemode notify test`"
        return [Finding("notify", "targets", State.FAILURE, f"the receiver of {named} answered 410", fix)]
    unlinked = "" if settings.server.public_url else "; without server.public_url, messages have no links"
    found = f"{counted(len(targets), 'target')}{unlinked}"
    if given_up:
        found = f"{counted(given_up, 'message')} of the last 50 given up; {found}"
        return [Finding("notify", "targets", State.WARNING, found, "see `codemode notify list`")]
    return [Finding("notify", "targets", State.OK, found)]


async def _undelivered(journal: Journal) -> tuple[frozenset[str], int]:
    """Return the targets that are gone, and how many of the newest messages were given up."""
    return await journal.outbox.gone(), sum(one.state == "gave_up" for one in await journal.outbox.list())
