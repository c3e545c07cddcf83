"""Logins of the operator at a source: as configured, or as the source's own server asks for them."""

from __future__ import annotations

import asyncio
import secrets
import webbrowser
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import typer

from codemode.errors import ConfigurationError
from codemode.executions.journal.configured import store_of
from codemode.gateway.caller import LOCAL
from codemode.serving.cli.consent import has_terminal
from codemode.serving.cli.project_options import configuration
from codemode.serving.output import terminal as show
from codemode.settings import SecretReference, Secrets
from codemode.text.nearest import did_you_mean
from codemode.transports.auth.account import READER, Account
from codemode.transports.auth.token_store import TokenStore, token_name, token_store
from codemode.transports.oauth.client_document import client_address

if TYPE_CHECKING:
    from pathlib import Path

    from codemode.settings import Settings, SourceSettings
    from codemode.shared.values import ValueStore
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
    source, account = account_named(name, settings)
    with closing(store_of(settings, Secrets())) as store:
        value = store.value("tokens", token_name(source, account))
        kept = TokenStore(value, source)
        tokens = asyncio.run(_log_in(source, account, settings, store, options, kept.read()))
        try:
            kept.write(replace(tokens, login=tokens.login or secrets.token_hex(16)))
        except OSError as error:
            message = f"cannot store the tokens in {value.title}: {error.strerror}"
            raise ConfigurationError(message) from None


def account_named(name: str, settings: Settings) -> tuple[str, Account]:
    """Return the source and the account of `SOURCE` or `SOURCE/CONNECTION`. Raises ConfigurationError.

    A connection of which each caller has an own one is that of the caller without a key on this machine.
    """
    source, _, connection = name.partition("/")
    connections = source_named(source, settings).connections
    if not connection:
        return source, READER
    if connection not in connections:
        there_are = f"; there are: {', '.join(connections) or 'none'}"
        message = (
            f"there is no connection {connection!r} of {source}{did_you_mean(connection, connections) or there_are}"
        )
        raise ConfigurationError(message)
    return source, Account(connection, LOCAL.id if connections[connection].is_own else "")


def offer_login(name: str, message: str, config: Path) -> bool:
    """Ask at a terminal whether to log in now, else print how. Return whether somebody has logged in."""
    if has_terminal() and typer.confirm(f"{message}. Log in now?", default=True, err=True):
        log_in(name, configuration(config), LoginOptions())
        show.errors.print(show.plain(f"logged in to {name}"))
        return True
    show.errors.print(show.plain(f"{message}; run: codemode auth login {name}"), soft_wrap=True)
    return False


async def _log_in(
    name: str, account: Account, settings: Settings, store: ValueStore, options: LoginOptions, before: Tokens | None
) -> Tokens:
    from codemode.sources.logins import configured_login

    source = settings.sources[name].with_connection(account.connection)
    setting = configured_login(name, source)
    if setting is None:
        return await complete(await _discovered(name, account, settings, store, options, before), options, name)
    if options.is_of_discovery:
        message = f"the login at {name} is configured: set its client and scopes in sources.{name}.credentials"
        raise ConfigurationError(message)
    login = planned(name, source, store, account=account)
    return await _by(login, options, by_device=setting.flow == "device_code")


async def complete(login: Login, options: LoginOptions, name: str) -> Tokens:
    """Complete a login that was discovered, in the way that the options and the issuer have in common.

    Raises ConfigurationError, CallError.
    """
    wants_device = options.device or not options.browser or not login.authorization_url
    by_device = bool(login.device_url) and wants_device
    show.errors.print(show.plain(f"{name} logs in at {login.named_issuer}{_scopes(login)}"), soft_wrap=True)
    if options.device and not by_device:
        message = f"{login.named_issuer} offers no login by a code on another device: leave out --device"
        raise ConfigurationError(message)
    return await _by(login, options, by_device=by_device)


async def _by(login: Login, options: LoginOptions, *, by_device: bool) -> Tokens:
    from codemode.transports.oauth.login import log_in_by_browser, log_in_by_device

    def tell(address: str) -> None:
        show.errors.print(show.plain(f"open {address}"), soft_wrap=True)
        if options.browser and not by_device:
            webbrowser.open(address)

    return await (log_in_by_device if by_device else log_in_by_browser)(login, tell)


def _scopes(login: Login) -> str:
    return f", for the scopes {' '.join(login.grant.scopes)}" if login.grant.scopes else ""


async def _discovered(
    name: str, account: Account, settings: Settings, store: ValueStore, options: LoginOptions, before: Tokens | None
) -> Login:
    from codemode.sources.logins import discovered_login, no_login
    from codemode.transports.oauth.registration import OwnClient

    server = settings.sources[name].with_connection(account.connection).login_server
    if not server:
        raise ConfigurationError(no_login(name))
    again = before if before is not None and before.server == server else None
    scopes = (*options.scopes, *(f"{again.scope} {again.wanted}".split() if again is not None and again.wanted else ()))
    client = OwnClient(
        options.client_id,
        secret_of(options.client_secret_env),
        scopes,
        options.redirect_port,
        client_address(settings.server.public_url),
    )
    return await discovered_login(name, settings, store, client, account)


def source_named(name: str, settings: Settings) -> SourceSettings:
    """Return a source. Raises ConfigurationError."""
    source = settings.sources.get(name)
    if source is None:
        there_are = f"; there are: {', '.join(settings.sources)}"
        message = f"there is no source {name!r}{did_you_mean(name, settings.sources) or there_are}"
        raise ConfigurationError(message)
    return source


def planned(
    name: str, source: SourceSettings, store: ValueStore, tokens: Tokens | None = None, *, account: Account = READER
) -> Login:
    """Return the login that a source configures, else the one that stored `tokens` came from.

    `source` are the settings of the account. Raises ConfigurationError.
    """
    from codemode.sources.logins import ca_file_of, no_login, planned_login
    from codemode.transports.oauth.login import Login
    from codemode.transports.oauth.stored_login import grant_in

    login = planned_login(name, source, store, account)
    if login is not None:
        return login
    if tokens is None:
        raise ConfigurationError(no_login(name))
    grant = grant_in(tokens, token_store(name, account, store))
    return Login(name, grant, revocation_url=tokens.revocation_url, ca_file=ca_file_of(source))


def secret_of(variable: str) -> str:
    """Return the secret in an environment variable, "" for none. Raises EnvironmentIncomplete."""
    return Secrets().text(SecretReference(env=variable)) if variable else ""
