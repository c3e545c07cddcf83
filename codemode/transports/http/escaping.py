"""Text from a program, made safe for the place in a request where it goes; or refused.

A path segment must stay one segment and no traversal in any decoding; a header or a cookie must stay one; see RFC 3986
section 3.3, RFC 9110 section 5.5, RFC 6265 section 4.1.1, and CWE-22, CWE-93, CWE-113.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from codemode.text.normal_form import normalized

#: Longer values are no identifiers; servers refuse request lines from 8 KB on (nginx, Apache).
LONGEST_SEGMENT = 2_000
LONGEST_HEADER = 8_000

#: A value is decoded this often before it is looked at: proxies decode once, sloppy servers twice.
_DECODINGS = 3

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_HEADER = re.compile(r"[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?")
_COOKIE = re.compile(r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*")
_RESERVED = ":/?#[]@!$&'()*+,;="


class Unsafe(ValueError):
    """A value that cannot go where it should; the message says why."""


def path_text(value: str, *, slashes: bool = False) -> str:
    """A value percent-encoded as (a part of) one path segment. Raises Unsafe.

    With `slashes` the value may name a place in a tree (`src/main.py`): its parts are checked one by one.
    """
    if not value:
        raise Unsafe("must not be empty")
    if len(value) > LONGEST_SEGMENT:
        message = f"is longer than {LONGEST_SEGMENT} characters"
        raise Unsafe(message)
    for text in _decodings(value):
        _check_segment(text, slashes=slashes)
    try:
        return quote(value, safe="")
    except UnicodeEncodeError:
        raise Unsafe("must be text that UTF-8 can hold") from None


def query_text(value: str, *, reserved: bool = False) -> str:
    """A value percent-encoded for a query; with `reserved` the characters of RFC 3986 2.2 stay, but `&`, `#`, `+`."""
    kept = "".join(character for character in _RESERVED if character not in "&#+") if reserved else ""
    return quote(value, safe=kept, errors="replace")


def separator_text(separator: str) -> str:
    """What stands between the values of a list in a query or a form; a comma as it is, and none in a value is so."""
    return quote(separator, safe=",")


def header_text(value: str) -> str:
    """A value as a header. Raises Unsafe for anything but printable ASCII on one line."""
    if len(value) > LONGEST_HEADER:
        message = f"is longer than {LONGEST_HEADER} characters"
        raise Unsafe(message)
    if not _HEADER.fullmatch(value):
        raise Unsafe("must be printable ASCII on one line, without spaces around it")
    return value


def cookie_text(value: str) -> str:
    """A value as a cookie. Raises Unsafe for what would end it."""
    if not _COOKIE.fullmatch(value):
        raise Unsafe('must be printable ASCII without spaces, ";", ",", quotes and backslashes')
    return value


def plain_name(name: str) -> str:
    """A name as a service that is not strict may read it: " CC", "c-c", "%63c" and "cc[0]" as "cc"."""
    text = normalized("NFKC", unquote(name)).casefold()
    first = text[:1] + text[1:].partition("[")[0]
    return "".join(character for character in first if character.isalnum()) or name


def _decodings(value: str) -> set[str]:
    found = {value}
    text = value
    for _ in range(_DECODINGS):
        text = unquote(text)
        found.add(text)
    return found | {normalized("NFKC", text) for text in found if not text.isascii()}


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
