"""The login of a server that is not configured: who issues its tokens, and where.

Protected resource metadata (RFC 9728), what an API document declares (OpenAPI's `oauth2` and `openIdConnect`), and
authorization server metadata (RFC 8414). The models and the rules of selection are those of the MCP SDK.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2
from mcp.client.auth.utils import (
    build_protected_resource_metadata_discovery_urls,
    extract_field_from_www_auth,
    get_client_metadata_scopes,
    union_scopes,
)
from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url
from pydantic import ValidationError

from codemode.errors import CallError, ConfigurationError, UpstreamError
from codemode.transports.auth.grant import OAuthGrant
from codemode.transports.http.request import HttpRequest
from codemode.transports.oauth.client_document import GRANTS
from codemode.transports.oauth.login import Login
from codemode.transports.oauth.registration import IN_BODY, OwnClient, method_of, with_client
from codemode.transports.oauth.server_reach import ServerReach
from codemode.transports.oauth.tokens import metadata_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from codemode.transports.auth.requirements import SecurityScheme

#: Statuses of answers that ask for a token, or for another one.
_CHALLENGED = (401, 403)

#: What a server without a session answers with its challenge.
_PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
_PING_HEADERS = (("Accept", "application/json, text/event-stream"), ("Content-Type", "application/json"))

#: Well-known paths of an issuer's metadata (RFC 8414, OpenID Connect Discovery).
_WELL_KNOWN = ("/.well-known/openid-configuration", "/.well-known/oauth-authorization-server")

#: Parent folders of a token endpoint that are asked for an issuer's metadata.
_MOST_PARENTS = 5


async def discover_login(
    server: str, source: str, *, client: OwnClient | None = None, ca_file: str | None = None
) -> Login:
    """Return the login of an MCP server at a URL.

    Raises UpstreamError if the server or its issuer publish nothing usable, AddressNotAllowed for an endpoint that
    the server may not name, ConfigurationError if no login is needed or the issuer registers no clients,
    UpstreamTimeout, UpstreamUnreachable.
    """
    reach, client = ServerReach(server, source, ca_file), client or OwnClient()
    challenge = await _challenge(HttpRequest("POST", server, _PING_HEADERS, _PING), reach)
    resource = await _resource_metadata(challenge, reach)
    if resource is None and challenge.status_code not in _CHALLENGED:
        message = f"{source} asks for no login: it answered {challenge.status_code}, and publishes no metadata for one"
        raise ConfigurationError(message)
    published = await _published(_issuer(resource) or reach.origin, reach)
    scopes = _server_scopes(challenge, resource)
    audience = str(resource.resource) if resource is not None else resource_url_from_server_url(server)
    return await _login(published, scopes, audience, reach, client, server=server)


async def discover_api_login(
    address: str,
    source: str,
    declared: SecurityScheme | None,
    *,
    server: str,
    client: OwnClient | None = None,
    ca_file: str | None = None,
) -> Login:
    """Return the login of an API whose base URL is `address`. Its document may have `declared` one.

    The tokens are for `server` (see `SourceSettings.login_server`).
    What the service itself publishes comes first (RFC 9728). Raises what `discover_login` raises.
    """
    reach, client = ServerReach(address, source, ca_file), client or OwnClient()
    challenge = await _challenge(HttpRequest("GET", address, (("Accept", "application/json"),)), reach)
    resource = await _resource_metadata(challenge, reach)
    issuer = _issuer(resource)
    if issuer:
        published = await _published(issuer, reach)
    elif declared is not None:
        published = await _declared_metadata(declared, reach)
    else:
        message = (
            f"{source} says nowhere how to log in: its document declares no login, and {reach.origin} publishes no "
            f"metadata for one (RFC 9728). Write a credential under sources.{source}.credentials"
        )
        raise ConfigurationError(message)
    scopes = extract_field_from_www_auth(challenge, "scope")
    if scopes is None:
        of_operations = "" if declared is None else " ".join(declared.scopes)
        scopes = of_operations or _server_scopes(challenge, resource)
    audience = "" if resource is None else str(resource.resource)
    return await _login(published, scopes, audience, reach, client, server=server)


async def publishes_login(address: str, source: str, *, ca_file: str | None = None) -> bool:
    """Whether the service at an address publishes where its tokens come from (RFC 9728)."""
    reach = ServerReach(address, source, ca_file)
    try:
        challenge = await _challenge(HttpRequest("GET", address, (("Accept", "application/json"),)), reach)
        return bool(_issuer(await _resource_metadata(challenge, reach)))
    except CallError:
        return False


async def _login(
    published: Mapping[str, Any],
    scopes: str | None,
    resource: str,
    reach: ServerReach,
    client: OwnClient,
    *,
    server: str,
) -> Login:
    metadata = _checked_metadata(published, reach)
    grant = OAuthGrant(
        token_url=str(metadata.token_endpoint),
        client_id=client.id,
        client_secret=client.secret,
        scopes=_scopes(scopes, metadata, client),
        resource=resource,
        secret_in_body=method_of(metadata, has_secret=bool(client.secret)) == IN_BODY,
    )
    login = Login(
        source=reach.source,
        grant=grant,
        authorization_url=str(published.get("authorization_endpoint") or ""),
        device_url=str(published.get("device_authorization_endpoint") or ""),
        redirect_port=client.redirect_port,
        ca_file=reach.ca_file,
        issuer=str(published.get("issuer") or ""),
        names_issuer=bool(metadata.authorization_response_iss_parameter_supported),
        server=server,
        revocation_url=str(metadata.revocation_endpoint or ""),
    )
    return await with_client(login, client, metadata, reach)


async def _challenge(request: HttpRequest, reach: ServerReach) -> httpx2.Response:
    """Return the server's answer to a request without a token, as the SDK's readers of challenges want it."""
    answer = await reach.send(request)
    header = answer.headers.get("www-authenticate", "")
    return httpx2.Response(answer.status, headers={"www-authenticate": header.encode("ascii", "replace").decode()})


async def _resource_metadata(challenge: httpx2.Response, reach: ServerReach) -> ProtectedResourceMetadata | None:
    named = extract_field_from_www_auth(challenge, "resource_metadata")
    for url in build_protected_resource_metadata_discovery_urls(named, reach.server):
        data = await reach.document(url)
        try:
            metadata = ProtectedResourceMetadata.model_validate(data)
        except ValidationError:
            continue
        own = resource_url_from_server_url(reach.server)
        if not check_resource_allowed(requested_resource=own, configured_resource=str(metadata.resource)):
            message = f"{reach.source}: the metadata at {url} are those of another server, {metadata.resource}"
            raise UpstreamError(message)
        return metadata
    return None


def _issuer(resource: ProtectedResourceMetadata | None) -> str:
    return str(resource.authorization_servers[0]) if resource is not None and resource.authorization_servers else ""


async def _published(issuer: str, reach: ServerReach) -> Mapping[str, Any]:
    """Return what an issuer publishes. Raises UpstreamError."""
    async with reach.exchange(issuer) as exchange:
        return await metadata_of(issuer, exchange)


async def _declared_metadata(declared: SecurityScheme, reach: ServerReach) -> Mapping[str, Any]:
    """Return the metadata of the issuer that a document declares, else only the endpoints that it names.

    Raises UpstreamError.
    """
    if declared.metadata_url:
        return await _published(_without_well_known(declared.metadata_url), reach)
    endpoints = {
        "authorization_endpoint": declared.authorization_url,
        "token_endpoint": declared.token_url,
        "device_authorization_endpoint": declared.device_url,
    }
    endpoints = {name: url for name, url in endpoints.items() if url}
    for issuer in _possible_issuers(declared.token_url or declared.authorization_url):
        try:
            published = await _published(issuer, reach)
        except CallError:
            continue
        if all(published.get(name) == url for name, url in endpoints.items()):
            return published
    if "token_endpoint" not in endpoints:
        message = (
            f"the document of {reach.source} names no token endpoint: write a credential of kind oauth2 under "
            f"sources.{reach.source}.credentials"
        )
        raise UpstreamError(message)
    return endpoints


def _without_well_known(url: str) -> str:
    """Return the issuer whose metadata are at a URL."""
    for path in _WELL_KNOWN:
        url = url.replace(path, "", 1)
    return url


def _possible_issuers(endpoint: str) -> Iterator[str]:
    """Yield the folders above an endpoint, the nearest first: issuers are often one of them."""
    parts = urlsplit(endpoint)
    names = parts.path.strip("/").split("/")[:-1]
    for end in range(len(names), -1, -1)[-_MOST_PARENTS:]:
        yield "/".join((f"{parts.scheme}://{parts.netloc}", *names[:end]))


def _checked_metadata(published: Mapping[str, Any], reach: ServerReach) -> OAuthMetadata:
    """Return the metadata of an issuer, whose endpoints the server may name. Raises UpstreamError."""
    required = {name: published.get("token_endpoint") for name in ("issuer", "authorization_endpoint")}
    try:  # a document may name endpoints alone, and an issuer may offer only logins by another device
        metadata = OAuthMetadata.model_validate({**required, **published})
    except ValidationError as error:
        first = error.errors()[0]
        message = (
            f"{reach.source}: the metadata of its issuer are invalid: {'.'.join(map(str, first['loc']))}: "
            f"{first['msg']}"
        )
        raise UpstreamError(message) from None
    methods = metadata.code_challenge_methods_supported
    if methods is not None and "S256" not in methods:
        message = (
            f"{reach.source}: its issuer {metadata.issuer} does not support PKCE with S256 (RFC 7636), so no login is "
            "safe"
        )
        raise UpstreamError(message)
    for key, value in published.items():
        if key.endswith("_endpoint") and isinstance(value, str):
            reach.check(value)
    return metadata


def _server_scopes(challenge: httpx2.Response, resource: ProtectedResourceMetadata | None) -> str | None:
    """Return the scopes that the server names, None if it names none."""
    named = extract_field_from_www_auth(challenge, "scope")
    if named is not None or resource is None or resource.scopes_supported is None:
        return named
    return " ".join(resource.scopes_supported)


def _scopes(named: str | None, metadata: OAuthMetadata, client: OwnClient) -> tuple[str, ...]:
    """Return the scopes to ask for: those named, those that the operator wants, and what refreshing needs."""
    whole = named if named is None else get_client_metadata_scopes(named, None, metadata, list(GRANTS))
    return tuple((union_scopes(" ".join(client.scopes), whole) or "").split())
