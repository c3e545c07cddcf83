"""Credentials: a name and value in a place of a request, provided by the operator or the caller."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn

from codemode.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Characters that would end a header, cookie or request line, or are invalid there (RFC 9110, 5.5).
_BREAKING = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class Place(StrEnum):
    """The place of a credential in a request."""

    HEADER = "header"
    QUERY = "query"
    COOKIE = "cookie"


@dataclass(frozen=True, slots=True, repr=False)
class Credential:
    """One name and secret value in its place. `secrets` are the texts to redact.

    Raises ConfigurationError if the value is invalid in its place.
    """

    place: Place
    name: str
    value: str
    secrets: tuple[str, ...]

    def __post_init__(self) -> None:
        if _BREAKING.search(self.value) or (self.place is Place.COOKIE and ";" in self.value):
            message = f"the credential for {self.name} contains a line break or another character that cannot be sent"
            raise ConfigurationError(message)

    def __repr__(self) -> str:
        return f"Credential({self.place}, {self.name})"

    @classmethod
    def bearer(cls, token: str) -> Credential:
        """Return `Authorization: Bearer …` (RFC 6750)."""
        return cls(Place.HEADER, "Authorization", f"Bearer {token}", (token,))

    @classmethod
    def basic(cls, username: str, password: str) -> Credential:
        """Return `Authorization: Basic …` (RFC 7617)."""
        encoded = base64.b64encode(f"{username}:{password}".encode()).decode()
        return cls(Place.HEADER, "Authorization", f"Basic {encoded}", (encoded, password))

    @classmethod
    def api_key(cls, place: Place | str, name: str, value: str, *, prefix: str = "") -> Credential:
        """Return a key in a header, the query or a cookie, with an optional scheme before it (`token …`)."""
        text = f"{prefix.strip()} {value}" if prefix.strip() else value
        return cls(Place(place), name, text, (value,))

    @classmethod
    def header(cls, name: str, value: str, *, is_secret: bool) -> Credential:
        """Return a header of every request. A value that is no secret is not redacted."""
        return cls(Place.HEADER, name, value, (value,) if is_secret else ())


class CallerCredentials:
    """Secrets that a caller brings for one execution, by their names in the configuration.

    They are held for that execution only, and never stored, copied, pickled or shown. Names are case-insensitive.
    """

    __slots__ = ("__weakref__", "_values")

    def __init__(self, values: Mapping[str, str] = MappingProxyType({})) -> None:
        self._values = {name.lower(): value for name, value in values.items() if value}

    def __repr__(self) -> str:
        return f"CallerCredentials({', '.join(sorted(self._values))})"

    def __reduce__(self) -> NoReturn:
        message = "a caller's credentials cannot be stored or copied"
        raise TypeError(message)

    def get(self, name: str) -> str | None:
        """Return the secret with this name, None if the caller brought none."""
        return self._values.get(name.lower())

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts to redact."""
        return tuple(self._values.values())


#: A caller without credentials.
NOBODY = CallerCredentials()
