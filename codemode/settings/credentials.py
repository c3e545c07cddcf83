"""Sections on how a source is told who asks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator, model_validator

from codemode.errors import ConfigurationError
from codemode.settings.secrets import SecretReference
from codemode.settings.section import HomePath, Section

#: Headers that a caller's request has for other purposes; its key for this server above all.
_NOT_FOR_CALLERS = frozenset(
    ("authorization", "connection", "content-length", "content-type", "cookie", "host", "proxy-authorization")
)


class CallerReference(SecretReference):
    """Where a secret is kept; or `caller`, the name under which who calls brings it: a header, or a Python argument."""

    caller: str | None = Field(default=None, pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,99}$")

    @property
    def where(self) -> str | None:
        """Where the secret is looked for, as an error says it."""
        return f"the caller's {self.caller}" if self.caller is not None else super().where

    def resolve(self) -> SecretStr:
        """The secret. Raises ConfigurationError also where it is the caller's, who is not here."""
        if self.caller is not None:
            message = f"a secret is brought as {self.caller} by each caller, and kept nowhere"
            raise ConfigurationError(message)
        return super().resolve()

    @field_validator("caller")
    @classmethod
    def _own_name(cls, caller: str | None) -> str | None:
        if caller is not None and caller.lower() in _NOT_FOR_CALLERS:
            message = f"{caller} means something else to this server: take a name of its own, as X-Upstream-Token"
            raise ValueError(message)
        return caller


class Credential(Section):
    """What every credential has. `scheme` is the name of the document's security scheme that it is for.

    Without one it is for every scheme of its kind and place; `"*"` has it sent with every call.
    """

    scheme: str = ""


class BearerCredential(Credential):
    """`Authorization: Bearer …` (RFC 6750)."""

    kind: Literal["bearer"]
    token: CallerReference


class BasicCredential(Credential):
    """`Authorization: Basic …` (RFC 7617)."""

    kind: Literal["basic"]
    username: str
    password: CallerReference


class ApiKeyCredential(Credential):
    """An API key in a header, a query parameter or a cookie (OpenAPI 3.1, Security Scheme Object `apiKey`)."""

    kind: Literal["api_key"]
    name: str = Field(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z\[\]-]+$")
    value: CallerReference
    location: Literal["header", "query", "cookie"] = "header"
    prefix: str = ""


class OAuth2Credential(Credential):
    """Access tokens (RFC 6749): by client credentials, by a refresh token, or by a login of the operator's.

    `flow: authorization_code` (with PKCE, RFC 7636) and `flow: device_code` (RFC 8628) are those of
    `codemode auth login`. An `issuer` names its endpoints itself (RFC 8414).
    """

    kind: Literal["oauth2"]
    flow: Literal["client_credentials", "authorization_code", "device_code"] = "client_credentials"
    token_url: str = ""
    client_id: str
    client_secret: SecretReference | None = None
    refresh_token: SecretReference | None = None
    scopes: tuple[str, ...] = ()
    audience: str = ""
    secret_in_body: bool = False
    issuer: str = ""
    authorization_url: str = ""
    device_url: str = ""
    redirect_port: int = Field(default=0, ge=0, le=65535)

    @model_validator(mode="after")
    def _knows_its_endpoints(self) -> OAuth2Credential:
        needed = {"authorization_code": "authorization_url", "device_code": "device_url"}
        missing = [name for name in ("token_url", needed.get(self.flow, "token_url")) if not getattr(self, name)]
        if missing and not self.issuer:
            message = f"give {' and '.join(dict.fromkeys(missing))}, or the issuer that names its endpoints itself"
            raise ValueError(message)
        return self

    @property
    def is_login(self) -> bool:
        """Whether its tokens come from `codemode auth login`."""
        return self.flow != "client_credentials"


class AwsCredential(Section):
    """An access key of AWS, of the operator's; without one botocore looks where it always does."""

    kind: Literal["aws"]
    access_key_id: SecretReference
    secret_access_key: SecretReference
    session_token: SecretReference | None = None


class NoCredential(Section):
    """The service asks for nothing here, whatever its document says."""

    kind: Literal["none"]


class ClientCertificate(Section):
    """A certificate and its key, PEM files, for mutual TLS (RFC 8446, section 4.4.2)."""

    certificate: HomePath
    key: HomePath


CredentialSettings = Annotated[
    BearerCredential | BasicCredential | ApiKeyCredential | OAuth2Credential | AwsCredential | NoCredential,
    Field(discriminator="kind"),
]
