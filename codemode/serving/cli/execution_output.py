"""Print stored executions and pending calls."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from codemode.executions.life.repeats import repeats, shared_arguments, times
from codemode.executions.types.outcome import ExecutionOutcome
from codemode.executions.types.outcome_lines import call_text, listed
from codemode.serving.cli.tables import print_table
from codemode.serving.output import terminal as show
from codemode.serving.output.card_text import WHOLE, card_text
from codemode.serving.output.waterfall import MAX_ROWS
from codemode.text.program_title import program_title
from codemode.text.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from codemode.executions.journal.expired import ExpiredExecution
    from codemode.executions.types.card import ApprovalCard
    from codemode.executions.types.ledger import LedgerEntry
    from codemode.executions.types.records import PendingCall, StoredExecution

_MICROSECONDS = 1_000_000

#: Characters of an argument of repeated calls.
_MAX_ARGUMENT = 120

_LEFT = "{0}: its server gives no sign of life; `codemode executions resume {0}` continues it, `cancel` ends it"


def print_executions(
    found: Sequence[StoredExecution], left: Collection[str], labels: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Print one line per execution, then those that are damaged, and those in `left`, whose server is lost.

    `labels` are names of keys by id.
    """
    print_table(
        ("execution", "status", "owner", "started", "program"),
        [_row(one, labels) for one in found],
        may_be_cut=("program",),
    )
    for stored in found:
        if stored.damage:
            show.errors.print(show.plain(stored.damage, style="red"), soft_wrap=True)
        elif stored.request.id in left:
            show.errors.print(show.plain(_LEFT.format(stored.request.id), style="yellow"), soft_wrap=True)


def _row(stored: StoredExecution, labels: Mapping[str, str]) -> tuple[str, ...]:
    started = datetime.fromtimestamp(stored.request.start_us / _MICROSECONDS, UTC).strftime("%Y-%m-%d %H:%M:%S")
    first = "(damaged)" if stored.damage else program_title(stored.request.code)
    owner = stored.request.owner
    return stored.request.id, stored.status, labels.get(owner, owner), started, first


def print_pending(waiting: Sequence[PendingCall]) -> None:
    """Print one line per call that waits for a person."""
    readable = [call for call in waiting if not call.damage]
    if readable:
        rows = [(call.id, call.execution, call.kind, call_text(call), call.reason) for call in readable]
        print_table(("call", "execution", "kind", "tool", "reason"), rows, may_be_cut=("tool", "reason"))
    for call in waiting:
        if call.damage:
            show.console.print(show.plain(f"{call.id}  {call.damage}"), soft_wrap=True)
    if not waiting:
        show.errors.print("no call waits for a person")


def print_expired(expired: Sequence[ExpiredExecution]) -> None:
    """Print one line on standard error for each execution that expired with undecided calls."""
    for one in expired:
        when = rfc3339(one.ended_us)
        line = f"{one.execution} expired at {when} without a decision on {'; '.join(one.undecided)}: {one.reason}"
        show.errors.print(show.plain(line, style="yellow"), soft_wrap=True)


def print_card(card: ApprovalCard, code: str) -> None:
    """Print the card of a call, and the program that makes it."""
    show.console.print(show.plain(card_text(card, most=WHOLE)), soft_wrap=True)
    if card.call.asks is not None:
        show.console.print(show.plain(json.dumps(dict(card.call.asks), indent=2, ensure_ascii=False)))
    show.console.print(show.program(code))


def ledger_lines(calls: Sequence[LedgerEntry]) -> list[str]:
    """Return one line per call. Longer ledgers have one line for the calls of one tool in one state."""
    groups = repeats(calls) if len(calls) > MAX_ROWS else [(call,) for call in calls]
    return [_ledger_line(group) for group in groups]


def _ledger_line(group: tuple[LedgerEntry, ...]) -> str:
    first = group[0]
    if len(group) > 1:
        return f"{first.shown_state:<12} {first.tool}({shared_arguments(group, _MAX_ARGUMENT)}) {times(len(group))}"
    reused = f" (from {first.reused})" if first.reused else ""
    return f"{first.shown_state:<12} {first.tool}({listed(first.arguments)}){reused}"


def print_execution(found: Mapping[str, Any]) -> None:
    """Print one execution, given as JSON data: who started it, its program, and its outcome once there is one."""
    show.console.print(show.plain(f"{found['id']}  {found['status']}  of {found['owner']}", style="bold"))
    show.console.print(show.program(found["code"]))
    if found["outcome"]:
        ended = ExecutionOutcome.from_json({**found["outcome"], "pending": found["pending"]})
        show.console.print(show.outcome(ended))
