"""An authorization server of Authlib, run as a program: `authorization_server.py PORT OPTIONS`, OPTIONS as JSON.

The person agrees at once. `registration` is `dcr` (a public client), `confidential`, `cimd`, `by_hand` or `device`.
With `signs`, access tokens are JSON Web Tokens. `lose` is the number of answers to renewals that get lost, and
`grace` whether a spent refresh token is still good then.
With `strict_redirects`, ports of loopback addresses are compared, against RFC 8252. `ca_file` is for client documents.
"""

from __future__ import annotations

import json
import secrets
import ssl
import sys
import time
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector
from authlib.oauth2.rfc6749 import ClientMixin, TokenMixin, grants
from authlib.oauth2.rfc6750 import BearerTokenValidator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7591 import ClientRegistrationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant, DeviceCredentialDict
from authlib.oauth2.rfc9207 import IssuerParameter
from flask import Flask, jsonify, request
from joserfc import jwt
from joserfc.jwk import RSAKey

PORT, OPTIONS = int(sys.argv[1]), json.loads(sys.argv[2])
URL = f"http://127.0.0.1:{PORT}"
REGISTRATION = OPTIONS["registration"]
METHODS = {"confidential": ["client_secret_basic"], "by_hand": ["client_secret_post"]}.get(REGISTRATION, ["none"])
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"

app = Flask(__name__)
clients: dict[str, Client] = {}
codes: dict[str, Code] = {}
tokens: list[Token] = []
devices: dict[str, DeviceCredentialDict] = {}
approved: set[str] = set()
renewals: list[str] = []


class Client(ClientMixin):
    def __init__(self, client_id: str, metadata: dict[str, Any], secret: str = "") -> None:
        self.id, self.metadata, self.secret = client_id, metadata, secret

    def get_client_id(self) -> str:
        return self.id

    def get_default_redirect_uri(self) -> str:
        return str(self.metadata["redirect_uris"][0])

    def get_allowed_scope(self, scope: str) -> str:
        return scope

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        known = self.metadata["redirect_uris"]
        if OPTIONS.get("strict_redirects"):
            return redirect_uri in known
        return _without_port(redirect_uri) in map(_without_port, known)  # RFC 8252, 7.3

    def check_client_secret(self, client_secret: str) -> bool:
        return secrets.compare_digest(self.secret, client_secret)

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return bool(method == self.metadata.get("token_endpoint_auth_method", "client_secret_basic"))

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in self.metadata.get("grant_types", ["authorization_code", "refresh_token"])


class Code:
    def __init__(self, code: str, of: Any) -> None:
        self.code, self.client_id = code, of.client.id
        self.redirect_uri, self.scope = of.payload.redirect_uri, of.payload.scope or ""
        self.resource = of.payload.data.get("resource", "")
        self.code_challenge = of.payload.data["code_challenge"]
        self.code_challenge_method = of.payload.data["code_challenge_method"]

    def get_redirect_uri(self) -> str:
        return str(self.redirect_uri)

    def get_scope(self) -> str:
        return str(self.scope)


class Token(TokenMixin):
    def __init__(self, data: dict[str, Any], client_id: str, resource: str) -> None:
        self.data, self.client_id, self.resource = data, client_id, resource
        self.expires_at: float = time.time() + data["expires_in"]
        self.is_spent = self.is_dead = False

    def check_client(self, client: Client) -> bool:
        return bool(self.client_id == client.id)

    def get_scope(self) -> str:
        return str(self.data.get("scope", ""))

    def get_expires_in(self) -> int:
        return int(self.data["expires_in"])

    def is_expired(self) -> bool:
        return self.expires_at < time.time()

    def is_revoked(self) -> bool:
        return self.is_dead

    def get_user(self) -> str:
        return "ann"

    def get_client(self) -> Client | None:
        return query_client(self.client_id)


def query_client(client_id: str) -> Client | None:
    if REGISTRATION == "cimd" and client_id.startswith("https://"):
        context = ssl.create_default_context(cafile=OPTIONS["ca_file"])
        document = json.load(urlopen(client_id, timeout=20, context=context))
        return Client(client_id, document) if document["client_id"] == client_id else None
    return clients.get(client_id)


def save_token(token: dict[str, Any], of: Any) -> None:
    resource = of.payload.data.get("resource", "")
    tokens.append(Token(token, of.client.id, resource))


def _without_port(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}{parts.path}"


class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ("none", "client_secret_basic", "client_secret_post")

    def save_authorization_code(self, code: str, request: Any) -> None:
        codes[code] = Code(code, request)

    def query_authorization_code(self, code: str, client: Client) -> Code | None:
        one = codes.get(code)
        return one if one is not None and one.client_id == client.id else None

    def delete_authorization_code(self, authorization_code: Code) -> None:
        del codes[authorization_code.code]

    def authenticate_user(self, authorization_code: Code) -> str:
        return "ann"


class RefreshGrant(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = CodeGrant.TOKEN_ENDPOINT_AUTH_METHODS
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token: str) -> Token | None:
        renewals.append(refresh_token)
        one = next((one for one in tokens if one.data.get("refresh_token") == refresh_token), None)
        return None if one is None or (one.is_spent and not OPTIONS.get("grace")) else one

    def authenticate_user(self, refresh_token: Token) -> str:
        return "ann"

    def revoke_old_credential(self, refresh_token: Token) -> None:
        refresh_token.is_spent = refresh_token.is_dead = True


class MachineGrant(grants.ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ("client_secret_post",)


class DeviceGrant(DeviceCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = CodeGrant.TOKEN_ENDPOINT_AUTH_METHODS

    def query_device_credential(self, device_code: str) -> DeviceCredentialDict | None:
        return devices.get(device_code)

    def query_user_grant(self, user_code: str) -> tuple[str, bool] | None:
        return ("ann", True) if user_code in approved else None

    def should_slow_down(self, credential: DeviceCredentialDict) -> bool:
        return False


class Devices(DeviceAuthorizationEndpoint):
    CLIENT_AUTH_METHODS = ("none", "client_secret_basic", "client_secret_post")
    INTERVAL = 1

    def get_verification_uri(self) -> str:
        return f"{URL}/activate"

    def save_device_credential(self, client_id: str, scope: str, data: dict[str, Any]) -> None:
        devices[data["device_code"]] = DeviceCredentialDict(client_id=client_id, scope=scope, **data)


class Registration(ClientRegistrationEndpoint):
    def authenticate_token(self, request: Any) -> str:
        return "anybody"

    def generate_client_info(self, request: Any) -> dict[str, Any]:
        info = super().generate_client_info(request)
        return info if REGISTRATION == "confidential" else {key: info[key] for key in info if "secret" not in key}

    def save_client(self, client_info: dict[str, Any], client_metadata: dict[str, Any], request: Any) -> Client:
        client = Client(client_info["client_id"], client_metadata, client_info.get("client_secret", ""))
        clients[client.id] = client
        return client

    def get_server_metadata(self) -> dict[str, Any]:
        return metadata()


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = ("none", "client_secret_basic", "client_secret_post")

    def query_token(self, token_string: str, token_type_hint: str) -> Token | None:
        held = (one for one in tokens if token_string in (one.data["access_token"], one.data.get("refresh_token")))
        return next(held, None)

    def revoke_token(self, token: Token, request: Any) -> None:
        token.is_dead = token.is_spent = True


class Issuer(IssuerParameter):
    def get_issuer(self) -> str:
        return str(OPTIONS.get("iss", URL))


def metadata() -> dict[str, Any]:
    has_codes = REGISTRATION != "device"
    return {
        "issuer": URL,
        "token_endpoint": f"{URL}/token",
        "revocation_endpoint": f"{URL}/revoke",
        "token_endpoint_auth_methods_supported": METHODS,
        "authorization_response_iss_parameter_supported": True,
        "code_challenge_methods_supported": ["S256"],
        "grant_types_supported": ["authorization_code", "refresh_token"] if has_codes else [DEVICE, "refresh_token"],
        "response_types_supported": ["code"],
        "scopes_supported": ["orders", "offline_access"],
        "client_id_metadata_document_supported": REGISTRATION == "cimd",
        **({"authorization_endpoint": f"{URL}/authorize"} if has_codes else {}),
        **({} if has_codes else {"device_authorization_endpoint": f"{URL}/device"}),
        **({} if REGISTRATION in ("by_hand", "cimd") else {"registration_endpoint": f"{URL}/register"}),
    }


def signed(client: Client, grant_type: str, user: str, scope: str) -> str:
    """Return an access token that its resource server reads by the keys of the issuer (RFC 9068)."""
    claims = {"iss": URL, "sub": user, "aud": request.form["resource"], "exp": int(time.time()) + 3600, "scope": scope}
    return str(jwt.encode({"alg": "RS256", "typ": "at+jwt", "kid": "one"}, claims, KEY))


KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})

server = AuthorizationServer(app, query_client, save_token)
if OPTIONS.get("signs"):
    app.config["OAUTH2_ACCESS_TOKEN_GENERATOR"] = signed
app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
app.config["OAUTH2_TOKEN_EXPIRES_IN"] = {"authorization_code": OPTIONS.get("life_s", 3600)}
server.load_config(app.config)
if REGISTRATION == "device":
    server.register_grant(DeviceGrant)
else:
    server.register_grant(CodeGrant, [CodeChallenge(required=True)])
server.register_grant(RefreshGrant)
if REGISTRATION == "by_hand":
    server.register_grant(MachineGrant)
server.register_extension(Issuer())
for endpoint in (Devices, Registration, Revocation):
    server.register_endpoint(endpoint)
if REGISTRATION == "by_hand":
    clients["robot"] = Client(
        "robot",
        {
            "redirect_uris": ["http://127.0.0.1/callback"],
            "token_endpoint_auth_method": "client_secret_post",
            "grant_types": ["authorization_code", "refresh_token", "client_credentials"],
        },
        "s3cret-of-robot",
    )


def _live(token: str) -> Token | None:
    held = (one for one in tokens if one.data["access_token"] == token)
    return next((one for one in held if not one.is_dead and not one.is_expired()), None)


class Validator(BearerTokenValidator):
    def authenticate_token(self, token_string: str) -> Token | None:
        return _live(token_string)


require = ResourceProtector()
require.register_token_validator(Validator())


@app.get("/.well-known/oauth-authorization-server")
def published() -> Any:
    return jsonify(metadata())


@app.get("/authorize")
def authorize() -> Any:
    return server.create_authorization_response(grant_user="ann", grant=server.get_consent_grant(end_user="ann"))


@app.post("/token")
def token() -> Any:
    answer = server.create_token_response()
    if OPTIONS.get("lose") and request.form["grant_type"] == "refresh_token":
        OPTIONS["lose"] -= 1
        return "", 502
    return answer


@app.post("/device")
def device() -> Any:
    return server.create_endpoint_response(Devices.ENDPOINT_NAME)


@app.get("/activate")
def activate() -> Any:
    approved.add(request.args["user_code"])
    return "agreed"


@app.post("/register")
def register() -> Any:
    return server.create_endpoint_response(Registration.ENDPOINT_NAME)


@app.post("/revoke")
def revoke() -> Any:
    return server.create_endpoint_response(Revocation.ENDPOINT_NAME)


@app.post("/introspect")
def introspect() -> Any:
    one = _live(request.form["token"])
    if one is None:
        return {"active": False}
    return {"active": True, "client_id": one.client_id, "scope": one.get_scope(), "aud": one.resource}


@app.get("/keys")
def keys() -> Any:
    return {"keys": [KEY.as_dict(private=False)]}


@app.get("/seen")
def seen() -> Any:
    return {
        "clients": {one.id: one.metadata for one in clients.values()},
        "client_ids": [one.client_id for one in tokens],
        "live": [one.data["access_token"] for one in tokens if not one.is_dead],
        "secrets": [one.data[key] for one in tokens for key in ("access_token", "refresh_token") if key in one.data],
        "renewals": renewals,
        "resources": [one.resource for one in tokens],
    }


@app.post("/expire")
def expire() -> Any:
    for one in tokens:
        one.expires_at = 0
    return {}


@app.get("/openapi.json")
def document() -> Any:
    flow = {"tokenUrl": f"{URL}/token", "scopes": {"orders": "Orders"}}
    flows = {"authorizationCode": {"authorizationUrl": f"{URL}/authorize", **flow}}
    if REGISTRATION == "device":  # OpenAPI 3.2
        flows = {"deviceAuthorization": {"deviceAuthorizationUrl": f"{URL}/device", **flow}}
    return {
        "openapi": "3.2.0",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": URL}],
        "components": {"securitySchemes": {"Login": {"type": "oauth2", "flows": flows}}},
        "security": [{"Login": ["orders"]}],
        "paths": {"/orders": {"get": {"operationId": "list_orders", "responses": {"200": {"description": "All"}}}}},
    }


@app.get("/orders")
@require("orders")
def orders() -> Any:
    return jsonify([{"id": 7}])


app.run("127.0.0.1", PORT, threaded=True)
