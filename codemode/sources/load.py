"""From the configuration of a source to its tools and the transport that reaches them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codemode.catalog.tool import Effect
from codemode.errors import ConfigurationError
from codemode.settings import ApiKeyCredential, BasicCredential, BearerCredential, OAuth2Credential, is_python
from codemode.sources.functions import import_target, load_functions
from codemode.sources.overrides import Overrides, apply_overrides
from codemode.sources.read import read_surface
from codemode.transports.credentials import Credential
from codemode.transports.function import FunctionTransport
from codemode.transports.http import HttpTransport, Reach
from codemode.transports.oauth import Grant

if TYPE_CHECKING:
    from codemode.catalog.tool import Tool
    from codemode.settings import CredentialSettings, SecretReference, SourceSettings
    from codemode.sources.cache import CatalogCache
    from codemode.sources.given import GivenIds
    from codemode.sources.loaded import Surface, Warned
    from codemode.transports.content import ContentStore

NAMESPACE = re.compile(r"[a-z][a-z0-9_]{0,31}")


@dataclass(frozen=True, slots=True)
class LoadedSource:
    """A source ready to use: what was read of it, and its transport (close it with `aclose`)."""

    name: str
    surface: Surface
    transport: HttpTransport | FunctionTransport

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Its tools, as the operator wants them."""
        return self.surface.tools

    @property
    def warnings(self) -> tuple[Warned, ...]:
        """What could not be read as it is written."""
        return self.surface.warnings


async def load_source(
    name: str,
    settings: SourceSettings,
    *,
    contents: ContentStore | None = None,
    cache: CatalogCache | None = None,
    given: GivenIds | None = None,
) -> LoadedSource:
    """Read a source. Raises SourceError or ConfigurationError, which name the file or URL and what to do."""
    if is_python(settings.location):
        return bind_functions(name, import_target(settings.location), settings)
    credentials = [
        _credential(setting) for setting in settings.credentials if not isinstance(setting, OAuth2Credential)
    ]
    grants = [_grant(setting) for setting in settings.credentials if isinstance(setting, OAuth2Credential)]
    if len(grants) > 1:
        message = f"sources.{name}.credentials: one credential of the kind oauth2 at most, {len(grants)} given"
        raise ConfigurationError(message)
    kept = given if settings.keep_names else None
    read = await read_surface(name, settings.location, timeout_s=settings.timeout_s, cache=cache, given=kept)
    overrides = _overrides(settings)
    tools = apply_overrides(read.tools, overrides, source=name)
    state = f"{read.digest} {overrides!r}" if read.digest else ""
    certificate = settings.client_certificate
    reach = Reach(
        source=name,
        base_url=settings.base_url,
        location=settings.location,
        servers=read.servers,
        timeout_s=settings.timeout_s,
        response_limit_bytes=settings.response_limit_bytes,
        retries=settings.retries,
        concurrency=settings.concurrency,
        rate_per_s=settings.rate_per_s,
        certificate=None if certificate is None else (str(certificate.certificate), str(certificate.key)),
        ca_file=None if settings.ca_file is None else str(settings.ca_file),
    )
    grant = grants[0] if grants else None
    transport = HttpTransport(reach, credentials=credentials, grant=grant, contents=contents)
    return LoadedSource(name, replace(read, tools=tools, digest=state), transport)


def bind_functions(name: str, target: object, settings: SourceSettings | None = None) -> LoadedSource:
    """The functions of `target` as a source; see `load_functions`. Raises SourceError, ConfigurationError."""
    if not NAMESPACE.fullmatch(name):
        message = f"{name!r} cannot be a namespace: lower-case letters, digits and _, a letter first, 32 at most"
        raise ConfigurationError(message)
    surface = load_functions(target, name=name)
    if settings is None:
        return LoadedSource(name, surface, FunctionTransport(name))
    tools = apply_overrides(surface.tools, _overrides(settings), source=name)
    transport = FunctionTransport(name, timeout_s=settings.timeout_s, concurrency=settings.concurrency)
    return LoadedSource(name, replace(surface, tools=tools), transport)


def _overrides(settings: SourceSettings) -> Overrides:
    return Overrides(
        include=settings.include,
        exclude=settings.exclude,
        rename=settings.rename,
        describe=settings.describe,
        effect={pattern: Effect(effect) for pattern, effect in settings.effect.items()},
        examples=settings.examples,
    )


def _grant(setting: OAuth2Credential) -> Grant:
    def secret(reference: SecretReference | None) -> str:
        return "" if reference is None else reference.resolve().get_secret_value()

    return Grant(
        token_url=setting.token_url,
        client_id=setting.client_id,
        client_secret=secret(setting.client_secret),
        scopes=setting.scopes,
        refresh_token=secret(setting.refresh_token),
        audience=setting.audience,
        secret_in_body=setting.secret_in_body,
    )


def _credential(setting: CredentialSettings) -> Credential:
    match setting:
        case BearerCredential():
            return Credential.bearer(setting.token.resolve().get_secret_value())
        case BasicCredential():
            return Credential.basic(setting.username, setting.password.resolve().get_secret_value())
        case ApiKeyCredential():
            value = setting.value.resolve().get_secret_value()
            return Credential.api_key(setting.location, setting.name, value, prefix=setting.prefix)
    message = f"a credential of an unknown kind: {setting!r}"
    raise ConfigurationError(message)
