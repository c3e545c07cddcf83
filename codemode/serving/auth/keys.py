"""The key file: keys made with `codemode keys`, stored in the state folder and reread after every change.

Only the SHA-256 of a key is stored. A key is 256 random bits, which nobody can guess. A slow hash, as for passwords,
would only delay every request (NIST SP 800-63B, 5.1.1.2, requires one below 112 bits). Revoked and expired keys stay
in the file: a server that once had a key never again accepts callers without one.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError
from codemode.settings import file_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from codemode.settings import Settings

log = logging.getLogger(__name__)

#: Name of the key file in the state folder.
KEY_FILE = "keys.json"

#: Prefix of every key, so that secret scanners find leaked ones.
PREFIX = "cm_"

_SECRET_BYTES = 32
_ID_BYTES = 4
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class StoredKey:
    """One key. Times are seconds since 1970; `digest` is the SHA-256 of the key.

    After a rotation `old_digest` stays valid until `old_until`. The key is valid for servers of its `project` only.
    """

    id: str
    role: str
    label: str
    digest: str
    created: float
    expires: float | None = None
    revoked: float | None = None
    old_digest: str = ""
    old_until: float = 0.0
    project: str = ""
    read_only: bool = False

    def status(self, now: float) -> str:
        """Return `active`, `expired` or `revoked`."""
        if self.revoked is not None:
            return "revoked"
        return "expired" if self.expires is not None and now >= self.expires else "active"

    def opens(self, digest: str, now: float) -> bool:
        """Whether the digest is that of this key, and the key is valid."""
        is_known = digest == self.digest or (digest == self.old_digest and now < self.old_until)
        return is_known and self.status(now) == "active"


class KeyFile:
    """The keys of a project. Lookups never raise: an unreadable file contains no valid key.

    The file may hold keys of other projects, which are ignored. Keys written by an earlier version have no project;
    the first project that uses the file takes them over.
    """

    def __init__(self, path: Path, *, project: str = "", clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._project = project
        self._clock = clock
        self._seen: tuple[int, int, int] | None = None
        self._by_digest: dict[str, StoredKey] = {}
        self._by_id: dict[str, StoredKey] = {}
        #: Whether the file ever existed. Callers without a key are rejected from then on.
        self.is_used = False

    def find(self, presented: str) -> StoredKey | None:
        """Return the stored key that matches, if it is valid now."""
        self._refresh()
        digest = digest_of(presented)  # the lookup time depends on the digest, which reveals nothing about the key
        key = self._by_digest.get(digest)
        return key if key is not None and key.opens(digest, self._clock()) else None

    def role_of(self, id_: str) -> str | None:
        """Return the role of a key that is valid now."""
        self._refresh()
        key = self._by_id.get(id_)
        return key.role if key is not None and key.status(self._clock()) == "active" else None

    def entries(self) -> tuple[StoredKey, ...]:
        """Return all keys, oldest first. Raises ConfigurationError if the file is unreadable."""
        return tuple(key for key in _read(self._path) if self._is_mine(key))

    def _is_mine(self, key: StoredKey) -> bool:
        return key.project in (self._project, "")

    def create(
        self, *, role: str, label: str = "", lifetime_s: float | None = None, read_only: bool = False
    ) -> tuple[StoredKey, str]:
        """Create a key. Return it and its text, which is shown once. Raises ConfigurationError."""
        now = self._clock()
        id_, text = _new_text(secrets.token_hex(_ID_BYTES))
        expires = None if lifetime_s is None else now + lifetime_s
        key = StoredKey(id_, role, label, digest_of(text), now, expires, project=self._project, read_only=read_only)
        with self._changing() as keys:
            keys.append(key)
        return key, text

    def rotate(self, id_: str, *, grace_s: float) -> tuple[StoredKey, str]:
        """Give a key a new text. The old text stays valid for `grace_s` seconds. Raises ConfigurationError."""
        with self._changing() as keys:
            place = self._place(keys, id_)
            old = keys[place]
            if old.revoked is not None:
                message = f"key {id_} is revoked: create a new one with `codemode keys create`"
                raise ConfigurationError(message)
            _, text = _new_text(id_)
            key = replace(old, digest=digest_of(text), old_digest=old.digest, old_until=self._clock() + grace_s)
            keys[place] = key
        return key, text

    def revoke(self, id_: str) -> StoredKey:
        """Revoke a key at once. Raises ConfigurationError."""
        with self._changing() as keys:
            place = self._place(keys, id_)
            keys[place] = replace(keys[place], revoked=keys[place].revoked or self._clock())
            return keys[place]

    def _place(self, keys: list[StoredKey], id_: str) -> int:
        found = next((place for place, key in enumerate(keys) if key.id == id_ and self._is_mine(key)), None)
        if found is None:
            message = f"there is no key {id_!r}; `codemode keys list` shows all keys"
            raise ConfigurationError(message)
        return found

    def adopt(self) -> None:
        """Take over keys of an earlier version, which have no project. Raises ConfigurationError."""
        if self._project and any(not key.project for key in _read(self._path)):
            with self._changing():
                pass

    def _refresh(self) -> None:
        """Read the file again if it has changed."""
        try:
            stat = self._path.stat()
        except OSError:
            self._seen, self._by_digest, self._by_id = None, {}, {}
            return
        state = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        if state == self._seen:
            return
        self._seen = state
        try:
            keys = self.entries()
        except ConfigurationError as error:
            keys = ()
            log.error("all of its keys are rejected: %s", error)
        self._by_digest = {digest: key for key in keys for digest in (key.old_digest, key.digest) if digest}
        self._by_id = {key.id: key for key in keys}
        self.is_used = True

    def is_in_use(self) -> bool:
        """Whether the key file exists, or existed earlier in this process."""
        self._refresh()
        return self.is_used

    @contextmanager
    def _changing(self) -> Iterator[list[StoredKey]]:
        """Yield the keys for changes under an exclusive lock, then write the whole file."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(self._path.with_suffix(".lock"), os.O_WRONLY | os.O_CREAT, 0o600), "w") as lock:
                file_lock.lock(lock.fileno())
                keys = [replace(key, project=key.project or self._project) for key in _read(self._path)]
                yield keys
                _write(self._path, keys)
        except OSError as error:
            message = f"cannot change the key file {self._path}: {error.strerror}"
            raise ConfigurationError(message) from None


def digest_of(text: str) -> str:
    """Return the SHA-256 of a key in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _new_text(id_: str) -> tuple[str, str]:
    return id_, f"{PREFIX}{id_}_{secrets.token_urlsafe(_SECRET_BYTES)}"


def _read(path: Path) -> tuple[StoredKey, ...]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != _FORMAT:
            raise ValueError
        return tuple(StoredKey(**key) for key in content["keys"])
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, TypeError, KeyError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a key file, or written by a later version"
        message = f"cannot read the key file {path}: {reason}"
        raise ConfigurationError(message) from None


def _write(path: Path, keys: list[StoredKey]) -> None:
    """Write atomically, readable by the owner only."""
    beside = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump({"format": _FORMAT, "keys": [asdict(key) for key in keys]}, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def key_file(settings: Settings) -> KeyFile:
    """Return the key file of a project."""
    return KeyFile(settings.state() / KEY_FILE, project=settings.project)
