"""HTTP access to a source: fetch its documents and create the transport for its operations."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, TypeGuard

from codemode.errors import CallError, ConfigurationError, SourceError
from codemode.settings import AwsCredential, NoCredential, OAuth2Credential, is_url
from codemode.sources.authentication import authentication_of
from codemode.transports.auth.account import READER, Account
from codemode.transports.auth.credentials import Credential
from codemode.transports.auth.grant import OAuthGrant
from codemode.transports.connected import ConnectedTransport
from codemode.transports.http.addresses import PermittedOrigins, checked_base, is_same_origin, origin, without_userinfo
from codemode.transports.http.deferred import DeferredTransport
from codemode.transports.http.exchange import Exchange
from codemode.transports.http.fetch import BehindLogin, fetch_text
from codemode.transports.http.network import open_pool
from codemode.transports.http.transport import HttpTransport, Reach
from codemode.transports.oauth.stored_login import access_tokens

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codemode.settings import SourceSettings
    from codemode.sources.source import SourceContext
    from codemode.transports.auth.requirements import Authentication, CallerSupply
    from codemode.transports.base import AnsweringTransport

#: Headers that depend on the request (RFC 9110), and cookies, which are credentials.
_OF_TRANSPORT = frozenset(
    ("host", "connection", "content-length", "content-type", "transfer-encoding", "accept-encoding", "te", "cookie")
)

#: The largest response of a token endpoint.
_TOKEN_BYTES = 1024 * 1024


async def authentication(name: str, settings: SourceSettings, context: SourceContext) -> Authentication:
    """Return the credentials of a source, resolved in a thread: commands may print them. Raises ConfigurationError."""
    return await asyncio.to_thread(authentication_of, name, settings, context.secrets, tokens=context.store)


def http_transport(
    name: str, settings: SourceSettings, context: SourceContext, *, servers: tuple[str, ...] = ()
) -> AnsweringTransport:
    """Return the transport of an HTTP source. Secrets are read on the first call.

    `servers` are the base URLs that the document suggests. Raises ConfigurationError.
    """
    if not settings.connections:
        return _of_account(name, settings, context, servers, READER)

    async def open_(account: Account) -> DeferredTransport:
        return _of_account(name, settings.with_connection(account.connection), context, servers, account)

    for connection in settings.connections:
        _check_settings(name, settings.with_connection(connection))
    return ConnectedTransport(name, open_, idempotency_header=settings.idempotency_header)


def _of_account(
    name: str, settings: SourceSettings, context: SourceContext, servers: tuple[str, ...], account: Account
) -> DeferredTransport:
    reach = Reach(
        source=name,
        base_url=settings.base_url,
        address=settings.address,
        location=settings.location,
        servers=servers,
        permitted=settings.servers,
        timeout_s=settings.timeout_s,
        response_limit_bytes=settings.response_limit_bytes,
        retries=settings.retries,
        connection=" ".join(filter(None, (account.connection, account.owner))),
        concurrency=settings.concurrency,
        rate_per_s=settings.rate_per_s,
        idempotency_header=settings.idempotency_header,
        certificate=_certificate(settings),
        ca_file=_ca_file(settings),
    )
    _check_settings(name, settings)
    return DeferredTransport(
        name,
        partial(authentication_of, name, settings, context.secrets, tokens=context.store, account=account),
        lambda credentials: HttpTransport(
            reach,
            authentication=credentials,
            contents=context.contents,
            allowances=context.allowances,
            open_tokens=partial(access_tokens, ca_file=reach.ca_file),
        ),
        idempotency_header=settings.idempotency_header,
    )


def _check_settings(name: str, settings: SourceSettings) -> None:
    """Raise ConfigurationError for mistakes that show without reading secrets."""
    for url in filter(None, (settings.base_url, *settings.servers)):
        checked_base(url)
    for header in settings.headers:
        if header.lower() in _OF_TRANSPORT:
            message = f"sources.{name}.headers: {header} is set for each request, so it cannot be constant"
            raise ConfigurationError(message)
    if settings.client_certificate is not None or settings.ca_file is not None:
        open_pool(PermittedOrigins(()), certificate=_certificate(settings), ca_file=_ca_file(settings))
    for credential in settings.credentials:
        if isinstance(credential, AwsCredential):
            message = f"sources.{name}.credentials: credentials of kind aws require a source of kind aws"
            raise ConfigurationError(message)
        if isinstance(credential, OAuth2Credential):
            for address in filter(None, (credential.token_url, credential.issuer)):
                origin(address)


def fetch(name: str, settings: SourceSettings, context: SourceContext) -> Callable[[str], Awaitable[str]]:
    """Return a function that fetches the documents of a source with its network settings.

    The source's own credentials are sent only if the document requires a login, and only to the origin of its calls.
    """
    plain = partial(
        fetch_text,
        timeout_s=settings.timeout_s,
        address=settings.address if _shares_base(settings, by=lambda url: origin(url).host) else None,
        certificate=_certificate(settings),
        ca_file=_ca_file(settings),
    )

    async def fetched(url: str) -> str:
        try:
            return await plain(url)
        except BehindLogin as error:
            if without_userinfo(url) != url or not await _has_credentials(name, settings, context):
                raise
            if not _shares_base(settings, by=origin) or not is_same_origin(url, settings.location):
                message = f"{error.message}; this source's credentials are sent to {settings.base_url} only"
                raise SourceError(message, location=url, told=error.told) from None
        return await plain(url, credentials=await own_credentials(name, settings, context))

    return lambda url: context.documents.text(url, partial(fetched, url))


async def _has_credentials(name: str, settings: SourceSettings, context: SourceContext) -> bool:
    """Whether credentials are configured, or somebody is logged in."""
    if settings.headers or any(not isinstance(one, NoCredential) for one in settings.credentials):
        return True
    return (await authentication(name, settings, context)).is_logged_in


def _shares_base(settings: SourceSettings, *, by: Callable[[str], object]) -> bool:
    """Whether `by` returns the same for the URL of the document and the base URL of the operations."""
    location = without_userinfo(settings.location)
    return settings.base_url is None or not is_url(location) or by(settings.base_url) == by(location)


async def own_credentials(name: str, settings: SourceSettings, context: SourceContext) -> tuple[Credential, ...]:
    """Return the operator's credentials for a source, ready to send. Raises ConfigurationError or SourceError."""
    read = await authentication(name, settings, context)
    try:
        own = [await _resolved(name, one.supply, settings) for one in read.chosen(None) if is_own(one.supply)]
        return (*read.headers, *own)
    except CallError as error:
        message = f"its token cannot be fetched: {error}"
        raise SourceError(message, location=settings.location, told=error.for_model()) from None


def is_own(supply: Credential | CallerSupply | OAuthGrant | None) -> TypeGuard[Credential | OAuthGrant]:
    """Whether a credential is the operator's, not one that each caller supplies."""
    return isinstance(supply, (Credential, OAuthGrant))


async def _resolved(name: str, supply: Credential | OAuthGrant, settings: SourceSettings) -> Credential:
    if isinstance(supply, Credential):
        return supply
    pool = open_pool(PermittedOrigins(tuple(map(origin, supply.addresses))), most=1, ca_file=_ca_file(settings))
    exchange = Exchange(name, timeout_s=settings.timeout_s, limit_bytes=_TOKEN_BYTES, connections=pool)
    tokens = access_tokens(supply, exchange, name, ca_file=_ca_file(settings))
    try:
        return await tokens.credential()
    finally:
        await tokens.aclose()
        await exchange.aclose()


def _certificate(settings: SourceSettings) -> tuple[str, str] | None:
    pair = settings.client_certificate
    return None if pair is None else (str(pair.certificate), str(pair.key))


def _ca_file(settings: SourceSettings) -> str | None:
    return None if settings.ca_file is None else str(settings.ca_file)
