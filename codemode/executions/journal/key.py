"""Keyed digests: whether two values are the same, without the values, for nobody who has not the key."""

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

#: As JSON is compared: keys in order, no spaces. Not RFC 8785: numbers stay as Python writes them, so 1 is not 1.0.
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


class DigestKey:
    """BLAKE2b in keyed mode (RFC 7693, section 2.9) over canonical JSON."""

    def __init__(self, key: bytes) -> None:
        self._keyed = blake2b(key=blake2b(key, digest_size=64).digest(), digest_size=32)
        self.fingerprint = self.digest("fingerprint of the key of a journal")
        self.for_seals = bytes.fromhex(self.digest("key of the seals of a journal"))

    @classmethod
    def of_file(cls, file: Path) -> DigestKey:
        """The key that a file holds; a new one (mode 0600) where there is no file yet.

        Raises ConfigurationError where it cannot be read or made, or is no key.
        """
        try:
            if not file.exists():
                _make(file)
            key = file.read_bytes()
        except OSError as error:
            message = f"the journal's key {file} cannot be read or made: {error.strerror}; see state_folder"
            raise ConfigurationError(message) from None
        if len(key) != _KEY_BYTES:
            message = f"the journal's key {file} has {len(key)} bytes, not {_KEY_BYTES}: put back the file as it was"
            raise ConfigurationError(message)
        return cls(key)

    def digest(self, value: Any) -> str:
        """Digest of JSON data, 64 hexadecimal digits."""
        keyed = self._keyed.copy()
        keyed.update(_canonical(value).encode())
        return keyed.hexdigest()


def wrong_key(store: str) -> ConfigurationError:
    """The error of a store that was made with another key."""
    return ConfigurationError(
        f"the journal {store} was made with another key: give all servers that share it the same `journal.key`, and"
        " keep the file `journal.key` in the state folder together with the journal"
    )


def edited_key(store: str) -> ConfigurationError:
    """The error of a store whose note of how far it has no seals is not as it was written."""
    return ConfigurationError(
        f"the journal {store} was edited by hand: what it says of its key does not verify; put back a copy of it"
    )


def _make(file: Path) -> None:
    """Write a new key whole or not at all; of several processes at once the first one's stays."""
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
