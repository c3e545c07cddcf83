"""Content in a journal: per owner and project, with an expiry and a limit of bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.executions.types.records import Retention
from codemode.features.content.table import ContentTable
from codemode.transports.content import Content

if TYPE_CHECKING:
    from codemode.executions.journal.base import Journal
    from tests.integration.codemode.executions.journal.conftest import Store

LARGE = 1 << 30
PHOTO = Content(b"\x89PNG\0\xff", "image/png", "photo.png")


async def test_every_server_finds_content_with_its_type_and_name(store: Store) -> None:
    one, other = await store.server(), await store.server()
    await ContentTable(one).keep("ann", PHOTO, keep_s=60, limit_bytes=LARGE)
    await ContentTable(one).keep("ann", PHOTO, keep_s=60, limit_bytes=LARGE)
    assert await ContentTable(other).find("ann", PHOTO.id) == PHOTO
    (listed,) = await ContentTable(other).list("ann")
    assert (listed.id, listed.media_type, listed.name, listed.size_bytes) == (PHOTO.id, "image/png", "photo.png", 6)


async def test_content_is_unknown_to_other_owners_and_projects(store: Store) -> None:
    journal, elsewhere = await store.server(project="here"), await store.server(project="elsewhere")
    await ContentTable(journal).keep("ann", PHOTO, keep_s=60, limit_bytes=LARGE)
    assert await ContentTable(journal).find("bob", PHOTO.id) is None
    assert await ContentTable(elsewhere).find("ann", PHOTO.id) is None
    assert await ContentTable(journal).list("bob") == ()


async def test_expired_content_is_unknown_and_pruned(journal: Journal) -> None:
    await ContentTable(journal).keep("ann", PHOTO, keep_s=-1, limit_bytes=LARGE)
    assert await ContentTable(journal).find("ann", PHOTO.id) is None
    assert await ContentTable(journal).list("ann") == ()
    await journal.prune(Retention(60, 10))
    await ContentTable(journal).keep("ann", Content(b"new"), keep_s=60, limit_bytes=LARGE)
    assert [one.id for one in await ContentTable(journal).list("ann")] == [Content(b"new").id]


async def test_the_oldest_content_of_an_owner_beyond_its_limit_is_removed(journal: Journal) -> None:
    files = [Content(bytes([n]) * 100) for n in range(5)]
    await ContentTable(journal).keep("bob", PHOTO, keep_s=60, limit_bytes=250)
    for file in files:
        await ContentTable(journal).keep("ann", file, keep_s=60, limit_bytes=250)
    assert {one.id for one in await ContentTable(journal).list("ann")} == {files[3].id, files[4].id}
    assert await ContentTable(journal).find("bob", PHOTO.id) == PHOTO
