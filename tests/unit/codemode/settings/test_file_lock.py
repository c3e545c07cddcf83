"""Locks on files of the state folder."""

from __future__ import annotations

import os
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from codemode.settings import file_lock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[int, int]]:
    """Open one file twice."""
    path = tmp_path / "lock"
    path.write_bytes(b"content")
    one, other = os.open(path, os.O_RDWR), os.open(path, os.O_RDWR)
    yield one, other
    os.close(other)


def test_a_held_lock_is_not_taken_until_its_file_is_closed(two: tuple[int, int]) -> None:
    one, other = two
    file_lock.lock(one)
    with pytest.raises(BlockingIOError):
        file_lock.try_lock(other)
    waiting = Thread(target=file_lock.lock, args=(other,))
    waiting.start()
    os.close(one)
    waiting.join(timeout=200)
    assert not waiting.is_alive()


class Windows:
    """`msvcrt` on Windows: another process holds the lock for `held` attempts. Notes the locked places."""

    LK_NBLCK = 2

    def __init__(self, held: int) -> None:
        self.held = held
        self.places: list[int] = []

    def locking(self, descriptor: int, mode: int, size: int) -> None:
        assert (mode, size) == (self.LK_NBLCK, 1)
        self.places.append(os.lseek(descriptor, 0, os.SEEK_CUR))
        if len(self.places) <= self.held:
            raise PermissionError(13, "Permission denied")


def test_on_windows_a_byte_behind_the_content_is_locked(two: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    one, _ = two
    os.lseek(one, 3, os.SEEK_SET)
    monkeypatch.setattr(file_lock, "_windows", Windows(held=1))
    with pytest.raises(BlockingIOError, match="Permission denied"):
        file_lock.try_lock(one)
    file_lock.try_lock(one)
    assert os.read(one, 4) == b"tent"
    monkeypatch.setattr(file_lock, "_windows", windows := Windows(held=2))
    file_lock.lock(one)
    assert len(windows.places) == 3
    assert min(windows.places) > 1 << 39
    os.close(one)
