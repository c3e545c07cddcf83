"""The login of a server that is not configured: who issues its tokens, and as which client we ask for them.

Protected resource metadata (RFC 9728), authorization server metadata (RFC 8414), and a client: an identifier that the
operator has, also the address of a client metadata document, else dynamic registration (RFC 7591). The models and the
rules of selection are those of the MCP SDK, in `mcp.client.auth`.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import httpx2
from mcp.client.auth import OAuthFlowError
from mcp.client.auth.oauth2 import check_registration_usable
from mcp.client.auth.utils import (
    build_protected_resource_metadata_discovery_urls,
    create_client_registration_request,
    extract_field_from_www_auth,
    get_client_metadata_scopes,
    handle_registration_response,
    union_scopes,
)
from mcp.shared.auth import OAuthClientMetadata, OAuthMetadata, ProtectedResourceMetadata
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url
from pydantic import ValidationError

from codemode.errors import AddressNotAllowed, ConfigurationError, UpstreamError
from codemode.transports.auth.grant import OAuthGrant
from codemode.transports.http.addresses import AddressKind, kind_of_address, origin
from codemode.transports.http.request import HttpRequest
from codemode.transports.oauth.exchange import open_exchange
from codemode.transports.oauth.login import Login
from codemode.transports.oauth.tokens import document_at, metadata_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from codemode.transports.http.exchange import Exchange

#: The method whose secret is a field of the form (RFC 7591, 2).
_IN_BODY = "client_secret_post"

#: How a client may authenticate at a token endpoint, best first. Revocation endpoints of the SDK want it in the form.
_CLIENT_METHODS = ("none", _IN_BODY, "client_secret_basic")

#: Statuses of answers that ask for a token, or for another one.
_CHALLENGED = (401, 403)

#: What a server without a session answers with its challenge.
_PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
_PING_HEADERS = (("Accept", "application/json, text/event-stream"), ("Content-Type", "application/json"))

_GRANTS = ("authorization_code", "refresh_token")
_DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


@dataclass(frozen=True, slots=True)
class OwnClient:
    """A client that the operator has registered. Without an `id`, codemode registers one.

    `scopes` are wanted besides those that the server names. `redirect_port` is 0 for any free port.
    """

    id: str = ""
    secret: str = ""
    scopes: tuple[str, ...] = ()
    redirect_port: int = 0


async def discover_login(
    server: str, source: str, *, client: OwnClient | None = None, ca_file: str | None = None
) -> Login:
    """Return the login of an MCP server at a URL.

    Raises UpstreamError if the server or its issuer publish nothing usable, AddressNotAllowed for an endpoint that
    the server may not name, ConfigurationError if no login is needed or the issuer registers no clients,
    UpstreamTimeout, UpstreamUnreachable.
    """
    client = client or OwnClient()
    challenge = await _challenge(server, source, ca_file)
    resource = await _resource_metadata(server, source, challenge, ca_file)
    if resource is None and challenge.status_code not in _CHALLENGED:
        message = f"{source} asks for no login: it answered {challenge.status_code}, and publishes no metadata for one"
        raise ConfigurationError(message)
    issuer = str(resource.authorization_servers[0]) if resource is not None else _origin_of(server)
    async with _reaching(issuer, server, source, ca_file) as exchange:
        published = await metadata_of(issuer, exchange)
    metadata = _checked_metadata(published, server, source)
    scopes = _scopes(challenge, resource, metadata, client)
    grant = OAuthGrant(
        token_url=str(metadata.token_endpoint),
        client_id=client.id,
        client_secret=client.secret,
        scopes=scopes,
        resource=_resource(server, resource),
        secret_in_body=_method(metadata, has_secret=bool(client.secret)) == _IN_BODY,
    )
    if not client.id and metadata.registration_endpoint is None:
        raise _no_client(source, issuer, metadata)
    return Login(
        source=source,
        grant=grant,
        authorization_url=str(metadata.authorization_endpoint),
        device_url=str(published.get("device_authorization_endpoint") or ""),
        redirect_port=client.redirect_port,
        ca_file=ca_file,
        issuer=str(metadata.issuer),
        names_issuer=bool(metadata.authorization_response_iss_parameter_supported),
        server=server,
        revocation_url=str(metadata.revocation_endpoint or ""),
        register=None if client.id else partial(_registered, grant, metadata, server, source, ca_file),
    )


def check_named(url: str, server: str, source: str) -> None:
    """Raise AddressNotAllowed for an address that a server may not send us to for its login.

    Addresses on its own origin are allowed, and https elsewhere: names, and public IP addresses. Only a server on this
    machine may name others on this machine.
    """
    try:
        place, own = origin(url), origin(server)
    except ConfigurationError as error:
        message = f"{source} names no usable address for its login: {error}"
        raise AddressNotAllowed(message) from None
    if place == own or (_is_loopback(place.host) and _is_loopback(own.host)):
        return
    if place.scheme != "https" or _kind(place.host) not in (None, AddressKind.PUBLIC):
        message = f"{source} names {place.scheme}://{place.authority} for its login, which must be a public https host"
        raise AddressNotAllowed(message)


def _kind(host: str) -> AddressKind | None:
    """Return the kind of an IP address, None for a name."""
    try:
        ip_address(host)
    except ValueError:
        return AddressKind.LOOPBACK if host == "localhost" or host.endswith(".localhost") else None
    return kind_of_address(host)


def _is_loopback(host: str) -> bool:
    return _kind(host) is AddressKind.LOOPBACK


@asynccontextmanager
async def _reaching(url: str, server: str, source: str, ca_file: str | None) -> AsyncIterator[Exchange]:
    """Yield connections to an address that the server named."""
    check_named(url, server, source)
    exchange = open_exchange(source, (url,), ca_file=ca_file)
    try:
        yield exchange
    finally:
        await exchange.aclose()


async def _challenge(server: str, source: str, ca_file: str | None) -> httpx2.Response:
    """Return the server's answer to a request without a token, as the SDK's readers of challenges want it."""
    async with _reaching(server, server, source, ca_file) as exchange:
        answer = await exchange.send(HttpRequest("POST", server, _PING_HEADERS, _PING))
    header = answer.headers.get("www-authenticate", "")
    return httpx2.Response(answer.status, headers={"www-authenticate": header.encode("ascii", "replace").decode()})


async def _resource_metadata(
    server: str, source: str, challenge: httpx2.Response, ca_file: str | None
) -> ProtectedResourceMetadata | None:
    named = extract_field_from_www_auth(challenge, "resource_metadata")
    for url in build_protected_resource_metadata_discovery_urls(named, server):
        async with _reaching(url, server, source, ca_file) as exchange:
            data = await document_at(url, exchange)
        try:
            metadata = ProtectedResourceMetadata.model_validate(data)
        except ValidationError:
            continue
        own = resource_url_from_server_url(server)
        if not check_resource_allowed(requested_resource=own, configured_resource=str(metadata.resource)):
            message = f"{source}: the metadata at {url} are those of another server, {metadata.resource}"
            raise UpstreamError(message)
        return metadata
    return None


def _checked_metadata(published: Mapping[str, Any], server: str, source: str) -> OAuthMetadata:
    """Return the metadata of an issuer, whose endpoints the server may name. Raises UpstreamError."""
    try:
        metadata = OAuthMetadata.model_validate(published)
    except ValidationError as error:
        first = error.errors()[0]
        message = (
            f"{source}: the metadata of its issuer are invalid: {'.'.join(map(str, first['loc']))}: {first['msg']}"
        )
        raise UpstreamError(message) from None
    methods = metadata.code_challenge_methods_supported
    if methods is not None and "S256" not in methods:
        message = (
            f"{source}: its issuer {metadata.issuer} does not support PKCE with S256 (RFC 7636), so no login is safe"
        )
        raise UpstreamError(message)
    for key, value in published.items():
        if key.endswith("_endpoint") and isinstance(value, str):
            check_named(value, server, source)
    return metadata


def _resource(server: str, metadata: ProtectedResourceMetadata | None) -> str:
    return resource_url_from_server_url(server) if metadata is None else str(metadata.resource)


def _scopes(
    challenge: httpx2.Response,
    resource: ProtectedResourceMetadata | None,
    metadata: OAuthMetadata,
    client: OwnClient,
) -> tuple[str, ...]:
    """Return the scopes to ask for: those that the server names and those that the operator wants."""
    named = extract_field_from_www_auth(challenge, "scope")
    is_named = named is not None or (resource is not None and resource.scopes_supported is not None)
    server_scopes = get_client_metadata_scopes(named, resource, metadata, list(_GRANTS)) if is_named else None
    return tuple((union_scopes(" ".join(client.scopes), server_scopes) or "").split())


def _method(metadata: OAuthMetadata, *, has_secret: bool) -> str:
    """Return how the client authenticates at the token endpoint."""
    supported = metadata.token_endpoint_auth_methods_supported
    usable = _CLIENT_METHODS[1:] if has_secret else _CLIENT_METHODS
    if supported is None:  # RFC 8414, 2
        return usable[-1] if has_secret else usable[0]
    return next((method for method in usable if method in supported), usable[0])


async def _registered(
    grant: OAuthGrant, metadata: OAuthMetadata, server: str, source: str, ca_file: str | None, redirect_url: str
) -> OAuthGrant:
    """Register a client for a redirect address, and return its grant (RFC 7591). Raises UpstreamError."""
    wanted = OAuthClientMetadata.model_validate(
        {
            "client_name": "codemode",
            "redirect_uris": [redirect_url],
            "grant_types": [*_GRANTS, *(g for g in metadata.grant_types_supported or () if g == _DEVICE_GRANT)],
            "token_endpoint_auth_method": _method(metadata, has_secret=False),
            "scope": " ".join(grant.scopes) or None,
        }
    )
    request = create_client_registration_request(metadata, wanted, server)
    url = str(request.url)
    async with _reaching(url, server, source, ca_file) as exchange:
        headers = (("Accept", "application/json"), ("Content-Type", "application/json"))
        answer = await exchange.send(HttpRequest("POST", url, headers, request.content))
    try:
        client = await handle_registration_response(httpx2.Response(answer.status, content=answer.body))
        check_registration_usable(client)
    except OAuthFlowError as error:
        message = f"{source}: its issuer {metadata.issuer} registered no client: {error}"[:500]
        raise UpstreamError(message, status=answer.status) from None
    is_in_body = client.token_endpoint_auth_method == _IN_BODY
    return replace(
        grant, client_id=client.client_id, client_secret=client.client_secret or "", secret_in_body=is_in_body
    )


def _no_client(source: str, issuer: str, metadata: OAuthMetadata) -> ConfigurationError:
    forms = "its identifier"
    if metadata.client_id_metadata_document_supported:
        forms = "its identifier, or the https address of its metadata document"
    return ConfigurationError(
        f"the issuer {issuer} of {source} registers no clients by itself: create one there, with the redirect address "
        f"http://127.0.0.1:8400/callback, and run: codemode auth login {source} --redirect-port 8400 --client-id ID "
        f"(ID is {forms})"
    )


def _origin_of(server: str) -> str:
    place = origin(server)
    return f"{place.scheme}://{place.authority}"
