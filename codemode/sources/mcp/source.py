"""From the configuration of an MCP server to its tools and the transport that keeps in touch with it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from difflib import ndiff
from functools import partial
from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError, SourceError
from codemode.settings import ApiKeyCredential, BasicCredential, BearerCredential, SecretReference, Secrets
from codemode.sources.loaded import Failure, Surface, Warned
from codemode.sources.mcp.definitions import AcceptedDefinitions, digest, surface_of, told, tools_of
from codemode.transports.auth.credentials import Credential, Place
from codemode.transports.mcp.connections import at_url
from codemode.transports.mcp.process import started
from codemode.transports.mcp.transport import McpTransport
from codemode.transports.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import mcp_types

    from codemode.settings import Settings, SourceSettings
    from codemode.sources.source import SourceContext
    from codemode.transports.content import ContentStore

#: Characters of what a server said last that a warning has.
_SAID_CHARACTERS = 200


async def load(name: str, settings: SourceSettings, context: SourceContext) -> tuple[Surface, McpTransport]:
    """Connect to a server and read its tools; see `load_mcp_server`. Raises ConfigurationError."""
    return await load_mcp_server(
        name, settings, folder=context.servers, secrets=context.secrets, contents=context.contents
    )


async def load_mcp_server(
    name: str, settings: SourceSettings, *, folder: Path, secrets: Secrets, contents: ContentStore | None = None
) -> tuple[Surface, McpTransport]:
    """Connect to a server and read its tools; `folder` keeps the accepted definitions and what servers say.

    A server that is not there costs no other source: its tools are those of the last time, a warning says so, and the
    transport goes on trying. Raises ConfigurationError for credentials that cannot be sent.
    """
    headers = await asyncio.to_thread(_headers, name, settings, secrets)
    headers |= await asyncio.to_thread(_resolved, settings.headers, secrets)
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
            ca_file=None if settings.ca_file is None else str(settings.ca_file),
        )
    )
    known = tuple(part for value in (*headers.values(), *env.values()) for part in (value, *value.split()))
    transport = McpTransport(
        name,
        connect,
        timeout_s=settings.timeout_s,
        concurrency=settings.concurrency,
        contents=contents,
        secrets=known,
        is_process=bool(settings.command),
    )
    accepted = AcceptedDefinitions(folder)
    errors.unlink(missing_ok=True)
    try:
        definitions = await transport.start()
        return await asyncio.to_thread(surface_of, name, definitions, accepted), transport
    except SourceError as error:
        tools, _ = tools_of(name, tuple(accepted.read(name).values()))
        said = Redactor(known).text(_last_said(errors))
        failure = Failure(f"{error}{said}", error.told, is_connecting=True)
        return Surface(tools, (Warned("", failure.said),), failure=failure), transport
    except BaseException:
        await transport.aclose()
        raise


def _last_said(errors: Path) -> str:
    """The end of what a server said on standard error, and where all of it is."""
    try:
        lines = errors.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f"; it said {last[:_SAID_CHARACTERS]!r} (all of it: {errors})" if last else ""


@dataclass(frozen=True, slots=True)
class Change:
    """A definition that is not as it was accepted, and in a text what is different."""

    definition: mcp_types.Tool
    text: str


async def changed_definitions(name: str, settings: Settings) -> list[Change]:
    """Connect to a server and compare. Raises SourceError where it is not there."""
    surface, transport = await load_mcp_server(
        name, settings.sources[name], folder=settings.servers(), secrets=Secrets()
    )
    await transport.aclose()
    if not transport.definitions:
        raise SourceError(surface.warnings[0].reason)
    known = AcceptedDefinitions(settings.servers()).read(name)
    return [
        Change(one, f"{one.name}:\n{_difference(known[one.name], one)}")
        for one in transport.definitions
        if one.name in known and digest(one) != digest(known[one.name])
    ]


def _difference(before: mcp_types.Tool, after: mcp_types.Tool) -> str:
    old, new = (json.dumps(told(one), indent=2, ensure_ascii=False).splitlines() for one in (before, after))
    return "\n".join(line for line in ndiff(old, new) if line.startswith(("+ ", "- ")))


def _is_sse(settings: SourceSettings) -> bool:
    """Whether the server speaks what came before streamable HTTP: as it is said, or as its address looks."""
    return settings.transport == "sse" or (
        settings.transport == "auto" and settings.location.partition("?")[0].endswith("/sse")
    )


def _resolved(values: Mapping[str, SecretReference | str], secrets: Secrets) -> dict[str, str]:
    return {key: secrets.text(value) if isinstance(value, SecretReference) else value for key, value in values.items()}


def _headers(name: str, settings: SourceSettings, secrets: Secrets) -> dict[str, str]:
    """The credentials that travel in headers: the others have no place in the protocol."""
    credentials = []
    for setting in settings.credentials:
        match setting:
            case BearerCredential() if setting.token.caller is None:
                credentials.append(Credential.bearer(secrets.text(setting.token)))
            case BasicCredential() if setting.password.caller is None:
                credentials.append(Credential.basic(setting.username, secrets.text(setting.password)))
            case ApiKeyCredential(location="header") if setting.value.caller is None:
                value = secrets.text(setting.value)
                credentials.append(Credential.api_key(Place.HEADER, setting.name, value, prefix=setting.prefix))
            case _:
                message = (
                    f"sources.{name}.credentials: an MCP server takes bearer, basic and api_key in a header, of the"
                    f" operator's own; not {setting.kind}"
                )
                raise ConfigurationError(message)
    return {credential.name: credential.value for credential in credentials}
