"""Decoding of HTTP answers: to JSON data, or to errors that say what to do."""

from __future__ import annotations

import json
import re
from email.message import Message
from http import HTTPStatus
from math import isinf
from typing import TYPE_CHECKING, Any, AnyStr

import orjson

from codemode.errors import AnswerInvalid, UpstreamError
from codemode.shared.collection import without_collection
from codemode.text.prose import shorten
from codemode.transports.content import Content
from codemode.transports.http.headers import retry_after
from codemode.transports.http.reasons import reason_of, text_of
from codemode.transports.http.slices import parsed_in_slices
from codemode.transports.media_types import is_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.transports.content import OwnedContents

#: Largest number of ndjson lines or stream events in one answer.
MOST_LINES = 10_000

#: Media types with one JSON value per line, or after a record separator (RFC 7464).
LINES = frozenset(
    f"application/{name}"
    for name in (
        "x-ndjson", "ndjson", "jsonl", "x-jsonl", "jsonlines", "x-jsonlines", "json-seq", "stream+json",
        "x-json-stream",
    )
)  # fmt: skip

#: Media types of answers that may stay open.
STREAMS = LINES | {"text/event-stream"}

#: Characters of an unusable answer that are shown, and bytes that are read for them.
EXCERPT, _READ = 300, 200_000

#: Deepest nesting of lists and objects. Programs accept no more, and traversal needs stack.
DEEPEST = 200

#: Largest number of lists and objects in one answer if they are short (`_SHORT` bytes on average). Each takes 60 to 240
#: bytes of memory: 16 MiB of `[[],[],…` took 400 MB.
MOST_PARTS, _SHORT = 1_000_000, 16

#: Digits of the integers in one answer that have more than `_LONG` digits.
MOST_LONG_DIGITS, _LONG = 100_000, 100

_CONTAINERS = frozenset((list, dict))

_LONGEST_DISPOSITION = 2_000
_STATUSES = frozenset(HTTPStatus)
_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)
#: Charsets of the web (WHATWG Encoding). Python knows others: punycode takes hours for a megabyte, and Python caches
#: every name that it looks up.
_KNOWN_CHARSET = re.compile(
    r"utf-?(8|16|32)([-_]?[lb]e)?|(us-)?ascii|(latin|l)-?\d|(iso[-_]?)?8859[-_]?\d{1,2}|(windows|cp|ibm)-?\d{3,4}"
    r"|koi8-[ru]|tis-620|x-mac-cyrillic|macintosh|shift[-_]jis|sjis|ms932|ms_kanji|euc-(jp|kr)|iso-2022-(jp|kr)"
    r"|ks_c_5601-1987|gb_?2312(-80)?|gbk|gb18030|big5(-hkscs)?"
)
_UNICODE = frozenset(("utf-8", "utf8", "utf-16", "utf-32", "us-ascii"))  # the JSON parser detects these
#: Charsets of one byte for each character.
_ONE_BYTE = re.compile(r"(latin|l)-?\d|(iso[-_]?)?8859|(windows|cp)-?125|koi8|macintosh")
#: What services write before JSON so that no script tag can run it (Gerrit, Google, Facebook).
_GUARD, _BEFORE_GUARD = re.compile(rb"\s*(\)\]\}'?,?|while ?\(1\);|for ?\(;;\);)\s*"), (b")", b"w", b"f", b"\n", b"\r")
_BETWEEN_LINES = re.compile(rb"[\n\r\x1e]")
_LINE_END = re.compile("\r\n|\n|\r")
#: Size from which garbage collections during parsing take noticeable time, in bytes.
_LARGE = 1 << 16
#: Integers beyond 64 bits are found by translating digits: a regular expression took a second.
_DIGITS = bytes(ord("0") if chr(code) in "0123456789" else code if chr(code) == "-" else 32 for code in range(256))
_BEYOND_64_BITS = (b"0" * 20, b"-" + b"0" * 19)
_MINUS_ZERO = re.compile(rb"-0(?![.0-9])")
_LONE_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATES = re.compile("[\ud800-\udfff]")


def media_type_of(headers: Mapping[str, str]) -> tuple[str, str]:
    """Return a response's media type, in lower case, and its charset."""
    name, _, rest = headers.get("content-type", "").partition(";")
    if not rest:
        return name.strip().lower(), "utf-8"
    match = _CHARSET.search(rest)
    charset = match[1].lower() if match else ""
    return name.strip().lower(), charset if _KNOWN_CHARSET.fullmatch(charset) else "utf-8"


def decode(body: bytes, headers: Mapping[str, str], *, wants_json: bool, status: int, contents: OwnedContents) -> Any:
    """Return the data of a successful answer. Raises AnswerInvalid if JSON was declared and something else arrived."""
    if not body:
        return None
    name, charset = media_type_of(headers)
    if name in LINES:
        _check_parts(body, status)
        lines = [line for line in _BETWEEN_LINES.split(body) if line.strip()]
        _count(len(lines), "lines", status)
        return [_json(line, charset, status) for line in lines]
    if name.endswith(("/json", "+json")):
        return _json(body, charset, status)
    if name == "text/event-stream":
        _check_parts(body, status)
        stream_events = events(_text(body, charset))
        _count(len(stream_events), "events", status)
        return stream_events
    if wants_json or not name:
        return _undeclared(body, name, charset, wants_json=wants_json, status=status, contents=contents)
    if is_text(name):
        return _text(body, charset)
    return contents.put(Content(body, name, filename_of(headers)))


def whole_part(body: bytes, name: str) -> bytes:
    """Return the complete events or lines of a stream of media type `name` that was interrupted. Empty for none."""
    if name == "text/event-stream":
        return body[: max(body.rfind(end) for end in (b"\n\n", b"\r\r", b"\n\r\n")) + 1]
    end = b"\x1e" if name == "application/json-seq" else b"\n"
    lines = body[: body.rfind(end) + 1]
    return lines if name in LINES or _lines_of_json(lines + b"null") is not None else b""


def events(text: str) -> list[dict[str, Any]]:
    """Return server-sent events (WHATWG HTML, 9.2.6) as a list of `{event, data, id}`, with JSON data decoded.

    `[DONE]`, which model services send at the end of a stream, ends the list.
    """
    decoded: list[dict[str, Any]] = []
    fields: dict[str, Any] = {}
    for line in (*_LINE_END.split(text.removeprefix("\ufeff")), ""):
        if line:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "data":
                fields.setdefault(name, []).append(value)
            elif name in ("event", "id"):  # comments have no name
                fields[name] = value
        else:
            data = "\n".join(fields.get("data", ()))
            if data == "[DONE]":
                break
            if data:
                decoded.append({**fields, "data": json_or_text(data)})
            fields = {}
    return decoded


def error_of(body: bytes, headers: Mapping[str, str], status: int, source: str) -> UpstreamError:
    """Return the error for an answer with an error status."""
    reason = HTTPStatus(status).phrase if status in _STATUSES else ""
    name, charset = media_type_of(headers)
    data: Any = json_or_text(_text(body, charset)) if body else None
    if isinstance(data, str):
        data = shorten(text_of(data) if "html" in name else data, 2000)
    explanation = reason_of(data, reason)
    message = f"{source} answered {status}{f' {reason}' if reason else ''}{f': {explanation}' if explanation else ''}"
    wait = retry_after(headers)
    if wait is not None:
        message += f"; retry after {round(wait, 1):.12g} s"
    return UpstreamError(message, status=status, body=data, retry_after_s=wait)


def filename_of(headers: Mapping[str, str]) -> str:
    """Return the file name in `Content-Disposition`, without folders."""
    message = Message()
    message["Content-Disposition"] = headers.get("content-disposition", "")[:_LONGEST_DISPOSITION]
    try:
        name = message.get_filename() or ""
    except UnicodeError:  # undecodable charset
        return ""
    return name.replace("\\", "/").rpartition("/")[2][:200]


def _undeclared(body: bytes, name: str, charset: str, *, wants_json: bool, status: int, contents: OwnedContents) -> Any:
    """Return JSON even under a wrong media type, which is common. Accept other data only if JSON is not declared."""
    try:
        return _json(body, charset, status)
    except AnswerInvalid:
        if wants_json:
            text = "" if b"\0" in body[:4000] else shorten(text_of(_text(body[:_READ], charset)), EXCERPT)
            excerpt = repr(text) if text else f"{len(body):,} bytes"
            message = f"answered {status} with {name or 'no media type'}, but JSON is declared: {excerpt}"
            whole = text if "html" in name or not text else _text(body[:_READ], charset)
            raise AnswerInvalid(message, status=status, body=whole) from None
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return contents.put(Content(body))


def _json(body: bytes, charset: str, status: int) -> Any:
    _check_parts(body, status)
    guard = _GUARD.match(body) if body[:1] in _BEFORE_GUARD else None
    body = body[guard.end() :] if guard else body
    try:
        data = loaded(_decoded(body, charset))
    except (ValueError, RecursionError) as error:
        lines = _lines_of_json(body)
        if lines is not None:
            return lines
        excerpt = shorten(_text(body[:4000], "utf-8"), EXCERPT)
        message = f"answered {status} with invalid JSON ({str(error)[:100]}): {excerpt!r}"
        raise AnswerInvalid(message, status=status, body=excerpt) from None
    return _without_surrogates(data) if _LONE_SURROGATE.search(body) else data


def _decoded(body: bytes, charset: str) -> str | bytes:
    """Return a JSON text in its charset. It is UTF-8 if the charset is unknown or wrong (RFC 8259, 8.1)."""
    if charset in _UNICODE or (_ONE_BYTE.match(charset) and _is_utf_8(body)):
        return body
    try:
        return body.decode(charset)
    except (LookupError, UnicodeDecodeError):
        return body


def _is_utf_8(body: bytes) -> bool:
    """Return whether bytes are UTF-8. Other text in a charset of one byte for each character hardly ever is."""
    try:
        return bool(body.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def _lines_of_json(body: bytes) -> list[Any] | None:
    """Return the values of several lines of JSON under the media type of one, such as Kubernetes' watches."""
    lines = body.split(b"\n", MOST_LINES + 1)
    lines = [line for line in lines if line.strip()]
    if not 1 < len(lines) <= MOST_LINES:
        return None
    try:
        return [loaded(line) for line in lines]
    except (ValueError, RecursionError):
        return None


def loaded(text: str | bytes) -> Any:
    """Return the data of a JSON text within the limits for programs. Raises ValueError, RecursionError."""
    data = _parsed(text)
    if _brackets(text) <= DEEPEST:
        return data
    level = [data]
    for _ in range(DEEPEST + 1):
        level = [
            part
            for whole in level
            if type(whole) in _CONTAINERS
            for part in (whole.values() if type(whole) is dict else whole)
            if type(part) in _CONTAINERS
        ]
        if not level:
            return data
    message = f"nested more than {DEEPEST} deep"
    raise ValueError(message)


def _parsed(text: str | bytes) -> Any:
    """Return the data of a text. The faster parser reads it, unless the two parsers would differ."""
    encoded = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if not _is_read_otherwise(encoded):
        try:
            return _quickly_parsed(encoded)
        except ValueError:
            pass  # the other parser accepts NaN, or explains the error
    # Python code reads each number, which gives other threads their turns.
    integers = _Integers()
    return json.loads(text, parse_constant=str, parse_float=_finite, parse_int=integers.read)  # str: see not_numbers


def _quickly_parsed(encoded: bytes) -> Any:
    if len(encoded) < _LARGE:
        return orjson.loads(encoded)
    with without_collection():
        return parsed_in_slices(encoded)


def _is_read_otherwise(encoded: bytes) -> bool:
    shape = encoded.translate(_DIGITS)
    return any(run in shape for run in _BEYOND_64_BITS) or _MINUS_ZERO.search(encoded) is not None


def _brackets(text: str | bytes) -> int:
    return text.count(b"[") + text.count(b"{") if isinstance(text, bytes) else text.count("[") + text.count("{")


class _Integers:
    """Reads the integers of one text. Those of many digits take long to read and to write."""

    def __init__(self) -> None:
        self._left = MOST_LONG_DIGITS

    def read(self, text: str) -> int:
        """Return an integer. Raises ValueError."""
        if len(text) > _LONG:
            self._left -= len(text)
            if self._left < 0:
                message = f"integers of over {_LONG} digits have more than {MOST_LONG_DIGITS:,} together"
                raise ValueError(message)
        return int(text)


def _finite(text: str) -> float:
    """Return a number. Raises ValueError if it is too large for a float."""
    number = float(text)
    if isinf(number):
        message = f"the number {text[:20]} is larger than any float"
        raise ValueError(message)
    return number


def _check_parts(body: bytes, status: int) -> None:
    if has_too_many_parts(body, b"[", b"{"):
        message = f"answered {status} with more than {MOST_PARTS:,} lists and objects: request less"
        raise AnswerInvalid(message, status=status)


def has_too_many_parts(text: AnyStr, *signs: AnyStr) -> bool:
    """Return whether a text would take many times its size as data. Brackets in strings count as well."""
    parts = sum(map(text.count, signs))
    return parts > MOST_PARTS and parts * _SHORT > len(text)


def _count(count: int, what: str, status: int) -> None:
    if count > MOST_LINES:
        message = f"answered {status} with {count:,} {what}, above the limit of {MOST_LINES:,}: request less"
        raise AnswerInvalid(message, status=status)


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATES.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


def _text(body: bytes, charset: str) -> str:
    try:
        return body.decode(charset, "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


def json_or_text(text: str) -> Any:
    """Return the data of a JSON text, else the text itself."""
    if has_too_many_parts(text, "[", "{"):
        return text
    try:
        data = loaded(text)
    except (ValueError, RecursionError):
        return text
    return _without_surrogates(data) if "\\u" in text else data
