"""Encryption of secrets in the journal: AES-256-GCM (NIST SP 800-38D) under a key derived from the journal's.

nonce (12 random bytes) | ciphertext and tag
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

if TYPE_CHECKING:
    from codemode.executions.journal.key import DigestKey

_NONCE_BYTES = 12


def encrypted(key: DigestKey, data: bytes) -> bytes:
    """Return data that is readable with the key only."""
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return nonce + _cipher(key).encrypt(nonce, data, None)


def decrypted(key: DigestKey, value: bytes) -> bytes:
    """Return the data of `encrypted`. Raises ValueError if it was made with another key, or changed."""
    try:
        return _cipher(key).decrypt(value[:_NONCE_BYTES], value[_NONCE_BYTES:], None)
    except InvalidTag:
        raise ValueError("it was encrypted with another key, or changed") from None


def _cipher(key: DigestKey) -> AESGCM:
    return AESGCM(bytes.fromhex(key.digest("key of the encryption of secrets in a journal")))
