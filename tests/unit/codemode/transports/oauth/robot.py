"""A transport whose grant is a stored login."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.sources.openapi.document import load_openapi
from codemode.transports.auth.grant import OAuthGrant
from codemode.transports.auth.requirements import Authentication, Configured, SchemeKind
from codemode.transports.http.transport import HttpTransport, Reach
from codemode.transports.oauth.tokens import TokenSource

if TYPE_CHECKING:
    from codemode.transports.auth.token_store import TokenStore
    from tests.unit.codemode.transports.authorization_server import AuthorizationServer


def _transport(server: AuthorizationServer, store: TokenStore) -> HttpTransport:
    grant = OAuthGrant("", "robot", issuer=server.url, store=store)
    return HttpTransport(
        Reach("api", server.url, retries=0),
        authentication=Authentication("api", [Configured(SchemeKind.OAUTH2, grant)]),
        open_tokens=TokenSource,
    )


TOOL = load_openapi({"openapi": "3.1.0", "paths": {"/things": {"get": {"operationId": "op"}}}}, name="api").tools[0]
