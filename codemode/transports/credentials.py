"""Credentials: applied to requests here and nowhere else, and taken out of every text that leaves."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

REDACTED = "[redacted]"

#: Shorter secrets are not searched for in texts: they would blank out ordinary words.
_SHORTEST = 4

#: Shorter secrets stay in the data of successful answers, where an ordinary word that is blanked out is a wrong value.
_SHORTEST_IN_DATA = 8


class Place(StrEnum):
    """Where a credential travels."""

    HEADER = "header"
    QUERY = "query"
    COOKIE = "cookie"


@dataclass(frozen=True, slots=True, repr=False)
class Credential:
    """One name and secret value in its place. `secrets` are the texts that must never be seen."""

    place: Place
    name: str
    value: str
    secrets: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Credential({self.place}, {self.name})"

    @classmethod
    def bearer(cls, token: str) -> Credential:
        """`Authorization: Bearer …` (RFC 6750)."""
        return cls(Place.HEADER, "Authorization", f"Bearer {token}", (token,))

    @classmethod
    def basic(cls, username: str, password: str) -> Credential:
        """`Authorization: Basic …` (RFC 7617)."""
        encoded = base64.b64encode(f"{username}:{password}".encode()).decode()
        return cls(Place.HEADER, "Authorization", f"Basic {encoded}", (encoded, password))

    @classmethod
    def api_key(cls, place: Place | str, name: str, value: str, *, prefix: str = "") -> Credential:
        """A key in a header, the query or a cookie, with an optional scheme before it (`token …`)."""
        whole = f"{prefix.strip()} {value}" if prefix.strip() else value
        return cls(Place(place), name, whole, (value,))


class Redactor:
    """Takes secrets out of texts and JSON values, as they are and as they may have been escaped."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known: frozenset[str] = frozenset()
        self._secrets: tuple[str, ...] = ()
        self._in_data: tuple[str, ...] = ()
        self._in_bodies: tuple[bytes, ...] = ()
        self.add(secrets)

    def add(self, secrets: Iterable[str]) -> None:
        """Look for further secrets from now on."""
        known = self._known | {secret for secret in secrets if len(secret) >= _SHORTEST}
        if known != self._known:
            self._known = known
            escaped = {quote(secret, safe="") for secret in known}
            self._secrets = tuple(sorted(known | escaped, key=len, reverse=True))
            self._in_data = tuple(secret for secret in self._secrets if len(secret) >= _SHORTEST_IN_DATA)
            self._in_bodies = tuple({body for secret in self._in_data for body in _in_json(secret)})

    def text(self, text: str) -> str:
        """The text without secrets."""
        return str(_without(self._secrets, text))

    def answer(self, data: Any, body: bytes) -> Any:
        """The data of a successful answer without secrets: a service may give back what it was sent.

        `body` is what the data were read from: where no secret is in it, which is cheap to see, they stay as they are.
        """
        return _without(self._in_data, data) if any(secret in body for secret in self._in_bodies) else data

    def value(self, value: object) -> object:
        """A JSON value whose texts have no secrets."""
        return _without(self._secrets, value)


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


def _in_json(secret: str) -> tuple[bytes, ...]:
    """A secret as it stands in a body: plain, and as JSON writers escape it."""
    ways = [json.dumps(secret, ensure_ascii=escaped)[1:-1] for escaped in (True, False)]
    return tuple(way.encode() for one in (secret, *ways) for way in (one, one.replace("/", "\\/")))
