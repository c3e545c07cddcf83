"""The `sources.*.credentials` section, and client certificates."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator, model_validator

from codemode.errors import ConfigurationError
from codemode.settings.secrets import SecretReference
from codemode.settings.section import HomePath, Section

#: Request headers that have another purpose, such as the key for this server.
_NOT_FOR_CALLERS = frozenset(
    ("authorization", "connection", "content-length", "content-type", "cookie", "host", "proxy-authorization")
)


class CallerReference(SecretReference):
    """A reference to a secret. `caller` refers to a secret that each caller sends."""

    caller: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,99}$",
        description="Name under which each caller sends its own secret: an HTTP header, or a key of `credentials` in "
        "Python.",
        examples=["X-Upstream-Token"],
    )

    @property
    def where(self) -> str | None:
        """Place of the secret, for error messages."""
        return f"the caller's {self.caller}" if self.caller is not None else super().where

    def resolve(self) -> SecretStr:
        """Return the secret. Raises ConfigurationError for a secret that callers send."""
        if self.caller is not None:
            message = f"each caller sends the secret {self.caller}; it is not stored"
            raise ConfigurationError(message)
        return super().resolve()

    @field_validator("caller")
    @classmethod
    def _own_name(cls, caller: str | None) -> str | None:
        if caller is not None and caller.lower() in _NOT_FOR_CALLERS:
            message = f"the header {caller} has another purpose: choose another name, such as X-Upstream-Token"
            raise ValueError(message)
        return caller


class Credential(Section):
    """The base class of credentials for security schemes."""

    scheme: str = Field(
        default="",
        description="Name of the security scheme in the document. Empty: every scheme of the same kind and place. "
        '`"*"`: send the credential with every call.',
        examples=["ReaderToken", "*"],
    )


class BearerCredential(Credential):
    """A bearer token: `Authorization: Bearer …` (RFC 6750)."""

    kind: Literal["bearer"] = Field(description="A bearer token in the `Authorization` header.")
    token: CallerReference = Field(description="The token.", examples=[{"env": "GYM_TOKEN"}])


class BasicCredential(Credential):
    """A user name and a password: `Authorization: Basic …` (RFC 7617)."""

    kind: Literal["basic"] = Field(description="A user name and a password in the `Authorization` header.")
    username: str = Field(description="User name.", examples=["robot"])
    password: CallerReference = Field(description="The password.", examples=[{"file": "/run/secrets/password"}])


class ApiKeyCredential(Credential):
    """An API key in a header, a query parameter or a cookie (OpenAPI 3.1, Security Scheme Object `apiKey`)."""

    kind: Literal["api_key"] = Field(description="An API key in a header, a query parameter or a cookie.")
    name: str = Field(
        pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z\[\]-]+$",
        description="Name of the header, query parameter or cookie.",
        examples=["X-Api-Key"],
    )
    value: CallerReference = Field(description="The key.", examples=[{"env": "GYM_KEY"}])
    location: Literal["header", "query", "cookie"] = Field(default="header", description="Where the key is sent.")
    prefix: str = Field(default="", description="Text before the key.", examples=["Token "])


class OAuth2Credential(Credential):
    """OAuth 2.0 access tokens (RFC 6749), by client credentials, a refresh token, or a login of the operator.

    The logins are PKCE (RFC 7636) and the device code (RFC 8628).
    """

    kind: Literal["oauth2"] = Field(description="OAuth 2.0 access tokens.")
    flow: Literal["client_credentials", "authorization_code", "device_code"] = Field(
        default="client_credentials",
        description="How tokens are obtained. `authorization_code` and `device_code` need `codemode auth login`.",
    )
    token_url: str = Field(
        default="",
        description="Token endpoint. Empty: the one that `issuer` publishes.",
        examples=["https://login.example.com/token"],
    )
    client_id: str = Field(description="Client identifier.", examples=["my-application"])
    client_secret: SecretReference | None = Field(
        default=None, description="Client secret. null: a public client.", examples=[{"env": "CLIENT_SECRET"}]
    )
    refresh_token: SecretReference | None = Field(
        default=None, description="Refresh token that you already have.", examples=[{"env": "REFRESH_TOKEN"}]
    )
    scopes: tuple[str, ...] = Field(default=(), description="Scopes to request.", examples=[["calendar.read"]])
    audience: str = Field(
        default="",
        description="Parameter `audience` of token requests. Empty: none is sent.",
        examples=["https://api.example.com"],
    )
    secret_in_body: bool = Field(
        default=False, description="Send the client secret in the request body instead of the `Authorization` header."
    )
    issuer: str = Field(
        default="",
        description="Issuer that publishes its endpoints as metadata (RFC 8414). It replaces the endpoint URLs.",
        examples=["https://login.example.com"],
    )
    authorization_url: str = Field(
        default="",
        description="Authorization endpoint, for `flow: authorization_code`.",
        examples=["https://login.example.com/authorize"],
    )
    device_url: str = Field(
        default="",
        description="Device authorization endpoint, for `flow: device_code`.",
        examples=["https://login.example.com/device"],
    )
    redirect_port: int = Field(
        default=0,
        ge=0,
        le=65535,
        description="Port of the redirect URI `http://127.0.0.1:PORT/callback`. 0: any free port.",
        examples=[8400],
    )

    @model_validator(mode="after")
    def _knows_its_endpoints(self) -> OAuth2Credential:
        needed = {"authorization_code": "authorization_url", "device_code": "device_url"}
        missing = [name for name in ("token_url", needed.get(self.flow, "token_url")) if not getattr(self, name)]
        if missing and not self.issuer:
            message = f"set {' and '.join(dict.fromkeys(missing))}, or an issuer that publishes its endpoints"
            raise ValueError(message)
        return self

    @property
    def is_login(self) -> bool:
        """Whether the tokens come from `codemode auth login`."""
        return self.flow != "client_credentials"


class AwsCredential(Section):
    """An AWS access key. Without one, botocore's own chain of providers is used."""

    kind: Literal["aws"] = Field(description="An AWS access key, for `kind: aws` sources.")
    access_key_id: SecretReference = Field(description="Access key id.", examples=[{"env": "AWS_ACCESS_KEY_ID"}])
    secret_access_key: SecretReference = Field(
        description="Secret access key.", examples=[{"env": "AWS_SECRET_ACCESS_KEY"}]
    )
    session_token: SecretReference | None = Field(
        default=None, description="Session token of temporary credentials.", examples=[{"env": "AWS_SESSION_TOKEN"}]
    )


class NoCredential(Section):
    """No credential, whatever the document requires."""

    kind: Literal["none"] = Field(description="The service needs no credential, whatever its document says.")


class ClientCertificate(Section):
    """A certificate and its key for mutual TLS (RFC 8446, section 4.4.2)."""

    certificate: HomePath = Field(description="PEM file of the certificate.", examples=["/run/secrets/client.pem"])
    key: HomePath = Field(description="PEM file of the private key.", examples=["/run/secrets/client.key"])


CredentialSettings = Annotated[
    BearerCredential | BasicCredential | ApiKeyCredential | OAuth2Credential | AwsCredential | NoCredential,
    Field(discriminator="kind"),
]
