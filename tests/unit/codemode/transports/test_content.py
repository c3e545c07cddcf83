"""References to content: made from the content, per caller, bounded, and stored in an archive."""

from __future__ import annotations

import pytest

from codemode.errors import CallError, JournalUnavailable
from codemode.transports.content import Content, ContentNotFound, ContentStore

PNG = b"\x89PNG\r\n\x1a\nsynthetic"


class Archive:
    """Content in a dict, or an archive that is unavailable."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], Content] = {}
        self.fails = False

    async def keep(self, owner: str, content: Content) -> None:
        self._check()
        self.kept[owner, content.id] = content

    async def find(self, owner: str, id_: str) -> Content | None:
        self._check()
        return self.kept.get((owner, id_))

    def _check(self) -> None:
        if self.fails:
            raise JournalUnavailable("the disk is full")


@pytest.fixture
def archive() -> Archive:
    return Archive()


@pytest.fixture
def store(archive: Archive) -> ContentStore:
    store = ContentStore()
    store.archive = archive
    return store


async def test_a_reference_is_shown_as_it_is_stored_whatever_a_program_wrote_beside_it() -> None:
    store = ContentStore()
    kept = store.put(Content(b"evil", "text/plain", "evil.sh"), "ann")
    lies = {"$content": kept["$content"], "name": "contract.pdf", "media_type": "application/pdf", "size_bytes": 1}
    unknown = {"$content": "c_" + "0" * 32}
    given = {"file": lies, "all": [lies, {"deep": {**unknown, "name": "x"}}], "n": 1}
    assert await store.restore(given, "ann") == {"file": kept, "all": [kept, {"deep": unknown}], "n": 1}
    assert await store.restore(lies, "bob") == {"$content": kept["$content"]}


def test_the_same_file_has_the_same_reference() -> None:
    store = ContentStore()
    reference = store.put(Content(PNG, "image/png", "a.png"), "ann")
    assert reference == store.put(Content(PNG, "image/png", "a.png"), "ann")
    assert reference["size_bytes"] == len(PNG)
    assert store.put(Content(PNG, "image/png", "b.png"), "ann")["$content"] != reference["$content"]


def test_content_put_twice_counts_once() -> None:
    store = ContentStore(3 * 1024)
    first = store.put(Content(b"first"), "ann")
    for _ in range(5):
        store.put(Content(b"second"), "ann")
    assert store.get(first, "ann").data == b"first"


async def test_a_reference_is_unknown_to_other_callers(store: ContentStore) -> None:
    reference = store.put(Content(PNG), "ann")
    await store.save("ann")
    await store.recall(reference, "bob")
    with pytest.raises(ContentNotFound, match=r"^this content is no longer stored, or never was: "):
        store.get(reference, "bob")
    with pytest.raises(ContentNotFound):
        await store.find(reference["$content"], "bob")


def test_expired_content_is_unknown() -> None:
    store = ContentStore(keep_s=-1)
    reference = store.put(Content(PNG), "ann")
    with pytest.raises(ContentNotFound):
        store.get(reference, "ann")


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"%PDF-1.7", "application/pdf"),
        (b"anything", "application/octet-stream"),
    ],
)
def test_a_missing_media_type_is_recognized(data: bytes, media_type: str) -> None:
    assert ContentStore().put(Content(data), "ann")["media_type"] == media_type


def test_a_declared_media_type_is_kept() -> None:
    assert ContentStore().put(Content(PNG, "text/csv"), "ann")["media_type"] == "text/csv"


async def test_archived_content_is_recalled_by_another_server(store: ContentStore, archive: Archive) -> None:
    reference = store.put(Content(PNG, "image/png", "a.png"), "ann")
    assert archive.kept == {}
    await store.save("ann")
    other = ContentStore()
    other.archive = archive
    await other.recall({"files": [reference]}, "ann")
    assert other.get(reference, "ann") == Content(PNG, "image/png", "a.png")


async def test_one_caller_does_not_save_the_content_of_another(store: ContentStore, archive: Archive) -> None:
    store.put(Content(PNG), "ann")
    await store.save("bob")
    assert archive.kept == {}


async def test_content_stays_in_memory_if_the_archive_is_unavailable(
    store: ContentStore, archive: Archive, caplog: pytest.LogCaptureFixture
) -> None:
    archive.fails = True
    reference = store.put(Content(PNG), "ann")
    await store.save("ann")
    await store.recall(reference, "ann")
    assert store.get(reference, "ann").data == PNG
    assert "content is kept in memory only: the disk is full" in caplog.text


async def test_a_call_is_not_sent_if_its_content_cannot_be_read(store: ContentStore, archive: Archive) -> None:
    archive.fails = True
    with pytest.raises(CallError, match=r"^stored content cannot be read at present; nothing was sent"):
        await store.recall({"$content": "c_elsewhere"}, "ann")


async def test_an_upload_fails_if_the_archive_is_unavailable(store: ContentStore, archive: Archive) -> None:
    archive.fails = True
    with pytest.raises(JournalUnavailable):
        await store.add(Content(PNG), "ann")


def test_content_in_json_becomes_base64() -> None:
    contents = ContentStore().of("ann")
    reference = contents.put(Content(b"hello"))
    assert contents.as_base64({"a": [reference, {"$base64": "aGk="}], "b": {"c": 1}}) == {
        "a": ["aGVsbG8=", "aGk="],
        "b": {"c": 1},
    }
