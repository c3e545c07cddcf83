"""Logins sealed at rest: AES-256-GCM (NIST SP 800-38D) under a secret of the operator.

    cms1 | nonce (12 random bytes) | ciphertext and tag

The name of a value is authenticated with it: a sealed login that is copied to the place of another does not open.
"""

from __future__ import annotations

import logging
import secrets
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from codemode.errors import ConfigurationError
from codemode.shared.values import Latest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from codemode.shared.values import Kind, LockableValue, ValueStore

log = logging.getLogger(__name__)

_MAGIC = b"cms1"
_NONCE_BYTES = 12
_LEAST_CHARACTERS = 32

#: What is sealed.
_KINDS: tuple[Kind, ...] = ("tokens",)


def cipher_of(secret: str, purpose: str, setting: str) -> AESGCM:
    """Return the cipher of a secret for one purpose. Raises ConfigurationError, naming `setting`, if it is short."""
    if len(secret) < _LEAST_CHARACTERS:
        message = (
            f"{setting}: a key has {len(secret)} characters; use at least {_LEAST_CHARACTERS}, for example from"
            " `openssl rand -base64 32`"
        )
        raise ConfigurationError(message)
    return AESGCM(blake2b(secret.encode(), digest_size=32, person=purpose.encode()).digest())


class SealedStore:
    """A store whose logins are sealed with the first key, and opened with any.

    `keys` returns the secrets, when the first login is read or written. A login that was stored before there was a key
    is read, and sealed when it is renewed.
    """

    def __init__(self, store: ValueStore, keys: Callable[[], Sequence[str]]) -> None:
        self._store = store
        self._keys = keys

    @property
    def repeats_s(self) -> float:
        """See `ValueStore`."""
        return self._store.repeats_s

    @repeats_s.setter
    def repeats_s(self, seconds: float) -> None:
        self._store.repeats_s = seconds

    def value(self, kind: Kind, name: str = "") -> LockableValue:
        """See `ValueStore.value`."""
        value = self._store.value(kind, name)
        return SealedValue(value, name, self) if kind in _KINDS else value

    def on_change(self, kind: Kind, function: Callable[[str], None]) -> None:
        """See `ValueStore.on_change`."""
        self._store.on_change(kind, function)

    def open(self) -> None:
        """See `ValueStore.open`."""
        self._store.open()

    def close(self) -> None:
        """See `ValueStore.close`."""
        self._store.close()

    @cached_property
    def ciphers(self) -> tuple[AESGCM, ...]:
        """The ciphers of all keys. Raises ConfigurationError."""
        return tuple(cipher_of(key, "logins", "logins.key") for key in self._keys())


class SealedValue:
    """A sealed value. One that does not open is as if it were not there."""

    def __init__(self, value: LockableValue, name: str, store: SealedStore) -> None:
        self._value = value
        self._name = name
        self._store = store

    @property
    def title(self) -> str:
        """See `SharedValue.title`."""
        return self._value.title

    def read(self) -> bytes | None:
        """See `SharedValue.read`. Raises ConfigurationError."""
        return self._opened(self._value.read())

    def latest(self) -> Latest:
        """See `SharedValue.latest`. Raises ConfigurationError."""
        latest = self._value.latest()
        return Latest(self._opened(latest.data), latest.version)

    def change(self, function: Callable[[bytes | None], bytes | None]) -> None:
        """See `SharedValue.change`. Raises ConfigurationError."""

        def sealed(data: bytes | None) -> bytes | None:
            changed = function(self._opened(data))
            return None if changed is None else self._sealed(changed)

        self._value.change(sealed)

    def remove(self) -> bool:
        """See `LockableValue.remove`."""
        return self._value.remove()

    def try_lock(self) -> Callable[[], None] | None:
        """See `LockableValue.try_lock`."""
        return self._value.try_lock()

    def _sealed(self, data: bytes) -> bytes:
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return _MAGIC + nonce + self._store.ciphers[0].encrypt(nonce, data, self._name.encode())

    def _opened(self, data: bytes | None) -> bytes | None:
        if data is None or not data.startswith(_MAGIC):
            return data
        nonce, sealed = data[len(_MAGIC) :][:_NONCE_BYTES], data[len(_MAGIC) + _NONCE_BYTES :]
        for cipher in self._store.ciphers:
            try:
                return cipher.decrypt(nonce, sealed, self._name.encode())
            except InvalidTag:
                continue
        log.error("%s is sealed with a key that logins.key and old_keys do not name, or was changed", self.title)
        return None
