"""Redaction of secrets from every outgoing text, in the forms in which services and libraries may show them."""

from __future__ import annotations

import base64
import html
import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

REDACTED = "[redacted]"

#: Shorter secrets are not searched for, because ordinary words would be redacted.
_SHORTEST = 4

#: Shorter secrets stay in data of successful answers, where a redacted ordinary word would be a wrong value.
_SHORTEST_IN_DATA = 8


#: An ASCII character in JSON's escaped form: System.Text.Json escapes `+` so, Go escapes `&`.
_ESCAPED = rb"\u00"
_ESCAPE = re.compile(re.escape(_ESCAPED) + rb"([2-7][0-9a-fA-F])")


class Redactor:
    """Redacts secrets in texts and JSON values. Immutable; `extended` returns one that knows more."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self.secrets = frozenset(secret for secret in secrets if len(secret) >= _SHORTEST)
        forms = {form for secret in self.secrets for form in _forms(secret)}
        self._forms = tuple(sorted(forms, key=len, reverse=True))
        self._in_data = tuple(form for form in self._forms if len(form) >= _SHORTEST_IN_DATA)
        self._in_bodies = tuple({body for form in self._in_data for body in _in_json(form)})

    def extended(self, secrets: Iterable[str]) -> Redactor:
        """Return a redactor that also knows further secrets."""
        new = {secret for secret in secrets if len(secret) >= _SHORTEST} - self.secrets
        return Redactor(self.secrets | new) if new else self

    def text(self, text: str) -> str:
        """Return the text without secrets."""
        return str(_without(self._forms, text))

    def answer(self, data: Any, body: bytes) -> Any:
        """Return the data of a successful answer without secrets, which a service may echo.

        `body` is the encoded answer. If it contains no secret, which is cheap to check, the data are returned
        unchanged.
        """
        if not isinstance(data, str) and not _is_wide(body):
            if _ESCAPED in body:
                body = _ESCAPE.sub(lambda escape: bytes((int(escape[1], 16),)), body)
            if not any(form in body for form in self._in_bodies):
                return data
        return _without(self._in_data, data)

    def data(self, data: Any) -> Any:
        """Return JSON data without secrets, short ones aside, which may be ordinary words."""
        return _without(self._in_data, data)

    def value(self, value: Any) -> Any:
        """Return a JSON value whose texts contain no secrets."""
        return _without(self._forms, value)

    def clean(self, error: Exception) -> None:
        """Redact an error, and drop its causes, which may hold secrets."""
        error.args = tuple(self.value(arg) for arg in error.args)
        if hasattr(error, "body"):
            error.body = self.value(error.body)
        error.__cause__ = error.__context__ = None


def _is_wide(body: bytes) -> bool:
    """Return whether a text is in UTF-16 or UTF-32, which JSON may use. Only these contain null bytes."""
    return b"\0" in body


def _without(secrets: Sequence[str], value: Any) -> Any:
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, REDACTED)
        return value
    if isinstance(value, list):
        return [_without(secrets, item) for item in value]
    if isinstance(value, dict):
        return {_without(secrets, str(key)): _without(secrets, item) for key, item in value.items()}
    return value


def _forms(secret: str) -> Iterator[str]:
    """Yield a secret in its plain form, and as URLs, HTML, Python and base64 show it."""
    yield secret
    for escaped in (quote(secret, safe=""), quote(secret), quote_plus(secret)):
        yield escaped
        yield escaped.replace("%", "%25")
        yield _lower_escapes(escaped)
    yield html.escape(secret)
    yield repr(secret)[1:-1]
    yield json.dumps(secret)[1:-1]
    if len(secret) >= _SHORTEST_IN_DATA:
        yield from _in_base64(secret.encode("utf-8", "surrogatepass"))


def _lower_escapes(text: str) -> str:
    first, *rest = text.split("%")
    return "%".join((first, *(part[:2].lower() + part[2:] for part in rest)))


def _in_base64(secret: bytes) -> Iterator[str]:
    """Yield the parts common to all base64 texts that contain the secret, which can start at three offsets."""
    for offset in range(3):
        start = (0, 2, 3)[offset]
        end = (offset + len(secret)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(b"\0" * offset + secret).decode("ascii")[start:end]


def _in_json(secret: str) -> tuple[bytes, ...]:
    """Return a secret as it appears in a body: plain, and as JSON encoders escape it."""
    ways = [json.dumps(secret, ensure_ascii=escaped)[1:-1] for escaped in (True, False)]
    return tuple(way.encode("utf-8", "replace") for one in (secret, *ways) for way in (one, one.replace("/", "\\/")))
