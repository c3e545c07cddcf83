"""Logins of the operator at a source: as configured, or as the source's own server asks for them."""

from __future__ import annotations

import asyncio
import webbrowser
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError, SourceError
from codemode.executions.journal.configured import store_of
from codemode.serving.output import terminal as show
from codemode.settings import OAuth2Credential, SecretReference, Secrets
from codemode.text.nearest import did_you_mean
from codemode.transports.auth.token_store import TokenStore
from codemode.transports.oauth.client_document import client_address

if TYPE_CHECKING:
    from codemode.settings import Settings, SourceSettings
    from codemode.shared.values import ValueStore
    from codemode.sources.loaded import Surface
    from codemode.transports.auth.token_store import Tokens
    from codemode.transports.oauth.login import Login

#: Exit code of a command after which a person must log in.
WAITS_FOR_LOGIN = 75


@dataclass(frozen=True, slots=True)
class LoginOptions:
    """The options of a login. `client_id` is a client that the operator has registered, with its secret's variable."""

    browser: bool = True
    device: bool = False
    client_id: str = ""
    client_secret_env: str = ""
    scopes: tuple[str, ...] = ()
    redirect_port: int = 0

    @property
    def is_of_discovery(self) -> bool:
        """Whether an option is set that a configured login has in its settings."""
        return bool(self.client_id or self.client_secret_env or self.scopes or self.redirect_port or self.device)


def log_in(name: str, settings: Settings, options: LoginOptions) -> None:
    """Log in at a source, and store its tokens. Prints the address to open. Raises ConfigurationError, CallError."""
    source_named(name, settings)
    with closing(store_of(settings, Secrets())) as store:
        value = store.value("tokens", name)
        kept = TokenStore(value, name)
        tokens = asyncio.run(_log_in(name, settings, store, options, kept.read()))
        try:
            kept.write(tokens)
        except OSError as error:
            message = f"cannot store the tokens in {value.title}: {error.strerror}"
            raise ConfigurationError(message) from None


async def _log_in(
    name: str, settings: Settings, store: ValueStore, options: LoginOptions, before: Tokens | None
) -> Tokens:
    from codemode.transports.oauth.login import log_in_by_browser, log_in_by_device

    source = settings.sources[name]
    setting = configured_login(name, source)
    if setting is not None:
        if options.is_of_discovery:
            message = f"the login at {name} is configured: set its client and scopes in sources.{name}.credentials"
            raise ConfigurationError(message)
        login, by_device = planned(name, source, store), setting.flow == "device_code"
    else:
        login = await _discovered(name, settings, store, options, before)
        wants_device = options.device or not options.browser or not login.authorization_url
        by_device = bool(login.device_url) and wants_device
        show.errors.print(show.plain(f"{name} logs in at {login.named_issuer}{_scopes(login)}"), soft_wrap=True)
        if options.device and not by_device:
            message = f"{login.named_issuer} offers no login by a code on another device: leave out --device"
            raise ConfigurationError(message)

    def tell(address: str) -> None:
        show.errors.print(show.plain(f"open {address}"), soft_wrap=True)
        if options.browser and not by_device:
            webbrowser.open(address)

    return await (log_in_by_device if by_device else log_in_by_browser)(login, tell)


def _scopes(login: Login) -> str:
    return f", for the scopes {' '.join(login.grant.scopes)}" if login.grant.scopes else ""


async def _discovered(
    name: str, settings: Settings, store: ValueStore, options: LoginOptions, before: Tokens | None
) -> Login:
    from codemode.sources.authentication import declared_login
    from codemode.transports.oauth.discovery import discover_api_login, discover_login
    from codemode.transports.oauth.registration import OwnClient

    source = settings.sources[name]
    server = source.login_server
    if not server:
        raise ConfigurationError(no_login(name))
    again = before if before is not None and before.server == server else None
    scopes = (*options.scopes, *(f"{again.scope} {again.wanted}".split() if again is not None and again.wanted else ()))
    client = OwnClient(
        options.client_id,
        _secret(options.client_secret_env),
        scopes,
        options.redirect_port,
        client_address(settings.server.public_url),
    )
    if source.is_mcp:
        return await discover_login(server, name, client=client, ca_file=_ca_file(source))
    address = source.base_url or source.location
    declared = declared_login(await _surface(name, settings, store), address)
    return await discover_api_login(address, name, declared, server=server, client=client, ca_file=_ca_file(source))


async def _surface(name: str, settings: Settings, store: ValueStore) -> Surface:
    """Return what a source declares, nothing if it cannot be read before the login."""
    from codemode.sources.factory import load_source
    from codemode.sources.loaded import Surface
    from codemode.sources.source import SourceContext

    try:
        context = SourceContext(store=store, cache=settings.cache() / "catalogs")
        source = await load_source(name, settings.sources[name], context)
    except SourceError:
        return Surface(())
    await source.transport.aclose()
    return source.surface


def source_named(name: str, settings: Settings) -> SourceSettings:
    """Return a source. Raises ConfigurationError."""
    source = settings.sources.get(name)
    if source is None:
        there_are = f"; there are: {', '.join(settings.sources)}"
        message = f"there is no source {name!r}{did_you_mean(name, settings.sources) or there_are}"
        raise ConfigurationError(message)
    return source


def configured_login(name: str, source: SourceSettings) -> OAuth2Credential | None:
    """Return the credential of a source that needs a login. Raises ConfigurationError if there are several."""
    logins = [one for one in source.credentials if isinstance(one, OAuth2Credential) and one.is_login]
    if len(logins) > 1:
        message = f"sources.{name}.credentials: one login is possible, and {len(logins)} are configured"
        raise ConfigurationError(message)
    return logins[0] if logins else None


def no_login(name: str) -> str:
    """Return why nobody can log in at a source, and what to write."""
    return (
        f"the credentials of {name} are configured, or it has no URL. For a login there, remove them, or write one of "
        f"kind oauth2 with `flow: authorization_code` or `flow: device_code` under sources.{name}.credentials"
    )


def planned(name: str, source: SourceSettings, store: ValueStore, tokens: Tokens | None = None) -> Login:
    """Return the login that a source configures, else the one that stored `tokens` came from.

    Raises ConfigurationError.
    """
    from codemode.sources.authentication import grant_of
    from codemode.transports.oauth.login import Login
    from codemode.transports.oauth.stored_login import grant_in

    setting = configured_login(name, source)
    if setting is not None:
        return Login(
            source=name,
            grant=grant_of(name, setting, Secrets(), store),
            authorization_url=setting.authorization_url,
            device_url=setting.device_url,
            redirect_port=setting.redirect_port,
            ca_file=_ca_file(source),
        )
    if tokens is None:
        raise ConfigurationError(no_login(name))
    grant = grant_in(tokens, TokenStore(store.value("tokens", name), name))
    return Login(name, grant, revocation_url=tokens.revocation_url, ca_file=_ca_file(source))


def _secret(variable: str) -> str:
    return Secrets().text(SecretReference(env=variable)) if variable else ""


def _ca_file(source: SourceSettings) -> str | None:
    return None if source.ca_file is None else str(source.ca_file)
