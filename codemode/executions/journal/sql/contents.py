"""The transactions on content: images and files, by owner and id. See `codemode.transports.content`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from codemode.executions.journal.sql.statements import Statement, Statements, now_us
from codemode.transports.content import Content

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codemode.executions.journal.sql.statements import Transaction

#: Maximum number of contents that one transaction removes.
_BATCH = 100

_SECOND_US = 1_000_000

_DELETE = "DELETE FROM kept_content WHERE project = $1 AND owner = $2 AND id = $3"


class KeptContent(NamedTuple):
    """Content without its data. Times are microseconds since the epoch."""

    id: str
    media_type: str
    name: str
    size_bytes: int
    kept_us: int
    expires_us: int


def keep(project: str, owner: str, content: Content, keep_s: float, limit_bytes: int) -> Transaction[None]:
    """Store content for `keep_s` seconds from now. Remove the owner's oldest beyond `limit_bytes`."""
    now = yield from now_us()
    yield Statement(
        "INSERT INTO kept_content (project, owner, id, media_type, name, size_bytes, kept_us, expires_us, data)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (project, owner, id)"
        " DO UPDATE SET kept_us = excluded.kept_us, expires_us = excluded.expires_us",
        (
            *(project, owner, content.id, content.media_type, content.name),
            *(len(content.data), now, now + int(keep_s * _SECOND_US), content.data),
        ),
    )
    sums = yield Statement(
        "SELECT coalesce(sum(size_bytes), 0) FROM kept_content WHERE project = $1 AND owner = $2", (project, owner)
    )
    excess = int(sums[0][0]) - limit_bytes
    if excess > 0:
        yield from _remove_oldest(project, owner, content.id, excess)


def _remove_oldest(project: str, owner: str, but: str, excess: int) -> Transaction[None]:
    oldest = yield Statement(
        "SELECT id, size_bytes FROM kept_content WHERE project = $1 AND owner = $2 AND id <> $3"
        " ORDER BY kept_us, id LIMIT $4",
        (project, owner, but, _BATCH),
    )
    doomed = []
    for id_, size in oldest:
        if excess <= 0:
            break
        doomed.append((project, owner, id_))
        excess -= size
    if doomed:
        yield Statements(_DELETE, tuple(doomed))


def find(project: str, owner: str, id_: str) -> Transaction[Content | None]:
    """Return content that has not expired, None if there is none."""
    now = yield from now_us()
    found = yield Statement(
        "SELECT data, media_type, name, expires_us FROM kept_content WHERE project = $1 AND owner = $2 AND id = $3"
        " AND expires_us > $4",
        (project, owner, id_, now),
    )
    if not found:
        return None
    data, media_type, name, expires_us = found[0]
    return Content(bytes(data), media_type, name, expires_us / _SECOND_US)


def list_contents(project: str, owner: str, limit: int) -> Transaction[tuple[KeptContent, ...]]:
    """Return the owner's content that has not expired, newest first."""
    now = yield from now_us()
    rows: Iterable[Any] = yield Statement(
        "SELECT id, media_type, name, size_bytes, kept_us, expires_us FROM kept_content"
        " WHERE project = $1 AND owner = $2 AND expires_us > $3 ORDER BY kept_us DESC, id LIMIT $4",
        (project, owner, now, limit),
    )
    return tuple(KeptContent(*row) for row in rows)


def remove_expired(project: str) -> Transaction[int]:
    """Remove some expired content. Return the number removed."""
    now = yield from now_us()
    expired = yield Statement(
        "SELECT project, owner, id FROM kept_content WHERE project = $1 AND expires_us <= $2 LIMIT $3",
        (project, now, _BATCH),
    )
    if expired:
        yield Statements(_DELETE, tuple(tuple(row) for row in expired))
    return len(expired)
