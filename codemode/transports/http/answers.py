"""Answers of HTTP services as JSON data, or as errors that say what to do."""

from __future__ import annotations

import gc
import json
import re
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from math import isinf
from typing import TYPE_CHECKING, Any, AnyStr

import orjson

from codemode.errors import AnswerInvalid, UpstreamError
from codemode.text.prose import plain, shorten
from codemode.transports.content import Content

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from codemode.transports.content import OwnedContents

#: Lines of ndjson or events of a stream that one answer may have.
MOST_LINES = 10_000

#: Media types of one JSON value a line, or after a record separator (RFC 7464).
LINES = frozenset(
    f"application/{name}"
    for name in (
        "x-ndjson", "ndjson", "jsonl", "x-jsonl", "jsonlines", "x-jsonlines", "json-seq", "stream+json",
        "x-json-stream",
    )
)  # fmt: skip

#: How much of an answer that cannot be used is shown, and how much is read for that.
EXCERPT, _READ = 300, 20_000

#: Lists and objects inside of each other that data may have: programs take no more, and to follow them takes stack.
DEEPEST = 200

#: Lists and objects of one answer where they are short (`_SHORT` bytes on average): each takes 60 to 240 bytes of
#: memory, so that 16 MiB of `[[],[],…` took 400 MB.
MOST_PARTS, _SHORT = 1_000_000, 16

_CONTAINERS = frozenset((list, dict))

_LONGEST_DISPOSITION = 2_000
_STATUSES = frozenset(HTTPStatus)
_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)
#: Charsets of the web (WHATWG Encoding). Python knows others, one of which takes hours for a megabyte (punycode), and
#: never forgets a name that it was asked for.
_KNOWN_CHARSET = re.compile(
    r"utf-?(8|16|32)([-_]?[lb]e)?|(us-)?ascii|(latin|l)-?\d|(iso[-_]?)?8859[-_]?\d{1,2}|(windows|cp|ibm)-?\d{3,4}"
    r"|koi8-[ru]|tis-620|x-mac-cyrillic|macintosh|shift[-_]jis|sjis|ms932|ms_kanji|euc-(jp|kr)|iso-2022-(jp|kr)"
    r"|ks_c_5601-1987|gb_?2312(-80)?|gbk|gb18030|big5(-hkscs)?"
)
_UNICODE = frozenset(("utf-8", "utf8", "utf-16", "utf-32", "us-ascii"))  # told apart by their bytes
_BETWEEN_LINES = re.compile(rb"[\n\r\x1e]")
_LINE_END = re.compile("\r\n|\n|\r")
#: From this many bytes on the faster parser reads an answer.
_LARGE = 1 << 16
#: Whole numbers beyond 64 bits are found by their shape, which is no regular expression: that took a second.
_DIGITS = bytes(ord("0") if chr(code) in "0123456789" else code if chr(code) == "-" else 32 for code in range(256))
_BEYOND_64_BITS = (b"0" * 20, b"-" + b"0" * 19)
_MINUS_ZERO = re.compile(rb"-0(?![.0-9])")
_LONE_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATES = re.compile("[\ud800-\udfff]")


def media_type_of(headers: Mapping[str, str]) -> tuple[str, str]:
    """Media type in lower case, and charset, of a response."""
    name, _, rest = headers.get("content-type", "").partition(";")
    found = _CHARSET.search(rest) if rest else None
    charset = found[1].lower() if found else ""
    return name.strip().lower(), charset if _KNOWN_CHARSET.fullmatch(charset) else "utf-8"


def decode(body: bytes, headers: Mapping[str, str], *, wants_json: bool, status: int, contents: OwnedContents) -> Any:
    """The data of a successful answer. Raises AnswerInvalid where JSON was declared and something else came."""
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
        found = events(_text(body, charset))
        _count(len(found), "events", status)
        return found
    if wants_json or not name:
        return _undeclared(body, name, charset, wants_json=wants_json, status=status, contents=contents)
    if name.startswith("text/") or name.endswith(("xml", "yaml", "javascript", "graphql")):
        return _text(body, charset)
    return contents.put(Content(body, name, filename_of(headers)))


def events(text: str) -> list[dict[str, Any]]:
    """Server-sent events (WHATWG HTML, 9.2.6) as a list of `{event, data, id}`; data as JSON where it is some.

    `[DONE]`, by which services of models end a stream, ends the list.
    """
    found: list[dict[str, Any]] = []
    fields: dict[str, Any] = {}
    for line in (*_LINE_END.split(text.removeprefix("\ufeff")), ""):
        if line:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "data":
                fields.setdefault(name, []).append(value)
            elif name in ("event", "id"):  # a comment has no name
                fields[name] = value
        else:
            data = "\n".join(fields.get("data", ()))
            if data == "[DONE]":
                break
            if data:
                found.append({**fields, "data": json_or_text(data)})
            fields = {}
    return found


def error_of(body: bytes, headers: Mapping[str, str], status: int, source: str) -> UpstreamError:
    """The error that an answer with an error status stands for."""
    reason = HTTPStatus(status).phrase if status in _STATUSES else ""
    name, charset = media_type_of(headers)
    data: Any = json_or_text(_text(body, charset)) if body else None
    if isinstance(data, str):
        data = shorten(plain(data[:_READ]) if "html" in name else data, 2000)
    said = _said(data)
    message = f"{source} answered {status}{f' {reason}' if reason else ''}{f': {said}' if said else ''}"
    wait = retry_after(headers)
    if wait is not None:
        message += f"; retry after {round(wait, 1):.12g} s"
    return UpstreamError(message, status=status, body=data, retry_after_s=wait)


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """The advice of `Retry-After` in seconds (RFC 9110, 10.2.3), None where there is none."""
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d+)?", value):
        return float(value)
    try:
        when = parsedate_to_datetime(value)
    except (TypeError, ValueError, OverflowError):
        return None
    moment = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())


def filename_of(headers: Mapping[str, str]) -> str:
    """The name in `Content-Disposition`, without any folder."""
    message = Message()
    message["Content-Disposition"] = headers.get("content-disposition", "")[:_LONGEST_DISPOSITION]
    try:
        found = message.get_filename() or ""
    except UnicodeError:  # in a charset that decodes nothing
        return ""
    return found.replace("\\", "/").rpartition("/")[2][:200]


def _undeclared(body: bytes, name: str, charset: str, *, wants_json: bool, status: int, contents: OwnedContents) -> Any:
    """JSON without the right media type is common and taken; anything else is taken only where JSON is not declared."""
    try:
        return _json(body, charset, status)
    except AnswerInvalid:
        if wants_json:
            text = "" if b"\0" in body[:4000] else shorten(plain(_text(body[:4000], charset)), EXCERPT)
            said = repr(text) if text else f"{len(body):,} bytes"
            message = f"answered {status} with {name or 'no media type'} where JSON is declared: {said}"
            raise AnswerInvalid(message, status=status, body=text) from None
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return contents.put(Content(body))


def _json(body: bytes, charset: str, status: int) -> Any:
    _check_parts(body, status)
    try:
        text = body if charset in _UNICODE else body.decode(charset)
    except (LookupError, UnicodeDecodeError):
        text = body  # the name is unknown or wrong: JSON is UTF-8 (RFC 8259, 8.1)
    try:
        data = loaded(text)
    except (ValueError, RecursionError) as error:
        excerpt = shorten(_text(body[:4000], "utf-8"), EXCERPT)
        message = f"answered {status} with what is not JSON ({str(error)[:100]}): {excerpt!r}"
        raise AnswerInvalid(message, status=status, body=excerpt) from None
    return _without_surrogates(data) if _LONE_SURROGATE.search(body) else data


def loaded(text: str | bytes) -> Any:
    """The data of a JSON text, as far as programs may get it. Raises ValueError, RecursionError."""
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
    """The data of a text: by the faster parser where it is large, and holds nothing that the two read differently."""
    if len(text) >= _LARGE:
        encoded = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        if not _is_read_otherwise(encoded):
            with suppress(ValueError), _without_collection():  # the other parser takes NaN, or says what is wrong
                return orjson.loads(encoded)
        # Each number is read by Python code, so that other threads have their turns meanwhile.
        return json.loads(text, parse_constant=_no_number, parse_float=_finite, parse_int=_whole)
    return json.loads(text, parse_constant=_no_number, parse_float=_finite)


def _is_read_otherwise(encoded: bytes) -> bool:
    shape = encoded.translate(_DIGITS)
    return any(run in shape for run in _BEYOND_64_BITS) or _MINUS_ZERO.search(encoded) is not None


def _brackets(text: str | bytes) -> int:
    return text.count(b"[") + text.count(b"{") if isinstance(text, bytes) else text.count("[") + text.count("{")


@contextmanager
def _without_collection() -> Iterator[None]:
    """What a parser makes holds no cycle: to look for one takes longer than to parse."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _whole(text: str) -> int:
    return int(text)


def _no_number(_: str) -> None:
    """NaN and infinities are not JSON; an answer that has them says null."""


def _finite(text: str) -> float:
    """A number of an answer. Raises ValueError where it is so large that it would become infinite."""
    number = float(text)
    if isinf(number):
        message = f"the number {text[:20]} is larger than any float"
        raise ValueError(message)
    return number


def _check_parts(body: bytes, status: int) -> None:
    if has_too_many_parts(body, b"[", b"{"):
        message = f"answered {status} with more than {MOST_PARTS:,} lists and objects: ask for less of it"
        raise AnswerInvalid(message, status=status)


def has_too_many_parts(text: AnyStr, *signs: AnyStr) -> bool:
    """Whether it would take many times its size as data; what stands in strings counts, too."""
    parts = sum(map(text.count, signs))
    return parts > MOST_PARTS and parts * _SHORT > len(text)


def _count(found: int, what: str, status: int) -> None:
    if found > MOST_LINES:
        message = f"answered {status} with {found:,} {what}, {MOST_LINES:,} are taken: ask for less of it"
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
    """The data of a text that is JSON, else the text."""
    if has_too_many_parts(text, "[", "{"):
        return text
    try:
        data = loaded(text)
    except (ValueError, RecursionError):
        return text
    return _without_surrogates(data) if "\\u" in text else data


def _said(data: Any) -> str:
    """What an error body says: problem details (RFC 9457), and the usual other fields."""
    if isinstance(data, str):
        return shorten(plain(data[:_READ]), EXCERPT)
    if not isinstance(data, dict):
        return ""
    texts = []
    for key in ("title", "error", "error_description", "message", "detail", "errors", "reason", "msg"):
        value = data.get(key)
        if isinstance(value, dict):
            value = value.get("message") or value.get("detail") or json.dumps(value, ensure_ascii=False)
        elif isinstance(value, list):
            value = json.dumps(value[:3], ensure_ascii=False) if value else None
        if isinstance(value, str) and value and value not in texts:
            texts.append(value)
    return shorten(": ".join(texts), EXCERPT)
