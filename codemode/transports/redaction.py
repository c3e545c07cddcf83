"""Secrets taken out of every text that leaves, in the forms in which a service or a library may show them."""

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

#: Shorter secrets are not searched for in texts: they would blank out ordinary words.
_SHORTEST = 4

#: Shorter secrets stay in the data of successful answers, where an ordinary word that is blanked out is a wrong value.
_SHORTEST_IN_DATA = 8


#: A character of ASCII as JSON may escape it: System.Text.Json does so with `+`, Go's with `&`.
_ESCAPED = rb"\u00"
_ESCAPE = re.compile(re.escape(_ESCAPED) + rb"([2-7][0-9a-fA-F])")


class Redactor:
    """Takes secrets out of texts and JSON values. Immutable; `extended` gives one that knows more."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self.secrets = frozenset(secret for secret in secrets if len(secret) >= _SHORTEST)
        forms = {form for secret in self.secrets for form in _forms(secret)}
        self._forms = tuple(sorted(forms, key=len, reverse=True))
        self._in_data = tuple(form for form in self._forms if len(form) >= _SHORTEST_IN_DATA)
        self._in_bodies = tuple({body for form in self._in_data for body in _in_json(form)})

    def extended(self, secrets: Iterable[str]) -> Redactor:
        """A redactor that looks for further secrets too."""
        new = {secret for secret in secrets if len(secret) >= _SHORTEST} - self.secrets
        return Redactor(self.secrets | new) if new else self

    def text(self, text: str) -> str:
        """The text without secrets."""
        return str(_without(self._forms, text))

    def answer(self, data: Any, body: bytes) -> Any:
        """The data of a successful answer without secrets: a service may give back what it was sent.

        `body` is what the data were read from: where no secret is in it, which is cheap to see, they stay as they are.
        """
        if not isinstance(data, str) and not _is_wide(body):
            if _ESCAPED in body:
                body = _ESCAPE.sub(lambda found: bytes((int(found[1], 16),)), body)
            if not any(form in body for form in self._in_bodies):
                return data
        return _without(self._in_data, data)

    def value(self, value: Any) -> Any:
        """A JSON value whose texts have no secrets."""
        return _without(self._forms, value)

    def clean(self, error: Exception) -> None:
        """Take secrets out of an error, and let go of the errors behind it, which may hold some."""
        error.args = tuple(self.value(arg) for arg in error.args)
        if hasattr(error, "body"):
            error.body = self.value(error.body)
        error.__cause__ = error.__context__ = None


def _is_wide(body: bytes) -> bool:
    """Whether a text is in UTF-16 or UTF-32, in which JSON may come, too: no other has this character in it."""
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
    """A secret as it is, and as URLs, HTML, Python and base64 may have it."""
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
    """What every base64 text holds that has the secret somewhere in it: it may begin at each of three offsets."""
    for offset in range(3):
        start = (0, 2, 3)[offset]
        end = (offset + len(secret)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(b"\0" * offset + secret).decode("ascii")[start:end]


def _in_json(secret: str) -> tuple[bytes, ...]:
    """A secret as it stands in a body: plain, and as JSON writers escape it."""
    ways = [json.dumps(secret, ensure_ascii=escaped)[1:-1] for escaped in (True, False)]
    return tuple(way.encode("utf-8", "replace") for one in (secret, *ways) for way in (one, one.replace("/", "\\/")))
