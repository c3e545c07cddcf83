"""Keys made with `codemode keys`, stored in the state folder or the shared journal, and reread after every change.

Only the SHA-256 of a key is stored. A key is 256 random bits, which nobody can guess. A slow hash, as for passwords,
would only delay every request (NIST SP 800-63B, 5.1.1.2, requires one below 112 bits). Revoked and expired keys are
kept: a server that once had a key never again accepts callers without one.
"""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError, JournalDamaged
from codemode.shared.files import key_file
from codemode.text.times import has_passed

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable
    from pathlib import Path

    from codemode.settings import Settings
    from codemode.shared.values import SharedValue, ValueStore

log = logging.getLogger(__name__)

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
        return "expired" if self.expires is not None and has_passed(self.expires, now) else "active"

    def opens(self, digest: str, now: float) -> bool:
        """Whether the digest is that of this key, and the key is valid."""
        is_known = digest == self.digest or (digest == self.old_digest and not has_passed(self.old_until, now))
        return is_known and self.status(now) == "active"


class Keys:
    """The keys of a project. An unreadable file or row contains no valid key.

    Lookups raise JournalUnavailable if the keys are in a database that has not answered for too long. The file may hold
    keys of other projects, which are ignored. Keys written by an earlier version have no project; the first project
    that uses the file takes them over.
    """

    def __init__(self, value: SharedValue, *, project: str = "", clock: Callable[[], float] = time.time) -> None:
        self._value = value
        self._project = project
        self._clock = clock
        self._seen: Hashable = None
        self._reported = ""  # the last error that was logged
        self._by_digest: dict[str, StoredKey] = {}
        self._by_id: dict[str, StoredKey] = {}
        #: Whether there ever was a key. Callers without a key are rejected from then on.
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

    def label_of(self, id_: str) -> str:
        """Return the label of a key, "" if it has none."""
        self._refresh()
        key = self._by_id.get(id_)
        return key.label if key is not None else ""

    def entries(self) -> tuple[StoredKey, ...]:
        """Return all keys, oldest first. Raises ConfigurationError if they are unreadable, JournalUnavailable."""
        return self._mine(self._stored())

    def _mine(self, keys: Iterable[StoredKey]) -> tuple[StoredKey, ...]:
        return tuple(key for key in keys if self._is_mine(key))

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
        self._change(lambda keys: keys.append(key))
        return key, text

    def rotate(self, id_: str, *, grace_s: float) -> tuple[StoredKey, str]:
        """Give a key a new text. The old text stays valid for `grace_s` seconds. Raises ConfigurationError."""
        _, text = _new_text(id_)

        def rotated(old: StoredKey) -> StoredKey:
            if old.revoked is not None:
                message = f"key {id_} is revoked: create a new one with `codemode keys create`"
                raise ConfigurationError(message)
            return replace(old, digest=digest_of(text), old_digest=old.digest, old_until=self._clock() + grace_s)

        return self._replace(id_, rotated), text

    def revoke(self, id_: str) -> StoredKey:
        """Revoke a key at once. Raises ConfigurationError."""
        return self._replace(id_, lambda key: replace(key, revoked=key.revoked or self._clock()))

    def _replace(self, id_: str, function: Callable[[StoredKey], StoredKey]) -> StoredKey:
        """Replace one key by what `function` returns for it. Return the new one."""
        replaced: list[StoredKey] = []

        def change(keys: list[StoredKey]) -> None:
            place = self._place(keys, id_)
            keys[place] = function(keys[place])
            replaced.append(keys[place])

        self._change(change)
        return replaced[-1]

    def _place(self, keys: list[StoredKey], id_: str) -> int:
        found = next((place for place, key in enumerate(keys) if key.id == id_ and self._is_mine(key)), None)
        if found is None:
            message = f"there is no key {id_!r}; `codemode keys list` shows all keys"
            raise ConfigurationError(message)
        return found

    def adopt(self) -> None:
        """Take over keys of an earlier version, which have no project. Raises ConfigurationError."""
        if self._project and any(not key.project for key in self._stored()):
            self._change(lambda _: None)

    def _refresh(self) -> None:
        """Parse the keys again if they have changed."""
        try:
            latest = self._value.latest()
        except (OSError, JournalDamaged) as error:
            self._seen = object()  # not a version: they are parsed once they are readable again
            self._reject_all(_unreadable(self._value, error))
            return
        if latest.version == self._seen:
            return
        self._seen = latest.version
        self.is_used = self.is_used or latest.data is not None
        try:
            self._use(self._mine(_parsed(latest.data, self._value)))
        except ConfigurationError as error:
            self._reject_all(error)
        else:
            self._reported = ""

    def _reject_all(self, error: ConfigurationError) -> None:
        self._use(())
        self.is_used = True
        if self._reported != str(error):
            log.error("all of its keys are rejected: %s", error)
        self._reported = str(error)

    def _use(self, keys: tuple[StoredKey, ...]) -> None:
        self._by_digest = {digest: key for key in keys for digest in (key.old_digest, key.digest) if digest}
        self._by_id = {key.id: key for key in keys}

    def is_in_use(self) -> bool:
        """Whether there are keys, or were earlier in this process. Raises JournalUnavailable."""
        self._refresh()
        return self.is_used

    def _stored(self) -> tuple[StoredKey, ...]:
        try:
            return _parsed(self._value.read(), self._value)
        except (OSError, JournalDamaged) as error:
            raise _unreadable(self._value, error) from None

    def _change(self, function: Callable[[list[StoredKey]], None]) -> None:
        """Let `function` change the list of keys. Raises ConfigurationError, JournalUnavailable."""

        def change(data: bytes | None) -> bytes:
            keys = [replace(key, project=key.project or self._project) for key in _parsed(data, self._value)]
            function(keys)
            return json.dumps({"format": _FORMAT, "keys": [asdict(key) for key in keys]}, indent=1).encode()

        try:
            self._value.change(change)
        except OSError as error:
            message = f"cannot change {self._value.title}: {error.strerror}"
            raise ConfigurationError(message) from None
        except JournalDamaged as error:
            raise _unreadable(self._value, error) from None


class KeyFile(Keys):
    """The keys in one file."""

    def __init__(self, path: Path, *, project: str = "", clock: Callable[[], float] = time.time) -> None:
        super().__init__(key_file(path), project=project, clock=clock)


def digest_of(text: str) -> str:
    """Return the SHA-256 of a key in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _new_text(id_: str) -> tuple[str, str]:
    return id_, f"{PREFIX}{id_}_{secrets.token_urlsafe(_SECRET_BYTES)}"


def _parsed(data: bytes | None, value: SharedValue) -> tuple[StoredKey, ...]:
    """Return the keys of a value. Raises ConfigurationError."""
    if data is None:
        return ()
    try:
        content = json.loads(data)
        if content["format"] != _FORMAT:
            raise ValueError
        return tuple(StoredKey(**key) for key in content["keys"])
    except (ValueError, TypeError, KeyError) as error:
        raise _unreadable(value, error) from None


def _unreadable(value: SharedValue, error: Exception) -> ConfigurationError:
    match error:
        case OSError():
            reason = error.strerror
        case JournalDamaged():
            reason = "it was changed by hand"
        case _:
            reason = "not a key file, or written by a later version"
    return ConfigurationError(f"cannot read {value.title}: {reason}")


def keys_of(settings: Settings, store: ValueStore) -> Keys:
    """Return the keys of a project."""
    return Keys(store.value("keys"), project=settings.project)
