"""Sections on how a source is told who asks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from codemode.settings.secrets import SecretReference
from codemode.settings.section import Section


class BearerCredential(Section):
    """`Authorization: Bearer …` (RFC 6750)."""

    kind: Literal["bearer"]
    token: SecretReference


class BasicCredential(Section):
    """`Authorization: Basic …` (RFC 7617)."""

    kind: Literal["basic"]
    username: str
    password: SecretReference


class ApiKeyCredential(Section):
    """An API key in a header, a query parameter or a cookie (OpenAPI 3.1, Security Scheme Object `apiKey`)."""

    kind: Literal["api_key"]
    name: str
    value: SecretReference
    location: Literal["header", "query", "cookie"] = "header"
    prefix: str = ""


class OAuth2Credential(Section):
    """Tokens by client credentials (RFC 6749, section 4.4), or with a `refresh_token` by that (section 6)."""

    kind: Literal["oauth2"]
    token_url: str
    client_id: str
    client_secret: SecretReference | None = None
    refresh_token: SecretReference | None = None
    scopes: tuple[str, ...] = ()
    audience: str = ""
    secret_in_body: bool = False


class ClientCertificate(Section):
    """A certificate and its key, PEM files, for mutual TLS (RFC 8446, section 4.4.2)."""

    certificate: Path
    key: Path


CredentialSettings = Annotated[
    BearerCredential | BasicCredential | ApiKeyCredential | OAuth2Credential, Field(discriminator="kind")
]
