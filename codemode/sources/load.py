"""From the configuration of a source to its tools and the transport that reaches them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemode.errors import ConfigurationError, SourceError
from codemode.settings import ApiKeyCredential, BasicCredential, BearerCredential, is_url
from codemode.sources.documents import parse_document
from codemode.sources.openapi import load_openapi
from codemode.sources.tree import FetchedTree, FileTree, fetch_tree
from codemode.transports.credentials import Credential
from codemode.transports.fetch import LARGEST_DOCUMENT_BYTES, fetch_text
from codemode.transports.http import HttpTransport, Reach

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.catalog.tool import Tool
    from codemode.settings import CredentialSettings, SourceSettings
    from codemode.sources.loaded import Surface, Warned
    from codemode.transports.content import ContentStore

#: Warnings that are repeated where nothing at all could be read.
_REASONS = 3


@dataclass(frozen=True, slots=True)
class LoadedSource:
    """A source ready to use: its tools, what could not be read of it, and its transport (close it with `aclose`)."""

    name: str
    tools: tuple[Tool, ...]
    warnings: tuple[Warned, ...]
    transport: HttpTransport
    title: str = ""


async def load_source(name: str, settings: SourceSettings, *, contents: ContentStore | None = None) -> LoadedSource:
    """Read a source. Raises SourceError or ConfigurationError, which name the file or URL and what to do."""
    credentials = [_credential(setting) for setting in settings.credentials]
    surface = await read_surface(name, settings)
    reach = Reach(
        source=name,
        base_url=settings.base_url,
        location=settings.location,
        servers=surface.servers,
        timeout_s=settings.timeout_s,
        response_limit_bytes=settings.response_limit_bytes,
    )
    transport = HttpTransport(reach, credentials=credentials, contents=contents)
    return LoadedSource(name, surface.tools, surface.warnings, transport, surface.title)


async def read_surface(name: str, settings: SourceSettings) -> Surface:
    """Read the document of a source, and the documents it refers to. Raises SourceError."""
    location = settings.location
    text = await _text(settings)
    document = await asyncio.to_thread(parse_document, text, location=location)
    if is_url(location):
        tree: FetchedTree | FileTree = await fetch_tree(location, document)
        uri = location
    else:
        tree = FileTree(Path(location))
        uri = tree.entry
    surface = await asyncio.to_thread(_surface, document, name, uri, location, tree)
    if not surface.tools:
        unread = "".join(f"; {pointer}: {reason}" for pointer, reason in surface.warnings[:_REASONS])
        message = f"has no operations that can be called: look under 'paths'{unread}"
        raise SourceError(message, location=location)
    return replace(surface, warnings=(*surface.warnings, *tree.warnings))


def _surface(document: Any, name: str, uri: str, location: str, retrieve: Callable[[str], Any]) -> Surface:
    try:
        return load_openapi(document, name=name, uri=uri, retrieve=retrieve)
    except SourceError as error:
        message = str(error).removeprefix(uri).removeprefix(": ").strip()
        raise SourceError(message, location=location) from None


async def _text(settings: SourceSettings) -> str:
    if is_url(settings.location):
        return await fetch_text(settings.location, timeout_s=settings.timeout_s)
    return await asyncio.to_thread(_read, Path(settings.location))


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST_DOCUMENT_BYTES:
            message = f"is larger than {LARGEST_DOCUMENT_BYTES:,} bytes"
            raise SourceError(message, location=str(path))
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise SourceError(message, location=str(path)) from None
    except UnicodeDecodeError:
        raise SourceError("is not UTF-8 text", location=str(path)) from None


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
