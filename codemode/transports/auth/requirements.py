"""Selection of credentials for a call: what the operation requires, matched with the configuration."""

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
    from codemode.transports.auth.grant import OAuthGrant

#: The `scheme` of a credential that is sent with every call, regardless of the document.
ALWAYS = "*"

_AUTHORIZATION = "authorization"

#: HTTP schemes whose value depends on the request (IANA, HTTP Authentication Scheme Registry).
_CHALLENGES = ("digest", "hoba", "mutual", "negotiate", "ntlm", "scram-sha-1", "scram-sha-256", "dpop", "hawk")


class SchemeKind(StrEnum):
    """Kinds of security schemes, as the configuration names them."""

    API_KEY = "api_key"
    BASIC = "basic"
    BEARER = "bearer"
    OAUTH2 = "oauth2"
    MUTUAL_TLS = "mutual_tls"
    OTHER = "other"
    NONE = "none"  # the service needs no credential here, despite its document


class SecurityScheme(NamedTuple):
    """A Security Scheme Object (OpenAPI 3.1, or 2.0). `parameter` and `place` describe an API key.

    `detail` helps to configure the scheme: names of OAuth flows, or the HTTP scheme. `prefix` precedes an API key in
    its header. The addresses are those of an OAuth flow, `metadata_url` is a document that has them (OpenID Connect
    Discovery, RFC 8414), and `scopes` are what an operation requires.
    """

    name: str
    kind: str
    place: str = ""
    parameter: str = ""
    detail: str = ""
    token_url: str = ""
    prefix: str = ""
    authorization_url: str = ""
    device_url: str = ""
    metadata_url: str = ""
    scopes: tuple[str, ...] = ()

    @property
    def is_login(self) -> bool:
        """Whether its tokens come from the login of a person."""
        return bool(self.authorization_url or self.device_url or self.metadata_url)

    @property
    def words(self) -> str:
        """A description of the scheme that says what to configure."""
        return f"{self.name}: {self.configuration('…')}"

    def configuration(self, source: str) -> str:
        """Return the configuration line that would provide it."""
        variable = re.sub(r"\W+", "_", f"{source}_{self.parameter or self.name}").upper()
        secret = f"{{env: {variable}}}" if source != "…" else "…"
        match self.kind:
            case SchemeKind.API_KEY:
                prefix = f", prefix: {self.prefix}" if self.prefix else ""
                return f"{{kind: api_key, name: {self.parameter}, location: {self.place}, value: {secret}{prefix}}}"
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
            case _ if self.detail.partition(" ")[2] in _CHALLENGES:
                return (
                    f"{self.detail} is not supported: each request answers a challenge. Put a proxy that authenticates "
                    f"before the service, and set its URL as base_url with `credentials: [{{kind: none}}]`"
                )
            case _:
                prefix = self.detail.partition(" ")[2].title()
                kind = f", prefix: {prefix}}} # {self.detail}" if prefix else "}"
                return f"{{kind: api_key, name: Authorization, value: {secret}, scheme: {self.name}{kind}"


#: What an operation requires: one complete alternative, each a set of schemes. None if the document says nothing.
Requirements = tuple[tuple[SecurityScheme, ...], ...] | None


@dataclass(frozen=True, slots=True)
class CallerSupply:
    """A credential made from the secret that the caller brings under the name `caller`."""

    caller: str
    make: Callable[[str], Credential]


@dataclass(frozen=True, slots=True)
class Configured:
    """One configured credential, its place in the request, and its scheme (`""`: any that fits)."""

    kind: SchemeKind
    supply: Credential | CallerSupply | OAuthGrant | None
    place: Place = Place.HEADER
    name: str = "Authorization"
    scheme: str = ""

    def fits(self, scheme: SecurityScheme) -> bool:
        """Return whether it provides the scheme: it is configured for it, or has its kind and place."""
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
    """The credentials of one source, and their selection for an operation.

    `headers` are sent with every call, before the credentials, which win. `login` is the grant of whoever is logged in
    at the service; it is used while somebody is, where nothing else is configured.
    """

    def __init__(
        self,
        source: str,
        configured: Iterable[Configured] = (),
        *,
        has_certificate: bool = False,
        headers: Iterable[Credential] = (),
        login: OAuthGrant | None = None,
    ) -> None:
        self._source = source
        self.configured = tuple(configured)
        self.headers = tuple(headers)
        self.login = login
        self._login = None if login is None else Configured(SchemeKind.OAUTH2, login)
        self._has_certificate = has_certificate

    @classmethod
    def none(cls, source: str) -> Authentication:
        """Return the authentication of a service that needs no credentials, despite its document."""
        return cls(source, [Configured(SchemeKind.NONE, None)])

    @property
    def has_credentials(self) -> bool:
        """Whether there is any credential to send."""
        return any(one.supply is not None for one in self.usable)

    @property
    def is_logged_in(self) -> bool:
        """Whether somebody is logged in at the service now."""
        return self.login is not None and self.login.store is not None and self.login.store.is_for(self.login.server)

    @property
    def usable(self) -> tuple[Configured, ...]:
        """The configured credentials, and last the login of whoever is logged in."""
        login = self._login if self.is_logged_in else None
        return self.configured if login is None else (*self.configured, login)

    def chosen(self, required: Requirements) -> tuple[Configured, ...]:
        """Return the credentials for an operation. Raises CredentialsMissing if no alternative is fully configured.

        The first configured alternative is used. An empty one (`{}`) comes last, so that configured credentials are
        sent.
        """
        always = [one for one in self.configured if one.scheme == ALWAYS]
        if required is None:
            return _without_doubles([*always, *(one for one in self.usable if one.kind is not SchemeKind.NONE)])
        missing: list[list[SecurityScheme]] = []
        for alternative in sorted(required, key=lambda schemes: not schemes):
            supplied = [self._for(scheme) for scheme in alternative]
            absent = [scheme for scheme, one in zip(alternative, supplied, strict=True) if one is None]
            if not absent:
                return _without_doubles([*always, *(one for group in supplied for one in group or ())])
            missing.append(absent)
        if required and not always:
            raise self._missing(required, min(missing, key=len))
        return _without_doubles(always)

    def _for(self, scheme: SecurityScheme) -> tuple[Configured, ...] | None:
        """Return what is sent for a scheme, None if nothing is configured for it."""
        if scheme.kind == SchemeKind.MUTUAL_TLS and self._has_certificate:
            return ()
        fitting = sorted((one for one in self.usable if one.fits(scheme)), key=lambda one: not one.scheme)
        if not fitting:
            return None
        return () if fitting[0].kind is SchemeKind.NONE else (fitting[0],)

    def _missing(
        self, required: tuple[tuple[SecurityScheme, ...], ...], first: list[SecurityScheme]
    ) -> CredentialsMissing:
        schemes = in_words(required)
        others = [alternative for alternative in required if not any(scheme.is_login for scheme in alternative)]
        may_log_in = self.login is not None and len(others) < len(required)
        if may_log_in and not others:
            return login_needed(
                self._source, f"{self._source} requires a login here ({schemes}), and nobody is logged in"
            )
        written = [scheme.configuration(self._source) for scheme in first]
        lines = [f"    - {line}" for line in written if line.startswith("{")]
        lines = [*(["  credentials:"] if lines else []), *lines, *(f"  {line}" for line in written if line[0] != "{")]
        other = (
            f'`scheme: "{ALWAYS}"` at an existing credential, if the service accepts it'
            if self.configured
            else "`credentials: [{kind: none}]`, if this service needs none"
        )
        login = f"Run `codemode auth login {self._source}`, or write" if may_log_in else "Write"
        message = (
            f"{self._source} requires {schemes} here, which is not configured; nothing was sent. {login} under "
            f"sources.{self._source} (or {other}):\n" + "\n".join(lines)
        )
        hint = f"the operator has not configured the credentials that {self._source} requires here ({schemes})"
        return CredentialsMissing(message, hint=hint)


def login_needed(source: str, reason: str) -> CredentialsMissing:
    """Return the error of a call that the operator's login would allow."""
    message = f"{reason}; run: codemode auth login {source}"
    return CredentialsMissing(message, hint=f"{reason}: the operator must log in")


def challenge_parameter(challenge: str, name: str) -> str:
    """Return a parameter of a `WWW-Authenticate` header, empty if it has none of that name (RFC 9110, 11.2)."""
    for match in _PARAMETER.finditer(challenge):
        if match[1].lower() == name:
            return match[2] or match[3] or ""
    return ""


#: A parameter of a challenge: its name, and its value in quotes or without.
_PARAMETER = re.compile(r'(?<![\w-])([\w-]{1,40})\s{0,8}=\s{0,8}(?:"([^"]*)"|([^\s,"]+))')


def challenge_advice(challenge: str) -> str:
    """Return what to do about the `WWW-Authenticate` header of a rejected request. Empty for bearer and basic."""
    scheme = challenge.strip().partition(" ")[0].rstrip(",")
    if scheme.lower() in _CHALLENGES:
        return f"; it asks for HTTP {scheme} authentication, which is not supported"
    if scheme.lower() in ("", "bearer", "basic") or not scheme.isalnum():
        return ""
    return f"; it asks for the prefix {scheme}: the operator can set `prefix: {scheme}` at a credential of kind api_key"


def in_words(required: Requirements) -> str:
    """Return an operation's requirements for readers: `key and application, or token`."""
    if required is None:
        return "unspecified"
    alternatives = [" and ".join(scheme.name for scheme in schemes) or "none" for schemes in required]
    return ", or ".join(alternatives) or "none"


def _without_doubles(chosen: Iterable[Configured]) -> tuple[Configured, ...]:
    """Keep the first credential of each place."""
    by_place: dict[tuple[Place, str], Configured] = {}
    for one in chosen:
        by_place.setdefault((one.place, one.name.lower()), one)
    return tuple(by_place.values())
