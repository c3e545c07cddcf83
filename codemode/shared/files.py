"""Shared values as files of the state folder, for the processes of one machine."""

from __future__ import annotations

import os
import secrets
from functools import partial
from typing import TYPE_CHECKING

from codemode.settings import file_lock
from codemode.shared.values import Latest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from codemode.settings import Settings
    from codemode.shared.values import Kind

#: Name of the key file in the state folder.
KEY_FILE = "keys.json"

#: Suffix of a file whose value is in a database now.
MOVED = ".moved"


class FileValue:
    """One file with mode 0600, replaced as a whole under the lock of a second file.

    `lock` is that file, and `long_lock` the one of `try_lock`.
    """

    def __init__(
        self, path: Path, *, lock: Path | None = None, long_lock: Path | None = None, title: str = "the file"
    ) -> None:
        self.title = f"{title} {path}"
        self._path = path
        self._lock = lock or path.with_name(f"{path.name}.lock")
        self._long_lock = long_lock or path.with_name(f"{path.name}.in-use")
        self._latest = Latest(None, None)

    def read(self) -> bytes | None:
        """See `SharedValue.read`."""
        try:
            return self._path.read_bytes()
        except FileNotFoundError:
            return None

    def latest(self) -> Latest:
        """See `SharedValue.latest`. The version is the file's time, size and inode."""
        try:
            stat = self._path.stat()
        except OSError:
            return Latest(None, None)
        version = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        if version != self._latest.version:
            self._latest = Latest(self.read(), version)
        return self._latest

    def change(self, function: Callable[[bytes | None], bytes | None]) -> None:
        """See `SharedValue.change`."""
        with os.fdopen(self._opened(self._lock), "w") as lock:
            file_lock.lock(lock.fileno())
            known = self.read()
            changed = function(known)
            if changed is not None and changed != known:
                self._write(changed)

    def remove(self) -> bool:
        """See `LockableValue.remove`."""
        had = self._path.exists()
        self._path.unlink(missing_ok=True)
        return had

    def set_aside(self) -> Path | None:
        """Rename the file, so that nobody reads it here again. Return its new path, None if there is no file.

        Raises OSError.
        """
        moved = self._path.with_name(self._path.name + MOVED)
        try:
            self._path.replace(moved)
        except FileNotFoundError:
            return None
        self._sync_folder()
        return moved

    def try_lock(self) -> Callable[[], None] | None:
        """See `LockableValue.try_lock`."""
        descriptor = self._opened(self._long_lock)
        try:
            file_lock.try_lock(descriptor)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
        return partial(os.close, descriptor)

    def _opened(self, lock: Path) -> int:
        lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)

    def _write(self, data: bytes) -> None:
        """Replace the file atomically, readable by the owner only."""
        beside = self._path.with_name(f"{self._path.name}.{secrets.token_hex(4)}.new")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self._path)
            self._sync_folder()
        except BaseException:
            beside.unlink(missing_ok=True)
            raise

    def _sync_folder(self) -> None:
        """Sync the folder: a power cut must not bring back a key that was revoked, or a token that was spent."""
        if os.name != "posix":  # other systems cannot open a folder
            return
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


class FolderStore:
    """The files of a state folder. `learned` is the folder of learned data, if it differs from `state`."""

    repeats_s = 0.0

    def __init__(self, state: Path, learned: Path | None = None) -> None:
        self._state = state
        self._learned = learned or state

    @classmethod
    def of(cls, settings: Settings) -> FolderStore:
        """Return the store of these settings."""
        return cls(settings.state(), settings.learned())

    def value(self, kind: Kind, name: str = "") -> FileValue:
        """See `ValueStore.value`."""
        match kind:
            case "keys":
                return key_file(self._state / KEY_FILE)
            case "shapes" | "answers" | "usage":
                return FileValue(self._learned / f"{kind}.json")
            case "feedback":
                return FileValue(self._learned / kind / f"{name}.json")
            case "sessions" | "programs" | "decisions":
                return FileValue(self._state / f"{kind}.json")
            case "tokens":
                return token_file(self._state / "tokens", name)
            case "definitions":
                return FileValue(self._state / "mcp" / f"{name}.mcp.json")
            case "instructions":
                return FileValue(self._state / "mcp" / f"{name}.instructions.txt")
            case _:
                return FileValue(self._state / kind / f"{name}.{kind}.json")

    def on_change(self, kind: Kind, function: Callable[[str], None]) -> None:
        """See `ValueStore.on_change`."""

    def open(self) -> None:
        """See `ValueStore.open`."""

    def close(self) -> None:
        """See `ValueStore.close`."""


def token_file(folder: Path, source: str) -> FileValue:
    """Return the value of a source's login in a folder."""
    return FileValue(folder / f"{source}.json", long_lock=folder / f"{source}.lock", title="the file")


def key_file(path: Path) -> FileValue:
    """Return the value of a key file."""
    return FileValue(path, lock=path.with_suffix(".lock"), title="the key file")
