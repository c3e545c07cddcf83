"""Turn credential settings into the credentials that a transport sends."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from codemode.errors import ConfigurationError
from codemode.settings import (
    ApiKeyCredential,
    AwsCredential,
    BasicCredential,
    BearerCredential,
    NoCredential,
    OAuth2Credential,
    SecretReference,
)
from codemode.text.nearest import did_you_mean
from codemode.transports.auth.account import READER
from codemode.transports.auth.credentials import Credential, Place
from codemode.transports.auth.grant import OAuthGrant
from codemode.transports.auth.requirements import ALWAYS, Authentication, CallerSupply, Configured, SchemeKind
from codemode.transports.auth.token_store import token_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from codemode.settings import CallerReference, CredentialSettings, Secrets, SourceSettings
    from codemode.shared.values import ValueStore
    from codemode.sources.loaded import Surface
    from codemode.transports.auth.account import Account
    from codemode.transports.auth.requirements import SecurityScheme


def authentication_of(
    name: str, settings: SourceSettings, secrets: Secrets, *, tokens: ValueStore, account: Account = READER
) -> Authentication:
    """Return the credentials of a source, with secrets resolved. `tokens` holds the OAuth logins.

    `settings` are those of the `account`.

    Blocks while commands print secrets. Raises ConfigurationError.
    """
    configured = [_configured(name, setting, secrets, tokens, account) for setting in settings.credentials]
    return Authentication(
        name,
        configured,
        has_certificate=settings.client_certificate is not None,
        headers=[_header(header, value, secrets) for header, value in settings.headers.items()],
        login=_login(name, settings, tokens, account),
    )


def declared_login(surface: Surface, address: str) -> SecurityScheme | None:
    """Return the login that a document declares, None if it declares none.

    Of several, it is the one that most operations require. Its `scopes` are theirs, and its addresses are absolute.
    """
    scopes: dict[str, dict[str, None]] = {scheme.name: {} for scheme in surface.auth if scheme.is_login}
    number = Counter[str]()
    for tool in surface.tools if scopes else ():
        for alternative in getattr(tool.invocation, "security", None) or ():
            login = next((scheme for scheme in alternative if scheme.is_login), None)
            if login is not None:
                scopes[login.name].update(dict.fromkeys(login.scopes))
                number[login.name] += 1
                break
    schemes = [scheme for scheme in surface.auth if scheme.is_login]
    if not schemes:
        return None
    scheme = max(schemes, key=lambda one: number[one.name])
    urls = {key: urljoin(address, getattr(scheme, key)) for key in _URLS if getattr(scheme, key)}
    return scheme._replace(scopes=tuple(scopes[scheme.name]), **urls)


#: The addresses of a login. A document may write them relative to its server (OpenAPI 3.1, 4.8.30).
_URLS = ("authorization_url", "token_url", "device_url", "metadata_url")


def _login(name: str, settings: SourceSettings, tokens: ValueStore, account: Account) -> OAuthGrant | None:
    if not settings.login_server:
        return None
    store = token_store(name, account, tokens)
    store.is_for(settings.login_server)  # reads the store now, in a thread
    return OAuthGrant("", "", store=store, server=settings.login_server)


def _header(name: str, value: SecretReference | str, secrets: Secrets) -> Credential:
    is_secret = isinstance(value, SecretReference)
    return Credential.header(
        name, secrets.text(value) if isinstance(value, SecretReference) else value, is_secret=is_secret
    )


def check_schemes(name: str, settings: SourceSettings, declared: Iterable[SecurityScheme]) -> None:
    """Raise ConfigurationError if a credential names a security scheme that the document does not declare."""
    known = [scheme.name for scheme in declared]
    for index, setting in enumerate(settings.credentials):
        scheme = "" if isinstance(setting, (NoCredential, AwsCredential)) else setting.scheme
        if scheme in ("", ALWAYS) or scheme in known:
            continue
        message = (
            f"sources.{name}.credentials.{index}.scheme: the document declares no security scheme {scheme!r}"
            f"{did_you_mean(scheme, known) or ';'} declared: {', '.join(known) or 'none'}"
        )
        raise ConfigurationError(message)


def grant_of(
    name: str, setting: OAuth2Credential, secrets: Secrets, tokens: ValueStore, account: Account = READER
) -> OAuthGrant:
    """Return the OAuth grant of a credential, with secrets resolved. Raises ConfigurationError."""
    return OAuthGrant(
        token_url=setting.token_url,
        client_id=setting.client_id,
        client_secret=secrets.text(setting.client_secret),
        scopes=setting.scopes,
        refresh_token=secrets.text(setting.refresh_token),
        audience=setting.audience,
        secret_in_body=setting.secret_in_body,
        issuer=setting.issuer,
        store=token_store(name, account, tokens) if setting.is_login else None,
    )


def _configured(
    name: str, setting: CredentialSettings, secrets: Secrets, tokens: ValueStore, account: Account
) -> Configured:
    match setting:
        case BearerCredential():
            supply = _supply(setting.token, Credential.bearer, secrets)
            return Configured(SchemeKind.BEARER, supply, scheme=setting.scheme)
        case BasicCredential():
            supply = _supply(setting.password, partial(Credential.basic, setting.username), secrets)
            return Configured(SchemeKind.BASIC, supply, scheme=setting.scheme)
        case ApiKeyCredential():
            location = Place(setting.location)
            supply = _supply(setting.value, partial(_key, location, setting.name, setting.prefix), secrets)
            return Configured(SchemeKind.API_KEY, supply, location, setting.name, setting.scheme)
        case OAuth2Credential():
            return Configured(
                SchemeKind.OAUTH2, grant_of(name, setting, secrets, tokens, account), scheme=setting.scheme
            )
        case NoCredential():
            return Configured(SchemeKind.NONE, None)
        case AwsCredential():
            message = f"sources.{name}.credentials: credentials of kind aws require a source of kind aws"
            raise ConfigurationError(message)


def _key(location: Place, name: str, prefix: str, value: str) -> Credential:
    return Credential.api_key(location, name, value, prefix=prefix)


def _supply(
    reference: CallerReference, make: Callable[[str], Credential], secrets: Secrets
) -> Credential | CallerSupply:
    if reference.caller is not None:
        return CallerSupply(reference.caller, make)
    return make(secrets.text(reference))
