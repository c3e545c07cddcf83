"""The reason that a service gives for an error, whatever the form of the body."""

from __future__ import annotations

import re
from typing import Any

from codemode.text.prose import plain, shorten

#: Characters of a reason.
LONGEST = 300

#: Characters of a body, and of its words, that are read.
_READ, _WORDS = 200_000, 20_000

#: Members of each list and object, and their nesting.
_MEMBERS, _DEEPEST = 8, 6

#: Keys of what a service says, in this order. Keys are compared in lower case, without `_` and `-`.
_SAYS = (
    "title", "error", "errors", "errordescription", "fault", "faultstring", "message", "messages", "errormessage",
    "errormessages", "usermessage", "exceptionmessage", "detail", "details", "description", "reason", "msg", "value",
    "text", "explanation", "cause",
)  # fmt: skip
_ORDER = {key: number for number, key in enumerate(_SAYS)}

#: Keys of symbols, the most telling first.
_CODES = ("code", "errorcode", "subcode", "errortype", "type", "status", "reason")

#: Keys of the field that an error is about.
_WHERE = ("field", "param", "parameter", "loc", "location", "propertypath", "pointer", "path", "name", "key", "source")

#: Keys that tell a model nothing.
_NOISE = frozenset((
    "timestamp", "time", "date", "traceid", "requestid", "correlationid", "logid", "instance", "documentationurl",
    "docurl", "helpurl", "help", "moreinfo", "link", "links", "url", "href", "stack", "stacktrace", "trace",
    "exception", "lang", "language", "method", "host", "hostid", "resource", "meta", "debug", "input", "ctx",
))  # fmt: skip

_OPENS = re.compile(r"<(?:(script|style|svg|template)\b|!--|!)", re.IGNORECASE)


def reason_of(data: Any, phrase: str = "") -> str:
    """Return what a body says about its error on one line, "" for nothing. `phrase` is that of the status."""
    text = text_of(data) if isinstance(data, str) else _said(data, phrase, 0)
    return shorten(text, LONGEST)


def text_of(page: str) -> str:
    """Return the words of a text, or of a page in HTML or XML without its styles and scripts."""
    page = page[:_READ]
    return plain((_without_hidden(page) if "<" in page else page)[:_WORDS])


def _without_hidden(page: str) -> str:
    """Remove comments, and elements that show no words. What is not closed ends with the page."""
    lower, words, end = page.lower(), [], 0
    while (opens := _OPENS.search(page, end)) is not None:
        words.append(page[end : opens.start()])
        closing = f"</{opens[1].lower()}" if opens[1] else "-->" if opens[0].endswith("--") else ">"
        at = lower.find(closing, opens.end())
        if at < 0:
            return " ".join(words)
        end = page.find(">", at) + 1 or len(page)
    return " ".join([*words, page[end:]])


def _said(data: Any, phrase: str, depth: int) -> str:
    if isinstance(data, str):
        return "" if data.startswith(("http://", "https://")) else text_of(data)
    if depth > _DEEPEST:
        return ""
    if isinstance(data, list):
        return "; ".join(_unlike([_said(one, phrase, depth + 1) for one in data[:_MEMBERS]]))
    return _said_by(data, phrase, depth) if isinstance(data, dict) else ""


def _said_by(data: dict[str, Any], phrase: str, depth: int) -> str:
    by_key = {_plain_key(key): (key, value) for key, value in data.items()}
    says = [_said(by_key[key][1], phrase, depth + 1) for key in sorted(by_key.keys() & _ORDER, key=_ORDER.__getitem__)]
    says = [text for text in says if text.lower() != phrase.lower()]
    where, code = _where(by_key), _code(by_key)
    named = _named(by_key, phrase, depth, has_words=any(says) or bool(code and depth))
    text = ": ".join(_unlike([*says, "; ".join(named)]))
    if code and code not in text:
        text = f"{text} ({code})" if text else code
    return f"{where}: {text}" if where and text and where not in text else text


def _named(by_key: dict[str, tuple[str, Any]], phrase: str, depth: int, *, has_words: bool) -> list[str]:
    """Return what is said under the names of fields. Beside words, only lists and objects count: others are data."""
    known = _NOISE | _ORDER.keys() | set(_CODES) | (set(_WHERE) if has_words else set())
    texts = []
    for plain_key, (key, value) in by_key.items():
        if plain_key not in known and (not has_words or isinstance(value, (list, dict))):
            text = _said(value, phrase, depth + 1)
            is_group = isinstance(value, dict)
            texts += [text if is_group else f"{key}: {text}"] if text else []
    return _unlike(texts)[:_MEMBERS]


def _where(by_key: dict[str, tuple[str, Any]]) -> str:
    """Return the field that an error is about."""
    for key in _WHERE:
        value = by_key.get(key, ("", None))[1]
        if isinstance(value, dict):
            value = next((one for one in value.values() if isinstance(one, str)), None)
        if isinstance(value, list) and value and all(isinstance(one, (str, int)) for one in value):
            value = ".".join(map(str, value))
        is_target = key == "path" and isinstance(value, str) and value.startswith("/")  # of the request
        if isinstance(value, str) and value and not is_target:
            return value[:100]
    return ""


def _code(by_key: dict[str, tuple[str, Any]]) -> str:
    """Return the symbol or number of an error. A number below 600 is a status."""
    for key in _CODES:
        value = by_key.get(key, ("", None))[1]
        if isinstance(value, int) and not isinstance(value, bool) and value >= 600:
            return str(value)
        if isinstance(value, str) and value and not value.startswith(("http", "about:")) and not value.isdigit():
            return value[:100]
    return ""


def _plain_key(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "").rpartition(".")[2]


def _unlike(texts: list[str]) -> list[str]:
    """Return texts without empty ones, and without those that an earlier one contains."""
    chosen: list[str] = []
    for text in texts:
        if text and not any(text in earlier for earlier in chosen):
            chosen.append(text)
    return chosen
