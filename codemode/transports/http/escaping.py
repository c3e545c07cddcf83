"""Escaping of a program's values for their place in a request.

A path segment must stay one segment, without traversal under any decoding; a header or cookie must stay one. See RFC
3986 section 3.3, RFC 9110 section 5.5, RFC 6265 section 4.1.1, and CWE-22, CWE-93, CWE-113.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from codemode.text.normal_form import normalized

#: Longest values. Longer ones are not identifiers, and servers reject request lines from 8 KB on (nginx, Apache).
LONGEST_SEGMENT = 2_000
LONGEST_HEADER = 8_000

#: Decodings that are checked: proxies decode once, careless servers twice.
_DECODINGS = 3

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_HEADER = re.compile(r"[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?")
_COOKIE = re.compile(r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*")
_RESERVED = ":/?#[]@!$&'()*+,;="

#: Characters that no escaping changes and no decoding reads otherwise. Most values have no others.
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")


class Unsafe(ValueError):
    """A value that cannot be sent in its place. The message says why."""


def path_text(value: str, *, slashes: bool = False) -> str:
    """Return a value percent-encoded as one path segment, or a part of one. Raises Unsafe.

    With `slashes`, the value may be a path in a tree (`src/main.py`), whose parts are checked individually.
    """
    if not value:
        raise Unsafe("must not be empty")
    if len(value) > LONGEST_SEGMENT:
        message = f"is longer than {LONGEST_SEGMENT} characters"
        raise Unsafe(message)
    if _PLAIN.fullmatch(value):
        return value
    for text in _decodings(value):
        _check_segment(text, slashes=slashes)
    try:
        return quote(value, safe="")
    except UnicodeEncodeError:
        raise Unsafe("must be valid UTF-8 text") from None


def query_text(value: str, *, reserved: bool = False) -> str:
    """Return a value percent-encoded for a query. `reserved` keeps RFC 3986's reserved characters, but `&#+`."""
    if _PLAIN.fullmatch(value):
        return value
    kept = "".join(character for character in _RESERVED if character not in "&#+") if reserved else ""
    return quote(value, safe=kept, errors="replace")


def separator_text(separator: str) -> str:
    """Return the separator of a list in a query or form. A comma stays unescaped, unlike commas in values."""
    return quote(separator, safe=",") if separator else ""


def header_text(value: str) -> str:
    """Return a value as a header. Raises Unsafe for anything but printable ASCII on one line."""
    if len(value) > LONGEST_HEADER:
        message = f"is longer than {LONGEST_HEADER} characters"
        raise Unsafe(message)
    if not _HEADER.fullmatch(value):
        raise Unsafe("must be printable ASCII on one line, without spaces around it")
    return value


def cookie_text(value: str) -> str:
    """Return a value as a cookie. Raises Unsafe for characters that would end it."""
    if not _COOKIE.fullmatch(value):
        raise Unsafe('must be printable ASCII without spaces, ";", ",", quotes and backslashes')
    return value


def plain_name(name: str) -> str:
    """Return a name as a lenient service may read it: " CC", "c-c", "%63c" and "cc[0]" as "cc"."""
    text = normalized("NFKC", unquote(name)).casefold()
    first = text[:1] + text[1:].partition("[")[0]
    return "".join(character for character in first if character.isalnum()) or name


def _decodings(value: str) -> set[str]:
    texts = {value}
    text = value
    for _ in range(_DECODINGS):
        text = unquote(text)
        texts.add(text)
    return texts | {normalized("NFKC", text) for text in texts if not text.isascii()}


def _check_segment(text: str, *, slashes: bool) -> None:
    if _CONTROL.search(text):
        raise Unsafe("must not contain control characters")
    if "\\" in text:
        raise Unsafe("must not contain a backslash")
    if "/" in text and not slashes:
        raise Unsafe("must be one path segment, without a slash")
    for part in text.split("/"):
        name = part.partition(";")[0].strip()
        if not part or name in (".", ".."):
            raise Unsafe('must not contain an empty, "." or ".." path segment')
