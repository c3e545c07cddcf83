"""The digest of a document."""

from __future__ import annotations

import hashlib


def text_digest(data: bytes) -> str:
    """Return the digest of a document (BLAKE2b, 20 bytes, in hexadecimal)."""
    return hashlib.blake2b(data, digest_size=20).hexdigest()
