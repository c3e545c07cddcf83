"""The login at a source: as its settings say, else as its server or its document says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError, SourceError
from codemode.settings import OAuth2Credential, Secrets
from codemode.sources.authentication import declared_login, grant_of
from codemode.transports.auth.account import READER

if TYPE_CHECKING:
    from codemode.settings import Settings, SourceSettings
    from codemode.shared.values import ValueStore
    from codemode.sources.loaded import Surface
    from codemode.transports.auth.account import Account
    from codemode.transports.oauth.login import Login
    from codemode.transports.oauth.registration import OwnClient


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


def planned_login(name: str, source: SourceSettings, store: ValueStore, account: Account = READER) -> Login | None:
    """Return the login that the settings of an account say, None if they say none. Raises ConfigurationError."""
    from codemode.transports.oauth.login import Login

    setting = configured_login(name, source)
    if setting is None:
        return None
    return Login(
        source=name,
        grant=grant_of(name, setting, Secrets(), store, account),
        authorization_url=setting.authorization_url,
        device_url=setting.device_url,
        redirect_port=setting.redirect_port,
        ca_file=ca_file_of(source),
    )


async def discovered_login(
    name: str, settings: Settings, store: ValueStore, client: OwnClient, account: Account = READER
) -> Login:
    """Return the login that the server of a source, or its document, names. Raises ConfigurationError, CallError."""
    from codemode.transports.oauth.discovery import discover_api_login, discover_login

    source = settings.sources[name].with_connection(account.connection)
    server = source.login_server
    if not server:
        raise ConfigurationError(no_login(name))
    if source.is_mcp:
        return await discover_login(server, name, client=client, ca_file=ca_file_of(source))
    address = source.base_url or source.location
    declared = declared_login(await _surface(name, settings, store), address)
    return await discover_api_login(address, name, declared, server=server, client=client, ca_file=ca_file_of(source))


def ca_file_of(source: SourceSettings) -> str | None:
    """Return the certificate authority of a source, None for the public ones."""
    return None if source.ca_file is None else str(source.ca_file)


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
