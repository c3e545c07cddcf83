"""Archives return what they were given, and nobody writes to them."""

from __future__ import annotations

import mmap
import resource
import sys

import pytest

from sandbox.guest.library.archive import Archive


def test_an_archive_returns_its_items() -> None:
    items = {"one": b"1", "empty": b"", "large": bytes(range(256)) * 100}

    archive = Archive(items.items())

    assert dict(archive) == items
    assert "two" not in archive


def test_an_archive_may_be_empty() -> None:
    assert dict(Archive(())) == {}


def test_the_last_item_of_a_name_counts() -> None:
    assert Archive([("one", b"1"), ("one", b"2")])["one"] == b"2"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no worker shares it")
def test_an_archive_cannot_be_written() -> None:
    data = Archive([("one", b"1")])._data

    assert isinstance(data, mmap.mmap)
    with pytest.raises(TypeError, match="readonly"):
        data[0] = 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no worker shares it")
def test_an_archive_is_kept_on_the_heap_where_files_are_limited() -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        archive = Archive([("one", b"1" * 100)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert archive["one"] == b"1" * 100
    assert isinstance(archive._data, bytes)
