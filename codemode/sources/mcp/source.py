"""The source kind `mcp`: connect to an MCP server and read its tools."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace
from difflib import ndiff
from functools import partial
from typing import TYPE_CHECKING

from mcp.shared.auth_utils import resource_url_from_server_url

from codemode.errors import ConfigurationError, CredentialsMissing, SourceError, UpstreamUnreachable
from codemode.settings import (
    ApiKeyCredential,
    BasicCredential,
    BearerCredential,
    NoCredential,
    OAuth2Credential,
    SecretReference,
    Secrets,
)
from codemode.sources.authentication import grant_of
from codemode.sources.loaded import Failure, SourceWarning, Surface
from codemode.sources.mcp.definitions import (
    AcceptedDefinitions,
    model_facts,
    reviewed,
    stored_instructions,
    surface_of,
    tools_of,
)
from codemode.transports.auth.account import READER
from codemode.transports.auth.credentials import Credential, Place
from codemode.transports.auth.token_store import token_store
from codemode.transports.connected import ConnectedTransport
from codemode.transports.mcp.authorization import Authorization
from codemode.transports.mcp.connections import at_url
from codemode.transports.mcp.process import started
from codemode.transports.mcp.repairs import repaired
from codemode.transports.mcp.transport import McpTransport
from codemode.transports.oauth.exchange import open_exchange
from codemode.transports.oauth.stored_login import StoredLogin
from codemode.transports.oauth.tokens import TokenSource
from codemode.transports.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    import mcp_types

    from codemode.settings import Settings, SourceSettings
    from codemode.shared.values import ValueStore
    from codemode.sources.mcp.definitions import Held
    from codemode.sources.source import SourceContext
    from codemode.transports.auth.account import Account
    from codemode.transports.auth.grant import AccessTokens
    from codemode.transports.base import Transport
    from codemode.transports.content import ContentStore
    from codemode.transports.mcp.transport import Definitions

#: The most characters of a server's last error line in a warning.
_LAST_ERROR_CHARACTERS = 200


async def load(name: str, settings: SourceSettings, context: SourceContext) -> tuple[Surface, Transport]:
    """Connect to the server of a source; see `load_mcp_server`. Raises ConfigurationError.

    The accounts of a source with `connections` have connections of their own, opened with their first call.
    """
    surface, transport = await load_mcp_server(
        name,
        settings,
        folder=context.servers,
        store=context.store,
        secrets=context.secrets,
        contents=context.contents,
        connects=context.connects,
    )
    if not settings.connections:
        return surface, transport

    async def open_(account: Account) -> McpTransport:
        own, _ = await _transport_of(
            name,
            settings.with_connection(account.connection),
            folder=context.servers,
            store=context.store,
            secrets=context.secrets,
            contents=context.contents,
            account=account,
        )
        try:
            await own.start()
        except SourceError as error:
            await own.aclose()
            if own.needs_login:
                message = f"{name}: {error}; nothing was sent"
                raise CredentialsMissing(message, hint=error.told) from None
            raise UpstreamUnreachable(str(error), source=name) from None
        except BaseException:
            await own.aclose()
            raise
        return own

    return surface, AccountsTransport(name, open_, transport)


class AccountsTransport(ConnectedTransport[McpTransport]):
    """The connections of the accounts of a server, beside the one that reads its definitions."""

    def __init__(self, source: str, open_: Callable[[Account], Awaitable[McpTransport]], reader: McpTransport) -> None:
        super().__init__(source, open_)
        self._reader = reader

    @property
    def on_change(self) -> Callable[[Definitions], None]:
        """Who hears of changed definitions. See `McpTransport`."""
        return self._reader.on_change

    @on_change.setter
    def on_change(self, heard: Callable[[Definitions], None]) -> None:
        self._reader.on_change = heard

    async def aclose(self) -> None:
        """Close all connections."""
        await self._reader.aclose()
        await super().aclose()


async def load_mcp_server(
    name: str,
    settings: SourceSettings,
    *,
    folder: Path,
    store: ValueStore,
    secrets: Secrets,
    contents: ContentStore | None = None,
    connects: bool = True,
) -> tuple[Surface, McpTransport]:
    """Connect to a server and read its tools. `folder` holds the servers' error output, and `store` accepted
    definitions.

    Without `connects`, accepted definitions are the surface, and a server that has none is started.
    If the server is unreachable, the surface has the accepted tools, a warning and a failure, and the transport keeps
    reconnecting. Raises ConfigurationError for credentials that cannot be sent.
    """
    errors = folder / f"{name}.stderr.log"
    transport, secret_values = await _transport_of(
        name, settings, folder=folder, store=store, secrets=secrets, contents=contents
    )
    accepted = AcceptedDefinitions(store)
    known = {} if connects else await asyncio.to_thread(accepted.read, name)
    if known:
        return await asyncio.to_thread(_accepted_surface, name, accepted, known), transport
    errors.unlink(missing_ok=True)
    try:
        definitions = await transport.start()
        surface = await asyncio.to_thread(surface_of, name, definitions, accepted, transport.instructions)
        unusable = (SourceWarning("", reason) for reason in transport.left_out)
        return replace(surface, warnings=(*surface.warnings, *unusable)), transport
    except SourceError as error:
        known = await asyncio.to_thread(accepted.read, name)
        tools, _ = tools_of(name, tuple(known.values()))
        last_error = Redactor(secret_values).text(_last_error(errors))
        failure = Failure(f"{error}{last_error}", error.told, is_connecting=True, needs_login=transport.needs_login)
        description = await asyncio.to_thread(accepted.instructions, name) or ""
        warning = SourceWarning("", failure.message)
        return Surface(tools, (warning,), failure=failure, description=description), transport
    except BaseException:
        await transport.aclose()
        raise


async def _transport_of(
    name: str,
    settings: SourceSettings,
    *,
    folder: Path,
    store: ValueStore,
    secrets: Secrets,
    contents: ContentStore | None = None,
    account: Account = READER,
) -> tuple[McpTransport, tuple[str, ...]]:
    """Return a transport that is not connected, and the secrets that it sends. `settings` are those of the account."""
    headers = await asyncio.to_thread(_headers, name, settings, secrets)
    headers |= await asyncio.to_thread(_resolved, settings.headers, secrets)
    tokens = await asyncio.to_thread(_tokens, name, settings, headers, secrets, store, account)
    authorization = Authorization(name, tokens)
    env = await asyncio.to_thread(_resolved, settings.env, secrets)
    limit_bytes = settings.response_limit_bytes
    errors = folder / f"{name}.stderr.log"
    connect = (
        partial(started, command=settings.command, env=env, cwd=settings.cwd, errors=errors, limit_bytes=limit_bytes)
        if settings.command
        else at_url(
            settings.location,
            headers=headers,
            limit_bytes=limit_bytes,
            is_sse=_is_sse(settings),
            address=settings.address,
            ca_file=_ca_file(settings),
            authorization=authorization,
        )
    )
    secret_values = tuple(part for value in (*headers.values(), *env.values()) for part in (value, *value.split()))
    transport = McpTransport(
        name,
        repaired(connect),
        timeout_s=settings.timeout_s,
        concurrency=settings.concurrency,
        contents=contents,
        secrets=secret_values,
        is_process=bool(settings.command),
        authorization=authorization,
    )
    return transport, secret_values


def _accepted_surface(name: str, accepted: AcceptedDefinitions, known: Mapping[str, mcp_types.Tool]) -> Surface:
    tools, warnings = tools_of(name, tuple(known.values()))
    return Surface(tools, warnings, description=accepted.instructions(name) or "")


def _last_error(errors: Path) -> str:
    """Return the last line that a server wrote to standard error, and the file with the whole output."""
    try:
        lines = errors.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f"; its last error output: {last[:_LAST_ERROR_CHARACTERS]!r} (log: {errors})" if last else ""


@dataclass(frozen=True, slots=True)
class Change:
    """A definition that is held back until it is accepted, as text: what differs, or all of a new one.

    For changed instructions, `definition` is None, and `instructions` are the current ones.
    """

    name: str
    text: str
    definition: mcp_types.Tool | None = None
    instructions: str = ""


async def changed_definitions(name: str, settings: Settings, store: ValueStore) -> list[Change]:
    """Connect to a server and return the definitions that are held back, and changed instructions.

    Raises SourceError if the server is unreachable.
    """
    surface, transport = await load_mcp_server(
        name, settings.sources[name], folder=settings.servers(), store=store, secrets=Secrets()
    )
    await transport.aclose()
    if not transport.definitions:
        raise SourceError(surface.warnings[0].reason)
    accepted = AcceptedDefinitions(store)
    review = reviewed(name, transport.definitions, accepted.read(name))
    changes = [Change(held.definition.name, _change(held), held.definition) for held in review.held]
    before, now = accepted.instructions(name), transport.instructions
    if before is not None and before != stored_instructions(now):
        changes.append(Change("instructions", f"instructions:\n- {before}\n+ {now}", instructions=now))
    return changes


def _change(held: Held) -> str:
    """Return a definition that is held back: why, and its facts or what differs in them."""
    if held.before is not None:
        return f"{held.definition.name}:\n{_difference(held.before, held.definition)}"
    facts = json.dumps(model_facts(held.definition), indent=2, ensure_ascii=False).splitlines()
    return "\n".join([f"{held.definition.name}: {held.reason}", *(f"+ {line}" for line in facts)])


def _difference(before: mcp_types.Tool, after: mcp_types.Tool) -> str:
    old, new = (json.dumps(model_facts(one), indent=2, ensure_ascii=False).splitlines() for one in (before, after))
    return "\n".join(line for line in ndiff(old, new) if line.startswith(("+ ", "- ")))


def _is_sse(settings: SourceSettings) -> bool:
    """Whether the server uses the older SSE transport, by its setting or by its URL (`/sse`)."""
    return settings.transport == "sse" or (
        settings.transport == "auto" and settings.location.partition("?")[0].endswith("/sse")
    )


def _resolved(values: Mapping[str, SecretReference | str], secrets: Secrets) -> dict[str, str]:
    return {key: secrets.text(value) if isinstance(value, SecretReference) else value for key, value in values.items()}


def _tokens(
    name: str,
    settings: SourceSettings,
    headers: Mapping[str, str],
    secrets: Secrets,
    store: ValueStore,
    account: Account,
) -> AccessTokens | None:
    """Return the access tokens of a server: a configured grant, else the stored login, else none."""
    if settings.command or any(header.lower() == "authorization" for header in headers):
        return None
    for setting in settings.credentials:
        if isinstance(setting, NoCredential):
            return None
        if isinstance(setting, OAuth2Credential):
            grant = grant_of(name, setting, secrets, store, account)
            if not grant.audience:
                grant = replace(grant, resource=resource_url_from_server_url(settings.location))
            exchange = open_exchange(name, grant.addresses, ca_file=_ca_file(settings), timeout_s=settings.timeout_s)
            return TokenSource(grant, exchange, name, owns_exchange=True)
    return StoredLogin(
        token_store(name, account, store),
        settings.location,
        name,
        ca_file=_ca_file(settings),
        timeout_s=settings.timeout_s,
    )


def _ca_file(settings: SourceSettings) -> str | None:
    return None if settings.ca_file is None else str(settings.ca_file)


def _headers(name: str, settings: SourceSettings, secrets: Secrets) -> dict[str, str]:
    """Return the headers of the credentials. Raises ConfigurationError for any that do not fit in a header."""
    credentials = []
    for setting in settings.credentials:
        match setting:
            case OAuth2Credential() | NoCredential():
                continue
            case BearerCredential() if setting.token.caller is None:
                credentials.append(Credential.bearer(secrets.text(setting.token)))
            case BasicCredential() if setting.password.caller is None:
                credentials.append(Credential.basic(setting.username, secrets.text(setting.password)))
            case ApiKeyCredential(location="header") if setting.value.caller is None:
                value = secrets.text(setting.value)
                credentials.append(Credential.api_key(Place.HEADER, setting.name, value, prefix=setting.prefix))
            case _:
                message = (
                    f"sources.{name}.credentials: this {setting.kind} credential cannot be sent to an MCP server; use"
                    " oauth2, bearer, basic or api_key with location: header, without caller references"
                )
                raise ConfigurationError(message)
    return {credential.name: credential.value for credential in credentials}
