"""Request keys of executions that were removed. See `transactions` for the form.

A request that is made again must not be carried out again, although its record is gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from codemode.errors import RequestConflict, RequestForgotten
from codemode.executions.journal.sql.statements import Statement, Statements, now_us

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codemode.executions.journal.sql.statements import Transaction
    from codemode.executions.types.records import NewExecution

#: A key is refused for 30 days after its record was removed. Each owner's newest 100,000 are kept.
_KEPT_US, MOST_PER_OWNER = 30 * 86_400 * 1_000_000, 100_000


class SpentKey(NamedTuple):
    """The key and digest of a request, and its execution, which was removed."""

    owner: str
    key: str
    digest: str
    execution: str


def keep(project: str, spent: Iterable[SpentKey]) -> Transaction[None]:
    """Remember the keys of executions that are being removed."""
    until = (yield from now_us()) + _KEPT_US
    yield Statements(
        "INSERT INTO request_keys (project, owner, request_key, request_digest, execution, until_us)"
        " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (project, owner, request_key) DO NOTHING",
        tuple((project, *one, until) for one in spent),
    )


def require_unspent(project: str, new: NewExecution) -> Transaction[None]:
    """Raise RequestForgotten, or RequestConflict for another request, if the key of a request was used before."""
    found = yield Statement(
        "SELECT execution, request_digest FROM request_keys WHERE project = $1 AND owner = $2 AND request_key = $3",
        (project, new.owner, new.request_key),
    )
    for execution, digest in found:
        if digest != new.request_digest:
            raise conflict(execution)
        message = (
            f"this request was already made, as execution {execution}, whose record retention has removed; nothing was"
            " run: to make it again on purpose, use a new idempotency key"
        )
        raise RequestForgotten(message, execution=execution)


def conflict(execution: str) -> RequestConflict:
    """Return the error for a key that was used for another request."""
    message = f"the idempotency key was already used for another request, execution {execution}; use a new key"
    return RequestConflict(message, execution=execution)


def remove_old(project: str) -> Transaction[None]:
    """Remove keys that were kept long enough, and the oldest of an owner with too many."""
    now = yield from now_us()
    yield Statement("DELETE FROM request_keys WHERE project = $1 AND until_us <= $2", (project, now))
    owners = yield Statement("SELECT owner FROM request_keys WHERE project = $1 GROUP BY owner", (project,))
    for (owner,) in owners:
        yield Statement(
            "DELETE FROM request_keys WHERE project = $1 AND owner = $2 AND until_us <= (SELECT until_us"
            " FROM request_keys WHERE project = $1 AND owner = $2 ORDER BY until_us DESC LIMIT 1 OFFSET $3)",
            (project, owner, MOST_PER_OWNER),
        )
