"""Which credentials a call is sent with: what the operation requires, matched with what is configured."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from codemode.errors import CredentialsMissing
from codemode.transports.auth.credentials import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from codemode.transports.auth.credentials import Credential
    from codemode.transports.auth.grant import Grant

#: The `scheme` of a credential that is sent with every call, whatever the document says.
ALWAYS = "*"

_AUTHORIZATION = "authorization"


class SchemeKind(StrEnum):
    """What a Security Scheme Object asks for, in the words of the configuration."""

    API_KEY = "api_key"
    BASIC = "basic"
    BEARER = "bearer"
    OAUTH2 = "oauth2"
    MUTUAL_TLS = "mutual_tls"
    OTHER = "other"
    NONE = "none"  # of a credential: the service asks for nothing here, whatever its document says


class SecurityScheme(NamedTuple):
    """A Security Scheme Object (OpenAPI 3.1; 2.0 in its words). `parameter` in `place` is an API key's own.

    `detail` is what else helps to configure it: names of OAuth flows, or the HTTP scheme; `token_url` an OAuth flow's.
    """

    name: str
    kind: str
    place: str = ""
    parameter: str = ""
    detail: str = ""
    token_url: str = ""

    @property
    def words(self) -> str:
        """The scheme in words that say what to configure."""
        return f"{self.name}: {self.configuration('…')}"

    def configuration(self, source: str) -> str:
        """The line of configuration that would give it."""
        variable = re.sub(r"\W+", "_", f"{source}_{self.parameter or self.name}").upper()
        secret = f"{{env: {variable}}}" if source != "…" else "…"
        match self.kind:
            case SchemeKind.API_KEY:
                return f"{{kind: api_key, name: {self.parameter}, location: {self.place}, value: {secret}}}"
            case SchemeKind.BASIC:
                return f"{{kind: basic, username: …, password: {secret}}}"
            case SchemeKind.OAUTH2:
                flows = f" # {self.detail}; or kind: bearer with a token" if self.detail else ""
                token_url = self.token_url or "…"
                return f"{{kind: oauth2, token_url: {token_url}, client_id: …, client_secret: {secret}}}{flows}"
            case SchemeKind.MUTUAL_TLS:
                return "client_certificate: {certificate: FILE, key: FILE}"
            case SchemeKind.BEARER:
                return f"{{kind: bearer, token: {secret}}}"
            case _:
                kind = f" # {self.detail}" if self.detail else ""
                return f"{{kind: api_key, name: Authorization, value: {secret}, scheme: {self.name}}}{kind}"


#: What an operation requires: one of these alternatives whole, each some schemes at once. None where nothing is said.
Requirements = tuple[tuple[SecurityScheme, ...], ...] | None


@dataclass(frozen=True, slots=True)
class CallerSupply:
    """A credential made of what the caller brings under `caller`."""

    caller: str
    make: Callable[[str], Credential]


@dataclass(frozen=True, slots=True)
class Configured:
    """One credential of the configuration, where it travels, and which scheme it is for (`""`: any it fits)."""

    kind: SchemeKind
    supply: Credential | CallerSupply | Grant | None
    place: Place = Place.HEADER
    name: str = "Authorization"
    scheme: str = ""

    def fits(self, scheme: SecurityScheme) -> bool:
        """Whether it is what the scheme asks for: written for it, or of its kind and in its place."""
        if self.kind is SchemeKind.NONE:
            return True
        if self.scheme:
            return self.scheme == scheme.name
        if scheme.kind == SchemeKind.API_KEY:
            return (self.place.value, self.name.lower()) == (scheme.place, scheme.parameter.lower())
        if scheme.kind == SchemeKind.MUTUAL_TLS:
            return False
        if SchemeKind.BASIC in (scheme.kind, self.kind):
            return scheme.kind == self.kind or (self.kind is SchemeKind.API_KEY and self._is_authorization)
        return self._is_authorization

    @property
    def _is_authorization(self) -> bool:
        return self.place is Place.HEADER and self.name.lower() == _AUTHORIZATION


class Authentication:
    """The credentials of one source, and which of them an operation is sent with."""

    def __init__(self, source: str, configured: Iterable[Configured] = (), *, has_certificate: bool = False) -> None:
        self._source = source
        self.configured = tuple(configured)
        self._has_certificate = has_certificate

    @classmethod
    def none(cls, source: str) -> Authentication:
        """Of a service that asks for nothing, whatever its document says."""
        return cls(source, [Configured(SchemeKind.NONE, None)])

    @property
    def has_credentials(self) -> bool:
        """Whether there is anything to send."""
        return any(one.supply is not None for one in self.configured)

    def chosen(self, required: Requirements) -> tuple[Configured, ...]:
        """The credentials for an operation. Raises CredentialsMissing where no alternative is wholly configured.

        The first alternative that is counts; that without any scheme (`{}`) counts last, for it takes nothing away.
        """
        always = [one for one in self.configured if one.scheme == ALWAYS]
        if required is None:
            return _without_doubles([*always, *(one for one in self.configured if one.kind is not SchemeKind.NONE)])
        missing: list[list[SecurityScheme]] = []
        for alternative in sorted(required, key=lambda schemes: not schemes):
            found = [self._for(scheme) for scheme in alternative]
            absent = [scheme for scheme, one in zip(alternative, found, strict=True) if one is None]
            if not absent:
                return _without_doubles([*always, *(one for group in found for one in group or ())])
            missing.append(absent)
        if required and not always:
            raise self._missing(required, min(missing, key=len))
        return _without_doubles(always)

    def _for(self, scheme: SecurityScheme) -> tuple[Configured, ...] | None:
        """What is sent for a scheme, None where nothing is configured for it."""
        if scheme.kind == SchemeKind.MUTUAL_TLS and self._has_certificate:
            return ()
        fitting = sorted((one for one in self.configured if one.fits(scheme)), key=lambda one: not one.scheme)
        if not fitting:
            return None
        return () if fitting[0].kind is SchemeKind.NONE else (fitting[0],)

    def _missing(
        self, required: tuple[tuple[SecurityScheme, ...], ...], first: list[SecurityScheme]
    ) -> CredentialsMissing:
        schemes = in_words(required)
        written = [scheme.configuration(self._source) for scheme in first]
        lines = [f"    - {line}" for line in written if line.startswith("{")]
        lines = [*(["  credentials:"] if lines else []), *lines, *(f"  {line}" for line in written if line[0] != "{")]
        other = (
            f'`scheme: "{ALWAYS}"` at a credential that you have, if it will do'
            if self.configured
            else "`credentials: [{kind: none}]`, if this service asks for nothing"
        )
        message = (
            f"{self._source} asks for {schemes} here, which is not configured; nothing was sent. Write under "
            f"sources.{self._source} (or {other}):\n" + "\n".join(lines)
        )
        hint = f"the operator has not configured what {self._source} asks for here ({schemes})"
        return CredentialsMissing(message, hint=hint)


def in_words(required: Requirements) -> str:
    """What an operation requires, as a reader wants it: `key and application, or token`."""
    if required is None:
        return "nothing said"
    alternatives = [" and ".join(scheme.name for scheme in schemes) or "none" for schemes in required]
    return ", or ".join(alternatives) or "none"


def _without_doubles(chosen: Iterable[Configured]) -> tuple[Configured, ...]:
    """Each place once: what comes first is sent there."""
    by_place: dict[tuple[Place, str], Configured] = {}
    for one in chosen:
        by_place.setdefault((one.place, one.name.lower()), one)
    return tuple(by_place.values())
