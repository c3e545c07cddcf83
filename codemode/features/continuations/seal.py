"""Sealed continuations: AES-256-GCM (NIST SP 800-38D) over the journal of one execution.

    cc1_ base64url( header | nonce | ciphertext )
    header = id (16 bytes) | expiry (8 bytes, seconds since 1970)
    plaintext = execution id | zero byte | zlib(journal)

The header and the project are authenticated, so a continuation is worth nothing in another project or after its expiry.
"""

from __future__ import annotations

import base64
import binascii
import secrets
import struct
import time
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cryptography.exceptions import InvalidTag

from codemode.executions.journal.key import DigestKey
from codemode.features.continuations.errors import ContinuationInvalid
from codemode.shared.seal import cipher_of
from codemode.text.times import has_passed

if TYPE_CHECKING:
    from collections.abc import Sequence

_PREFIX = "cc1_"
_HEADER = struct.Struct(">16sQ")
_NONCE_BYTES = 12

#: Largest journal in a continuation, unpacked.
_UNPACKED_BYTES = 256 * 1024 * 1024


class SealingKey:
    """A key made from a secret. Raises ConfigurationError for a short secret."""

    def __init__(self, secret: str) -> None:
        self.cipher = cipher_of(secret, "continuation", "continuations")
        self.digests = DigestKey(secret.encode())


@dataclass(frozen=True, slots=True)
class Opened:
    """An authentic continuation: its own id and expiry (seconds since 1970), and the journal of an execution."""

    id: bytes
    expires: int
    execution: str
    image: bytes
    key: SealingKey


class Sealer:
    """Seals with the first key, and opens with any. `limit_bytes` is the largest text that is made or read."""

    def __init__(self, keys: Sequence[SealingKey], project: str, *, expires_s: float, limit_bytes: int) -> None:
        self._keys = tuple(keys)
        self._project = project.encode()
        self._expires_s = expires_s
        self._limit_bytes = limit_bytes

    @property
    def key(self) -> SealingKey:
        """The key of new executions."""
        return self._keys[0]

    def seal(self, execution: str, image: bytes, key: SealingKey, *, expires: int | None = None) -> str:
        """Return a new continuation. `expires` keeps the expiry of an earlier one.

        Raises ContinuationInvalid if it is too large.
        """
        until = int(time.time() + self._expires_s) if expires is None else expires
        header = _HEADER.pack(secrets.token_bytes(16), until)
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = key.cipher.encrypt(nonce, execution.encode() + b"\0" + zlib.compress(image), self._bound(header))
        text = _PREFIX + base64.urlsafe_b64encode(header + nonce + sealed).decode().rstrip("=")
        if len(text) > self._limit_bytes:
            message = (
                f"the continuation of {execution} has {len(text):,} bytes, and continuations.limit_bytes allows"
                f" {self._limit_bytes:,}: read less data before the call that needs a person, raise the limit, or use a"
                " journal"
            )
            raise ContinuationInvalid(message, execution=execution)
        return text

    def open(self, text: str) -> Opened:
        """Return what a continuation holds. Raises ContinuationInvalid."""
        if len(text) > self._limit_bytes:
            message = f"the continuation has {len(text):,} bytes; at most {self._limit_bytes:,} are accepted"
            raise ContinuationInvalid(message)
        try:
            data = base64.urlsafe_b64decode(text.removeprefix(_PREFIX) + "===")
            header, rest = data[: _HEADER.size], data[_HEADER.size :]
            id_, expires = _HEADER.unpack(header)
        except (binascii.Error, ValueError, struct.error):
            raise _not_authentic() from None
        key, plain = self._decrypted(header, rest)
        if not text.startswith(_PREFIX):
            raise _not_authentic()
        if has_passed(expires, time.time()):
            raise ContinuationInvalid("the continuation has expired; run the program again")
        execution, _, packed = plain.partition(b"\0")
        image = zlib.decompressobj().decompress(packed, _UNPACKED_BYTES)
        return Opened(id_, expires, execution.decode(), image, key)

    def _decrypted(self, header: bytes, rest: bytes) -> tuple[SealingKey, bytes]:
        for key in self._keys:
            try:
                return key, key.cipher.decrypt(rest[:_NONCE_BYTES], rest[_NONCE_BYTES:], self._bound(header))
            except (InvalidTag, ValueError):
                continue
        raise _not_authentic()

    def _bound(self, header: bytes) -> bytes:
        return b"continuation\0" + header + self._project


def _not_authentic() -> ContinuationInvalid:
    message = (
        "the continuation is not authentic: it was changed or cut, or sealed by another project or with a key that"
        " continuations.key and old_keys do not name"
    )
    return ContinuationInvalid(message)
