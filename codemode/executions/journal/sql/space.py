"""The space that executions take in a journal, and the removal of ended executions.

The table `space` holds the bytes of each owner: those of open executions, which are never removed, and those of ended
ones. An execution is measured when it pauses or ends; a running one counts with its size at the last pause.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemode.errors import JournalFull
from codemode.executions.journal.sql.request_keys import SpentKey, keep
from codemode.executions.journal.sql.statements import Statement, Statements, Transaction, now_us

if TYPE_CHECKING:
    from codemode.executions.types.records import Retention

#: Largest number of executions, and of their bytes, that one transaction removes, so that others need not wait long.
BATCH = 20
BATCH_BYTES = 4 * 1024 * 1024

#: What an execution counts at least.
LEAST_BYTES = 512

_MEASURED_AT_ONCE = 5000
_SECOND_US = 1_000_000
_GIB = 1024**3

#: The end of an execution: time and number. The number separates ends in the same microsecond.
End = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Largest number of bytes for a project, and for each owner, and of paused executions of an owner."""

    all: int = 1 << 62
    per_key: int = 1 << 62
    paused_per_key: int = 1_000


def places(number: int) -> tuple[int, int]:
    """Return the first and last place that an entry of an execution can have."""
    return number << 32, (number + 1) << 32


def require_room(project: str, owner: str, bounds: Bounds) -> Transaction[None]:
    """Raise JournalFull if unremovable data exceeds a bound."""
    sums = yield Statement(
        "SELECT coalesce(sum(open_bytes), 0), coalesce(sum(CASE WHEN owner = $2 THEN open_bytes END), 0)"
        " FROM space WHERE project = $1",
        (project, owner),
    )
    of_all, of_owner = (int(one) for one in sums[0])
    if of_owner >= bounds.per_key:
        whose = f"the open executions of the key {owner!r}"
        raise _full(whose, of_owner, "keep_bytes_per_key", bounds.per_key)
    if of_all >= bounds.all:
        raise _full("the open executions of all keys", of_all, "keep_bytes", bounds.all)
    if of_owner >= bounds.paused_per_key * LEAST_BYTES:  # counting takes longer than adding up
        yield from _require_few_paused(project, owner, bounds.paused_per_key)


def _require_few_paused(project: str, owner: str, most: int) -> Transaction[None]:
    paused = yield Statement(
        "SELECT count(*) FROM executions WHERE project = $1 AND status = 'paused' AND owner = $2", (project, owner)
    )
    if paused[0][0] >= most:
        message = (
            f"{most:,} executions of the key {owner!r} wait for a person, and no key may have more; decide or cancel"
            " some (`codemode approvals list`, `codemode executions list --status paused`); nothing was run"
        )
        raise JournalFull(message)


def _full(whose: str, size: int, setting: str, bound: int) -> JournalFull:
    return JournalFull(
        f"the journal is full: {whose} take {_shown(size)}, and journal.{setting} allows {_shown(bound)}; decide or"
        " cancel paused executions (`codemode approvals list`, `codemode executions list --status paused`), or raise"
        f" journal.{setting}; nothing was run"
    )


def _shown(size: int) -> str:
    return f"{size / _GIB:.1f} GiB" if size >= _GIB else f"{size} bytes"


def settle(project: str, execution: str, bounds: Bounds) -> Transaction[bool]:
    """Measure an execution that has paused or ended. Return whether a bound is exceeded; `make_room` then frees space.

    The caller has locked the row.
    """
    (row,) = yield Statement("SELECT number, owner, bytes, ended_us FROM executions WHERE id = $1", (execution,))
    number, owner, before, ended_us = row
    size = yield from _measured(number, execution)
    yield Statement("UPDATE executions SET bytes = $1 WHERE id = $2", (size, execution))
    opened, ended = (-before, size) if ended_us else (size - before, 0)
    yield from add(project, owner, opened, ended)
    of_all, of_owner = yield from _taken(project, owner)
    return of_owner > bounds.per_key or of_all > bounds.all


def make_room(project: str, execution: str, bounds: Bounds) -> Transaction[None]:
    """Remove at most `BATCH` ended executions except this one, as far as a bound is exceeded."""
    for number, owner in (yield Statement("SELECT number, owner FROM executions WHERE id = $1", (execution,))):
        of_all, of_owner = yield from _taken(project, owner)
        if of_owner > bounds.per_key:
            yield from _remove_oldest(project, of_owner - bounds.per_key, number, owner)
        elif of_all > bounds.all:
            yield from _remove_oldest(project, of_all - bounds.all, number)


def _taken(project: str, owner: str) -> Transaction[tuple[int, int]]:
    """Return the bytes of a project, and of an owner in it."""
    sums = yield Statement(
        "SELECT coalesce(sum(open_bytes + ended_bytes), 0),"
        " coalesce(sum(CASE WHEN owner = $2 THEN open_bytes + ended_bytes END), 0) FROM space WHERE project = $1",
        (project, owner),
    )
    of_all, of_owner = (int(one) for one in sums[0])
    return of_all, of_owner


def _measured(number: int, execution: str) -> Transaction[int]:
    parts = yield Statement(
        f"SELECT {LEAST_BYTES} + coalesce((SELECT length(given) + coalesce(length(outcome), 0) FROM contents"
        " WHERE execution = $3), 0) + coalesce((SELECT sum(64 + length(content) + coalesce(length(value), 0))"
        " FROM entries WHERE place BETWEEN $1 AND $2), 0)"
        " + coalesce((SELECT sum(length(value)) FROM blobs WHERE place BETWEEN $1 AND $2), 0)",
        (*places(number), execution),
    )
    return int(parts[0][0])


_MEASURE_SOME = """
UPDATE executions SET bytes = 512
  + coalesce((SELECT length(given) + coalesce(length(outcome), 0) FROM contents WHERE execution = executions.id), 0)
  + coalesce((SELECT sum(64 + length(content) + coalesce(length(value), 0)) FROM entries
    WHERE place BETWEEN number << 32 AND (number + 1) << 32), 0)
  + coalesce((SELECT sum(length(value)) FROM blobs WHERE place BETWEEN number << 32 AND (number + 1) << 32), 0)
WHERE number > $1 AND number <= $2
"""
_ADD_ALL = """
INSERT INTO space SELECT project, owner, coalesce(sum(CASE WHEN ended_us = 0 THEN bytes END), 0),
  coalesce(sum(CASE WHEN ended_us > 0 THEN bytes END), 0) FROM executions GROUP BY project, owner
"""


def measure_all() -> Transaction[None]:
    """Measure executions of an earlier version in steps, because a single statement may exceed the time limit."""
    last = yield Statement("SELECT coalesce(max(number), 0) FROM executions")
    for before in range(0, last[0][0], _MEASURED_AT_ONCE):
        yield Statement(_MEASURE_SOME, (before, before + _MEASURED_AT_ONCE))
    yield Statement(_ADD_ALL)


def add(project: str, owner: str, opened: int, ended: int) -> Transaction[None]:
    """Change the byte counts of an owner's open and ended executions. Negative numbers subtract."""
    yield Statement(
        "INSERT INTO space (project, owner, open_bytes, ended_bytes) VALUES ($1, $2, $3, $4)"
        " ON CONFLICT (project, owner) DO UPDATE SET open_bytes = space.open_bytes + excluded.open_bytes,"
        " ended_bytes = space.ended_bytes + excluded.ended_bytes",
        (project, owner, opened, ended),
    )


def _remove_oldest(project: str, excess: int, but: int, owner: str = "") -> Transaction[None]:
    """Remove the oldest ended executions except `but`, at most `BATCH`, until the excess is gone."""
    mine = " AND owner = $4" if owner else ""
    oldest = yield Statement(
        "SELECT number, bytes FROM executions WHERE project = $1 AND ended_us > 0 AND number <> $2"
        f"{mine} ORDER BY ended_us, number LIMIT $3",
        (project, but, BATCH, *((owner,) if owner else ())),
    )
    doomed = []
    for number, size in oldest:
        if excess <= 0:
            break
        doomed.append(number)
        excess -= size
    yield from _delete(project, doomed)


def watermarks(project: str, retention: Retention, bounds: Bounds) -> Transaction[dict[str, End]]:
    """Return the ends up to which executions are removed: of all owners under "", and of those who have too many."""
    ends = {"": (yield from _watermark_of_all(project, retention, bounds))}
    owners = yield Statement("SELECT owner FROM space WHERE project = $1 AND ended_bytes > 0", (project,))
    for (owner,) in owners:
        many = yield Statement(
            "SELECT ended_us, number FROM executions WHERE project = $1 AND owner = $2 AND ended_us > 0"
            " ORDER BY ended_us DESC, number DESC LIMIT 1 OFFSET $3",
            (project, owner, retention.count),
        )
        if many:
            ends[owner] = (int(many[0][0]), int(many[0][1]))
    return ends


def _watermark_of_all(project: str, retention: Retention, bounds: Bounds) -> Transaction[End]:
    """Return the end of executions that are too old, or too large together."""
    now = yield from now_us()
    last = (now - int(retention.age_s * _SECOND_US), 1 << 62)
    sums = yield Statement(
        "SELECT coalesce(sum(open_bytes + ended_bytes), 0), coalesce(sum(ended_bytes), 0) FROM space"
        " WHERE project = $1",
        (project,),
    )
    total, ended = (int(one) for one in sums[0])
    large: list[End] = []
    if total > bounds.all and ended:
        large = yield from _until_freed(project, total - bounds.all)
    return max([last, *large])


def _until_freed(project: str, excess: int) -> Transaction[list[End]]:
    """Return the end up to which the oldest executions take these bytes. Look at a thousand of them per step."""
    oldest = yield Statement(
        "SELECT ended_us, number, bytes FROM executions WHERE project = $1 AND ended_us > 0"
        " ORDER BY ended_us, number LIMIT 1000",
        (project,),
    )
    until: list[End] = []
    for ended_us, number, size in oldest:
        if excess <= 0:
            break
        until = [(ended_us, number)]
        excess -= size
    return until


def remove(project: str, until: End, owner: str = "") -> Transaction[int]:
    """Remove some executions up to a watermark, oldest first: of one owner, or of all. Return the number found."""
    mine = " AND owner = $5" if owner else ""
    oldest = yield Statement(
        "SELECT number, bytes FROM executions WHERE project = $1 AND ended_us > 0 AND (ended_us, number) <= ($2, $3)"
        f"{mine} ORDER BY ended_us, number LIMIT $4",
        (project, *until, BATCH, *((owner,) if owner else ())),
    )
    doomed: list[int] = []
    size = 0
    for number, taken in oldest:
        if doomed and size + taken > BATCH_BYTES:
            break
        doomed.append(number)
        size += taken
    yield from _delete(project, doomed)
    return len(doomed)


def _delete(project: str, numbers: list[int]) -> Transaction[None]:
    """Remove executions with all their rows. Among concurrent servers one does it."""
    removed: list[tuple[int, str]] = []
    freed: dict[str, int] = {}
    spent: list[SpentKey] = []
    for number in numbers:
        gone = yield Statement(
            "DELETE FROM executions WHERE number = $1 AND ended_us > 0"
            " RETURNING id, owner, bytes, request_key, request_digest",
            (number,),
        )
        for execution, owner, size, key, digest in gone:
            removed.append((number, execution))
            freed[owner] = freed.get(owner, 0) + size
            spent += [SpentKey(owner, key, digest, execution)] if key else []
    if not removed:
        return
    if spent:
        yield from keep(project, spent)
    ranges = tuple(places(number) for number, _ in removed)
    ids = tuple((execution,) for _, execution in removed)
    yield Statements("DELETE FROM entries WHERE place BETWEEN $1 AND $2", ranges)
    yield Statements("DELETE FROM blobs WHERE place BETWEEN $1 AND $2", ranges)
    yield Statements("DELETE FROM questions WHERE execution = $1", ids)
    yield Statements("DELETE FROM outbox WHERE execution = $1", ids)
    yield Statements("DELETE FROM contents WHERE execution = $1", ids)
    yield Statements("DELETE FROM stores WHERE execution = $1", ids)
    for owner in sorted(freed):
        yield from add(project, owner, 0, -freed[owner])
    yield Statement("DELETE FROM space WHERE project = $1 AND open_bytes = 0 AND ended_bytes = 0", (project,))
