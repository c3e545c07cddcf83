"""Keyed digests: they show whether two values are equal, and reveal nothing without the key."""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from codemode.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

_KEY_BYTES = 32

#: Canonical JSON: sorted keys, no spaces. Unlike RFC 8785, numbers stay in Python's form, so 1 differs from 1.0.
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


class DigestKey:
    """BLAKE2b in keyed mode (RFC 7693, section 2.9) over canonical JSON."""

    def __init__(self, key: bytes) -> None:
        self._keyed = blake2b(key=blake2b(key, digest_size=64).digest(), digest_size=32)
        self.fingerprint = self.digest("fingerprint of the key of a journal")
        self.for_seals = bytes.fromhex(self.digest("key of the seals of a journal"))

    @classmethod
    def of_file(cls, file: Path) -> DigestKey:
        """Return the key in a file. If there is no file, create a new key with mode 0600.

        Raises ConfigurationError if the file cannot be read or created, or holds no valid key.
        """
        try:
            if not file.exists():
                _make(file)
            key = file.read_bytes()
        except OSError as error:
            message = f"the journal's key {file} cannot be read or created: {error.strerror}; check `state_folder`"
            raise ConfigurationError(message) from None
        if len(key) != _KEY_BYTES:
            message = f"the journal's key {file} has {len(key)} bytes, not {_KEY_BYTES}: restore the original file"
            raise ConfigurationError(message)
        return cls(key)

    def digest(self, value: Any) -> str:
        """Return the digest of JSON data, 64 hexadecimal digits."""
        keyed = self._keyed.copy()
        keyed.update(_canonical(value).encode())
        return keyed.hexdigest()


def wrong_key(store: str) -> ConfigurationError:
    """Return the error for a store that was created with another key."""
    return ConfigurationError(
        f"the journal {store} was created with another key: all servers that share it need the same `journal.key`;"
        " keep the file `journal.key` together with the journal"
    )


def edited_key(store: str) -> ConfigurationError:
    """Return the error for a store whose key record was changed by hand."""
    return ConfigurationError(
        f"the journal {store} was edited by hand: its key record does not verify; restore a backup"
    )


def _make(file: Path) -> None:
    """Write a new key atomically. Among concurrent processes the first one wins."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
        opened.write(secrets.token_bytes(_KEY_BYTES))
        opened.flush()
        os.fsync(opened.fileno())
    try:
        with suppress(FileExistsError):
            os.link(draft, file)
    finally:
        draft.unlink()
