"""Credentials: applied to requests here and nowhere else, and taken out of every text that leaves."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable

REDACTED = "[redacted]"

#: Shorter secrets are not searched for in texts: they would blank out ordinary words.
_SHORTEST = 4


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
        self.add(secrets)

    def add(self, secrets: Iterable[str]) -> None:
        """Look for further secrets from now on."""
        known = self._known | {secret for secret in secrets if len(secret) >= _SHORTEST}
        if known != self._known:
            self._known = known
            escaped = {quote(secret, safe="") for secret in known}
            self._secrets = tuple(sorted(known | escaped, key=len, reverse=True))

    def text(self, text: str) -> str:
        """The text without secrets."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, REDACTED)
        return text

    def value(self, value: object) -> object:
        """A JSON value whose texts have no secrets."""
        if not self._secrets:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {self.text(str(key)): self.value(item) for key, item in value.items()}
        return value
