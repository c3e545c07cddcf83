"""The client of a login: one that the operator has, our metadata document (CIMD), else dynamic registration (RFC 7591).

The models and their checks are those of the MCP SDK, in `mcp.client.auth`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import httpx2
from mcp.client.auth import OAuthFlowError
from mcp.client.auth.oauth2 import check_registration_usable
from mcp.client.auth.utils import create_client_registration_request, handle_registration_response
from mcp.shared.auth import OAuthClientMetadata

from codemode.errors import CallError, ConfigurationError, UpstreamError
from codemode.transports.http.request import HttpRequest
from codemode.transports.oauth.client_document import DEVICE_GRANT, GRANTS, REDIRECT_PORT
from codemode.transports.oauth.exchange import open_exchange
from codemode.transports.oauth.tokens import document_at

if TYPE_CHECKING:
    from mcp.shared.auth import OAuthMetadata

    from codemode.transports.auth.grant import OAuthGrant
    from codemode.transports.oauth.login import Login
    from codemode.transports.oauth.server_reach import ServerReach

#: The method whose secret is a field of the form (RFC 7591, 2).
IN_BODY = "client_secret_post"

#: How a client may authenticate at a token endpoint, best first. Revocation endpoints of the SDK want it in the form.
_CLIENT_METHODS = ("none", IN_BODY, "client_secret_basic")


@dataclass(frozen=True, slots=True)
class OwnClient:
    """A client that the operator has registered. Without an `id`, codemode registers one.

    `document` is the address of our metadata document, empty if nothing publishes it. `scopes` are wanted besides those
    that the server names. `redirect_port` is 0 for any free port.
    """

    id: str = ""
    secret: str = ""
    scopes: tuple[str, ...] = ()
    redirect_port: int = 0
    document: str = ""


async def with_client(login: Login, client: OwnClient, metadata: OAuthMetadata, reach: ServerReach) -> Login:
    """Return a login with its client. Raises ConfigurationError if the issuer registers none by itself."""
    if client.id:
        return login
    if metadata.client_id_metadata_document_supported and await _is_published(client.document, reach):
        grant = replace(login.grant, client_id=client.document)
        return replace(login, grant=grant, preferred_port=REDIRECT_PORT)
    if metadata.registration_endpoint is None:
        raise ConfigurationError(_by_hand(login, metadata, "registers no clients by itself"))
    return replace(login, register=partial(_registered, login, metadata, reach))


def method_of(metadata: OAuthMetadata, *, has_secret: bool) -> str:
    """Return how the client authenticates at the token endpoint."""
    supported = metadata.token_endpoint_auth_methods_supported
    usable = _CLIENT_METHODS[1:] if has_secret else _CLIENT_METHODS
    if supported is None:  # RFC 8414, 2
        return usable[-1] if has_secret else usable[0]
    return next((method for method in usable if method in supported), usable[0])


async def _is_published(address: str, reach: ServerReach) -> bool:
    """Whether our document is at its address, where the issuer will look for it."""
    if not address:
        return False
    exchange = open_exchange(reach.source, (address,), ca_file=reach.ca_file)
    try:
        return (await document_at(address, exchange)).get("client_id") == address
    except CallError:
        return False
    finally:
        await exchange.aclose()


async def _registered(login: Login, metadata: OAuthMetadata, reach: ServerReach, redirect_url: str) -> OAuthGrant:
    """Register a client for a redirect address, and return its grant (RFC 7591). Raises UpstreamError."""
    grants = _grants(metadata)
    wanted = OAuthClientMetadata.model_validate(
        {
            "client_name": "codemode",
            "redirect_uris": [redirect_url],
            "grant_types": grants,
            "response_types": ["code"] if GRANTS[0] in grants else [],
            "token_endpoint_auth_method": method_of(metadata, has_secret=False),
            "scope": " ".join(login.grant.scopes) or None,
        }
    )
    request = create_client_registration_request(metadata, wanted, reach.server)
    headers = (("Accept", "application/json"), ("Content-Type", "application/json"))
    answer = await reach.send(HttpRequest("POST", str(request.url), headers, request.content))
    try:
        client = await handle_registration_response(httpx2.Response(answer.status, content=answer.body))
        check_registration_usable(client)
    except OAuthFlowError as error:
        message = _by_hand(login, metadata, f"registered no client: {error}"[:300])
        raise UpstreamError(message, status=answer.status) from None
    is_in_body = client.token_endpoint_auth_method == IN_BODY
    return replace(
        login.grant, client_id=client.client_id, client_secret=client.client_secret or "", secret_in_body=is_in_body
    )


def _grants(metadata: OAuthMetadata) -> list[str]:
    """Return the grants to register for: strict issuers reject those that they do not support."""
    supported = metadata.grant_types_supported
    return [*GRANTS] if supported is None else [grant for grant in (*GRANTS, DEVICE_GRANT) if grant in supported]


def _by_hand(login: Login, metadata: OAuthMetadata, reason: str) -> str:
    """Return why the issuer gives us no client, and what to do."""
    forms = "its identifier"
    if metadata.client_id_metadata_document_supported:
        forms = "its identifier, or the https address of its metadata document"
    return (
        f"the issuer {login.named_issuer} of {login.source} {reason}. Create one there, with the redirect address "
        f"http://127.0.0.1:{REDIRECT_PORT}/callback, and run: codemode auth login {login.source} "
        f"--redirect-port {REDIRECT_PORT} --client-id ID (ID is {forms})"
    )
