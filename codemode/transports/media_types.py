"""Media types: which are text, and those of files by their first bytes (WHATWG MIME Sniffing, section 6)."""

from __future__ import annotations

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"OggS\x00", "application/ogg"),
    (b"ID3", "audio/mpeg"),
)

#: Kinds of RIFF containers, by the bytes 8 to 12.
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wave", b"AVI ": "video/avi"}


def media_type_of_bytes(data: bytes) -> str:
    """Return the media type of a file, "" if it is unknown."""
    if data[:4] == b"RIFF":
        return _RIFF.get(data[8:12], "")
    return next((media_type for signature, media_type in _SIGNATURES if data.startswith(signature)), "")


def is_text(media_type: str) -> bool:
    """Return whether content of a media type (lower case, without parameters) is text for people or programs."""
    return media_type.startswith("text/") or media_type.endswith(_TEXT)


_TEXT = ("xml", "yaml", "javascript", "graphql", "sdp", "/csv")
