"""Keys of the server that `codemode keys` makes: a file in the state folder, read again whenever it has changed.

A key is 256 random bits, so that its SHA-256 is all that is kept: nobody can try that many, and a slow hash, which is
for passwords that people choose, would only cost every request (NIST SP 800-63B, 5.1.1.2, asks for one below 112 bits).
Keys that are revoked or have expired stay in the list: where there was a key once, nobody comes in without one again.
"""

from __future__ import annotations

import fcntl
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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

log = logging.getLogger(__name__)

#: What every key begins with, so that one that leaked is found by scanners.
PREFIX = "cm_"

_SECRET_BYTES = 32
_ID_BYTES = 4
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class StoredKey:
    """One key. Times are seconds since 1970; `digest` is the SHA-256 of the key.

    After a rotation `old_digest` is good until `old_until`. It opens servers of its `project` alone.
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

    def status(self, now: float) -> str:
        """`active`, `expired` or `revoked`."""
        if self.revoked is not None:
            return "revoked"
        return "expired" if self.expires is not None and now >= self.expires else "active"

    def opens(self, digest: str, now: float) -> bool:
        """Whether a key with that digest is this one, and good."""
        is_known = digest == self.digest or (digest == self.old_digest and now < self.old_until)
        return is_known and self.status(now) == "active"


class KeyFile:
    """The keys of a project in a state folder. Reading never raises: a file that cannot be read opens nothing.

    The file may hold keys of other projects, which are not seen here. Those of an earlier version have no project:
    they become the project's that uses the file first.
    """

    def __init__(self, path: Path, *, project: str = "", clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._project = project
        self._clock = clock
        self._seen: tuple[int, int, int] | None = None
        self._by_digest: dict[str, StoredKey] = {}
        self._by_id: dict[str, StoredKey] = {}
        #: Whether there was ever a key: then nobody comes in without one.
        self.is_used = False

    def find(self, presented: str) -> StoredKey | None:
        """The key that was presented, if it is good now."""
        self._refresh()
        digest = digest_of(presented)  # how long it takes to look that up tells nothing of the key
        key = self._by_digest.get(digest)
        return key if key is not None and key.opens(digest, self._clock()) else None

    def role_of(self, id_: str) -> str | None:
        """The role of a key that is good now."""
        self._refresh()
        key = self._by_id.get(id_)
        return key.role if key is not None and key.status(self._clock()) == "active" else None

    def entries(self) -> tuple[StoredKey, ...]:
        """All keys, oldest first. Raises ConfigurationError where the file cannot be read."""
        return tuple(key for key in _read(self._path) if self._is_mine(key))

    def _is_mine(self, key: StoredKey) -> bool:
        return key.project in (self._project, "")

    def create(self, *, role: str, label: str = "", lifetime_s: float | None = None) -> tuple[StoredKey, str]:
        """Make a key; returns it and the text to be shown once. Raises ConfigurationError."""
        now = self._clock()
        id_, text = _new_text(secrets.token_hex(_ID_BYTES))
        expires = None if lifetime_s is None else now + lifetime_s
        key = StoredKey(id_, role, label, digest_of(text), now, expires, project=self._project)
        with self._changing() as keys:
            keys.append(key)
        return key, text

    def rotate(self, id_: str, *, grace_s: float) -> tuple[StoredKey, str]:
        """Give a key a new text; the one before is good for `grace_s` seconds more. Raises ConfigurationError."""
        with self._changing() as keys:
            place = self._place(keys, id_)
            old = keys[place]
            if old.revoked is not None:
                message = f"the key {id_} is revoked: create another"
                raise ConfigurationError(message)
            _, text = _new_text(id_)
            key = replace(old, digest=digest_of(text), old_digest=old.digest, old_until=self._clock() + grace_s)
            keys[place] = key
        return key, text

    def revoke(self, id_: str) -> StoredKey:
        """Make a key useless from now on. Raises ConfigurationError."""
        with self._changing() as keys:
            place = self._place(keys, id_)
            keys[place] = replace(keys[place], revoked=keys[place].revoked or self._clock())
            return keys[place]

    def _place(self, keys: list[StoredKey], id_: str) -> int:
        found = next((place for place, key in enumerate(keys) if key.id == id_ and self._is_mine(key)), None)
        if found is None:
            message = f"there is no key {id_!r}; `codemode keys list` shows those that there are"
            raise ConfigurationError(message)
        return found

    def adopt(self) -> None:
        """Make the keys that an earlier version left without a project those of this one. Raises ConfigurationError."""
        if self._project and any(not key.project for key in _read(self._path)):
            with self._changing():
                pass

    def _refresh(self) -> None:
        """Read the file again if it is another one than before."""
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
            log.error("no key of it opens anything: %s", error)
        self._by_digest = {digest: key for key in keys for digest in (key.old_digest, key.digest) if digest}
        self._by_id = {key.id: key for key in keys}
        self.is_used = True

    def is_in_use(self) -> bool:
        """Whether there is, or was while this process ran, a file of keys."""
        self._refresh()
        return self.is_used

    @contextmanager
    def _changing(self) -> Iterator[list[StoredKey]]:
        """The keys to be changed; written as a whole afterwards, while nobody else changes them."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(self._path.with_suffix(".lock"), os.O_WRONLY | os.O_CREAT, 0o600), "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                keys = [replace(key, project=key.project or self._project) for key in _read(self._path)]
                yield keys
                _write(self._path, keys)
        except OSError as error:
            message = f"the keys {self._path} cannot be changed: {error.strerror}"
            raise ConfigurationError(message) from None


def digest_of(text: str) -> str:
    """The SHA-256 of a key, in hexadecimal digits."""
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
        reason = error.strerror if isinstance(error, OSError) else "it is not a file of keys, or of a later version"
        message = f"the keys {path} cannot be read: {reason}"
        raise ConfigurationError(message) from None


def _write(path: Path, keys: list[StoredKey]) -> None:
    """In one step, for its owner alone: a reader sees the old file or the new one."""
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
