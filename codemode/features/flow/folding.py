"""Forms of a text in which it is still the same text: other case, spaces and signs, and the usual codes.

A form has letters and digits only, in UTF-8. `forms` undoes percent signs (RFC 3986), entities (HTML), quoted-printable
(RFC 2045), escapes of JSON, base64 and hexadecimal digits, also one within the other.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from typing import TYPE_CHECKING
from unicodedata import normalize
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Codes within codes that are undone.
_DEPTH = 3

_SIGNS = re.compile(r"[\W_]+")
_ASCII_SIGNS = bytes(one for one in range(128) if not chr(one).isalnum())
_LOWER = bytes(one + 32 if 65 <= one <= 90 else one for one in range(256))
_ESCAPES = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|=([0-9A-F]{2})")
_SOFT_BREAK = re.compile(r"=\r?\n")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}")
_BROKEN_LINE = re.compile(r"(?<=[A-Za-z0-9+/]{60})\r?\n(?=[A-Za-z0-9+/])")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:(?:\\x|0x)?[0-9a-fA-F]{2}[\s:,-]?){8,}")
_NUMBER = re.compile(r"[0-9]{2,3}")
_CODES = re.compile(r"(?<![0-9])(?:[0-9]{2,3}[\s,;]{1,2}){7,}[0-9]{2,3}(?![0-9])")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_TURNED = _LETTERS[13:] + _LETTERS[:13]
_ROTATED = str.maketrans(_LETTERS + _LETTERS.upper(), _TURNED + _TURNED.upper())
_NO_HEX = re.compile(r"\\x|0x|[\s:,-]")


def forms(text: str) -> Iterator[bytes]:
    """Yield the forms of a text, its own first. Time and size are linear in the text."""
    texts, seen = [text], {text}
    yield folded(text)
    for _ in range(_DEPTH):
        texts = [decoded for one in texts for decoded in _decoded(one) if decoded not in seen]
        seen.update(texts)
        for decoded in texts:
            yield folded(decoded)


def mirrored(text: str) -> Iterator[str]:
    """Yield a text read backwards, and with its letters rotated by 13. Both are undone where a text is looked up."""
    yield text[::-1]
    if text.isascii():
        yield text.translate(_ROTATED)


def plain(text: str) -> Iterator[str]:
    """Yield a text, and what it codes."""
    yield text
    yield from _decoded(text)


def folded(text: str) -> bytes:
    """Return the letters and digits of a text in one case and form (Unicode NFKC), in UTF-8."""
    if text.isascii():
        return text.encode().translate(_LOWER, _ASCII_SIGNS)
    return _SIGNS.sub("", normalize("NFKC", text).casefold()).encode("utf-8", "replace")


def _decoded(text: str) -> Iterator[str]:
    if "%" in text:
        yield unquote(text, errors="replace")
    if "&" in text:
        yield html.unescape(text)
    if "\\" in text or "=" in text:
        yield _ESCAPES.sub(_character, _SOFT_BREAK.sub("", text))
    codes = _CODES.findall(text)
    if codes:
        yield " ".join("".join(chr(int(code)) for code in _NUMBER.findall(run)) for run in codes)
    joined = _BROKEN_LINE.sub("", text) if "\n" in text else text
    parts = [part for run in _BASE64.findall(joined) for part in _of_base64(run)]
    parts += [part for run in _HEX.findall(text) for part in _of_hex(run)]
    if parts:
        yield " ".join(parts)


def _character(escape: re.Match[str]) -> str:
    return chr(int(escape[1] or escape[2] or escape[3], 16))


def _of_base64(run: str) -> Iterator[str]:
    digits = run.rstrip("=").translate(_URL_SAFE)
    try:
        decoded = base64.b64decode(digits[: len(digits) - (len(digits) % 4 == 1)] + "=" * (-len(digits) % 4))
    except binascii.Error:
        return
    yield from _text_of(decoded)


def _of_hex(run: str) -> Iterator[str]:
    yield from _text_of(bytes.fromhex(_NO_HEX.sub("", run)))


def _text_of(decoded: bytes) -> Iterator[str]:
    """Yield what was coded, if it is text: of random bytes a third are no signs of a text."""
    text = decoded.decode("utf-8", "replace")
    if text and (sum(map(str.isprintable, text)) - text.count("\ufffd")) * 10 >= len(text) * 8:
        yield text


_URL_SAFE = str.maketrans("-_", "+/")
