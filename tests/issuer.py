"""An OpenID provider on loopback, made of Authlib's authorization server: code with PKCE, rotation, registration.

Its people agree at once. What a test changes (`person`, `id_claims`, `answer`) takes effect on the next request.
"""

from __future__ import annotations

import secrets
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin, TokenMixin, grants
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oidc.core import OpenIDCode, UserInfo
from flask import Flask, Response, jsonify, request
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from werkzeug.serving import WSGIRequestHandler, make_server

if TYPE_CHECKING:
    from collections.abc import Iterator

SCOPES = ("openid", "profile", "groups", "offline_access")


@dataclass
class Client(ClientMixin):  # type: ignore[misc]
    """A registered client. A public one has no secret."""

    client_id: str
    secret: str = ""
    redirect_uris: tuple[str, ...] = ()
    loopback: bool = False

    def get_client_id(self) -> str:
        return self.client_id

    def get_default_redirect_uri(self) -> str:
        return self.redirect_uris[0]

    def get_allowed_scope(self, scope: str | None) -> str:
        return " ".join(one for one in (scope or "").split() if one in SCOPES)

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        """RFC 8252, 7.3: any port of a loopback address."""
        return redirect_uri in self.redirect_uris or (self.loopback and redirect_uri.startswith("http://127.0.0.1:"))

    def check_client_secret(self, client_secret: str) -> bool:
        return bool(self.secret) and secrets.compare_digest(self.secret, client_secret)

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method in (("client_secret_basic", "client_secret_post") if self.secret else ("none",))

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in ("authorization_code", "refresh_token")


@dataclass
class Code(AuthorizationCodeMixin):  # type: ignore[misc]
    """An authorization code, for one use."""

    client_id: str
    redirect_uri: str
    scope: str
    person: str
    nonce: str | None
    code_challenge: str | None
    code_challenge_method: str | None
    resource: str | None

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.scope

    def get_nonce(self) -> str | None:
        return self.nonce

    def get_auth_time(self) -> int:
        return int(time.time())

    def get_acr(self) -> None:
        return None

    def get_amr(self) -> None:
        return None


@dataclass
class Refresh(TokenMixin):  # type: ignore[misc]
    """A refresh token, for one use."""

    client_id: str
    scope: str
    person: str

    def check_client(self, client: Client) -> bool:
        return client.client_id == self.client_id

    def get_scope(self) -> str:
        return self.scope


@dataclass
class Issuer:
    """A running provider, and what it does next.

    `person` is logged in at its pages; None refuses. `groups` are those of each person. `id_claims` replace claims of
    identity tokens, and `access_claims` those of access tokens, of which `audience` is the usual `aud`. `answer` are
    parameters that replace those of its redirects. `asked` are the requests for codes, and `posted` those for tokens.
    """

    url: str = ""
    person: str | None = "ann"
    groups: dict[str, list[str]] = field(default_factory=lambda: {"ann": ["staff"], "bob": ["visitors"]})
    audience: str = "codemode"
    id_claims: dict[str, Any] = field(default_factory=dict)
    access_claims: dict[str, Any] = field(default_factory=dict)
    answer: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    clients: dict[str, Client] = field(default_factory=dict)
    codes: dict[str, Code] = field(default_factory=dict)
    refresh: dict[str, Refresh] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)
    posted: list[dict[str, str]] = field(default_factory=list)
    key: RSAKey = field(
        default_factory=lambda: RSAKey.generate_key(2048, {"kid": secrets.token_hex(4), "use": "sig", "alg": "RS256"})
    )

    def client(self, id_: str = "console", *, secret: str = "", redirect: str = "", loopback: bool = False) -> Client:
        """Register a client."""
        self.clients[id_] = Client(id_, secret, (redirect,) if redirect else (), loopback)
        return self.clients[id_]

    def access_token(self, person: str, **claims: Any) -> str:
        """Return a signed access token (RFC 9068)."""
        now = int(time.time())
        usual = {"iss": self.url, "sub": person, "aud": self.audience, "iat": now, "exp": now + 600}
        usual |= {"groups": self.groups.get(person, []), "jti": secrets.token_hex(8)}
        whole = {**usual, **self.access_claims, **claims}
        return str(jwt.encode({"alg": "RS256", "kid": self.key.kid, "typ": "at+jwt"}, whole, self.key))

    def published(self) -> dict[str, Any]:
        """OpenID Connect Discovery 1.0, 3."""
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks",
            "registration_endpoint": f"{self.url}/register",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
            "scopes_supported": list(SCOPES),
            "authorization_response_iss_parameter_supported": True,
            **self.metadata,
        }


class _CodeGrant(grants.AuthorizationCodeGrant):  # type: ignore[misc]
    TOKEN_ENDPOINT_AUTH_METHODS = ("client_secret_basic", "client_secret_post", "none")

    def save_authorization_code(self, code: str, asked: Any) -> None:
        data = asked.payload.data
        chosen = [data.get(name) for name in ("nonce", "code_challenge", "code_challenge_method", "resource")]
        of = (asked.client.client_id, asked.payload.redirect_uri, asked.scope or "", asked.user)
        self.server.issuer.codes[code] = Code(*of, *chosen)

    def query_authorization_code(self, code: str, client: Client) -> Code | None:
        found = self.server.issuer.codes.get(code)
        return found if found is not None and found.client_id == client.client_id else None

    def delete_authorization_code(self, authorization_code: Code) -> None:
        codes = self.server.issuer.codes
        for text in [text for text, code in codes.items() if code is authorization_code]:
            del codes[text]

    def authenticate_user(self, authorization_code: Code) -> str:
        return authorization_code.person


class _RefreshGrant(grants.RefreshTokenGrant):  # type: ignore[misc]
    TOKEN_ENDPOINT_AUTH_METHODS = ("client_secret_basic", "client_secret_post", "none")
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token: str) -> Refresh | None:
        found: Refresh | None = self.server.issuer.refresh.get(refresh_token)
        return found

    def authenticate_user(self, refresh_token: Refresh) -> str:
        return refresh_token.person

    def revoke_old_credential(self, refresh_token: Refresh) -> None:
        stored = self.server.issuer.refresh
        for text in [text for text, one in stored.items() if one is refresh_token]:
            del stored[text]


class _Identity(OpenIDCode):  # type: ignore[misc]
    def __init__(self, issuer: Issuer) -> None:
        super().__init__()
        self._issuer = issuer

    def exists_nonce(self, nonce: str, _: Any) -> bool:
        return any(code.nonce == nonce for code in self._issuer.codes.values())

    def get_client_algorithm(self, _: Client) -> str:
        return "RS256"

    def get_encode_header(self, _: Client) -> dict[str, str]:
        return {"alg": "RS256", "kid": str(self._issuer.key.kid)}

    def resolve_client_private_key(self, _: Client) -> RSAKey:
        return self._issuer.key

    def get_compatible_claims(self, asked: Any) -> dict[str, Any]:
        now = int(time.time())
        return {"iss": self._issuer.url, "aud": [asked.client.client_id], "iat": now, "exp": now + 300}

    def generate_user_info(self, user: str, _: str) -> UserInfo:
        known = {"sub": user, "name": user.title(), "groups": self._issuer.groups.get(user, [])}
        return UserInfo({**known, **self._issuer.id_claims})


class _Server(AuthorizationServer):  # type: ignore[misc]
    """Authlib's server, with the clients and tokens of an issuer."""

    def __init__(self, app: Flask, issuer: Issuer) -> None:
        self.issuer = issuer
        super().__init__(app, query_client=issuer.clients.get, save_token=self._save)
        self.scopes_supported = list(SCOPES)
        self.register_token_generator("default", self._tokens)
        self.register_grant(_CodeGrant, [_Identity(issuer), CodeChallenge(required=True)])
        self.register_grant(_RefreshGrant)

    def _tokens(self, *, user: str, scope: str, **_: Any) -> dict[str, Any]:
        token = {"access_token": self.issuer.access_token(user), "token_type": "Bearer", "expires_in": 600}
        return {**token, "scope": scope, "refresh_token": secrets.token_urlsafe(24)}

    def _save(self, token: dict[str, Any], asked: Any) -> None:
        of = (asked.client.client_id, token["scope"], asked.user)
        self.issuer.refresh[token["refresh_token"]] = Refresh(*of)


def _application(issuer: Issuer) -> Flask:
    app = Flask("issuer")
    server = _Server(app, issuer)

    @app.get("/.well-known/openid-configuration")
    @app.get("/.well-known/oauth-authorization-server")
    def published() -> Response:
        return jsonify(issuer.published())

    @app.get("/jwks")
    def jwks() -> Response:
        return jsonify(KeySet([issuer.key]).as_dict(private=False))

    @app.post("/register")
    def register() -> tuple[Response, int]:
        """RFC 7591, for public clients."""
        wanted = request.get_json()
        made = issuer.client(secrets.token_hex(8))
        made.redirect_uris = tuple(wanted["redirect_uris"])
        return jsonify({**wanted, "client_id": made.client_id, "token_endpoint_auth_method": "none"}), 201

    @app.get("/authorize")
    def authorize() -> Response:
        issuer.asked.append(request.args.to_dict())
        grant = server.get_consent_grant(end_user=issuer.person)
        answer: Response = server.create_authorization_response(grant=grant, grant_user=issuer.person)
        replaced = {"iss": issuer.url, **issuer.answer}
        place, _, query = answer.location.partition("?")
        kept = [part for part in query.split("&") if part.partition("=")[0] not in replaced]
        changed = [f"{name}={value}" for name, value in replaced.items() if value]
        answer.location = f"{place}?{'&'.join([*kept, *changed])}"
        return answer

    @app.post("/token")
    def token() -> Response:
        issuer.posted.append(request.form.to_dict())
        made: Response = server.create_token_response()
        return made

    return app


class _Quiet(WSGIRequestHandler):
    def log(self, *_: Any) -> None:
        """Log nothing."""


@contextmanager
def running() -> Iterator[Issuer]:
    """Run a provider in a thread, on a free loopback port."""
    issuer = Issuer()
    app = _application(issuer).wsgi_app

    def as_https(environ: dict[str, Any], start: Any) -> Any:
        """Answer as behind a proxy: Authlib refuses http, also on loopback."""
        return app({**environ, "wsgi.url_scheme": "https"}, start)

    server = make_server("127.0.0.1", 0, as_https, threaded=True, request_handler=_Quiet)
    issuer.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
