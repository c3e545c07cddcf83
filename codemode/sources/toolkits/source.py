"""The source kind `toolkit`: tools described in files, run by the operator's Python code or HTTP service."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemode.catalog.names import plain_ids
from codemode.errors import ConfigurationError, SourceError
from codemode.settings import is_python, is_url
from codemode.sources.documents.parse import parse_document
from codemode.sources.functions.described import Descriptions, Document, ToolDescription, tool_of
from codemode.sources.functions.source import import_target
from codemode.sources.http_access import fetch, http_transport
from codemode.sources.loaded import SourceWarning, Surface
from codemode.sources.toolkits.binding import Callables
from codemode.sources.toolkits.endpoints import Endpoints
from codemode.sources.toolkits.function_tools import is_function_list, read_functions
from codemode.sources.toolkits.groups import is_toolkits, read_toolkits
from codemode.sources.toolkits.tool_descriptions import is_tool_descriptions, read_tool_descriptions
from codemode.transports.function import FunctionTransport

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.settings import SourceSettings
    from codemode.sources.functions.described import Bound
    from codemode.sources.source import SourceContext
    from codemode.transports.base import Transport

#: The suffixes of the files that are read in a folder.
_SUFFIXES = (".json", ".yaml", ".yml")


_EXPECTED = "neither toolkits (name, tasks), nor function tools (name, parameters), nor tool_descriptions"


async def load(name: str, settings: SourceSettings, context: SourceContext) -> tuple[Surface, Transport]:
    """Read the descriptions and bind each tool. Raises SourceError with the line, or ConfigurationError."""
    if not settings.bind and not settings.base_url:
        message = (
            f"sources.{name}: its tools have no implementation: set bind: python:package.module for Python callables"
            " with their names, or base_url: for a service (with --source, --base-url)"
        )
        raise ConfigurationError(message)
    documents = await _documents(name, settings, context)
    descriptions = await asyncio.to_thread(_read, name, documents)
    target = await asyncio.to_thread(_target, settings.bind) if settings.bind else None

    async def make(known_ids: Mapping[str, str]) -> Surface:
        ids = plain_ids(name, (one.id_path for one in descriptions.tools), known_ids=known_ids)
        if settings.bind:
            return await asyncio.to_thread(_python_surface, name, descriptions, ids, target)
        return await asyncio.to_thread(_http_surface, name, descriptions, ids, settings.endpoints)

    surface = await context.named(name, settings, make)
    transport: Transport
    if settings.bind:
        transport = FunctionTransport(
            name, timeout_s=settings.timeout_s, concurrency=settings.concurrency, contents=context.contents
        )
    else:
        transport = http_transport(name, settings, context)
    return surface, transport


@dataclass(frozen=True, slots=True)
class BoundTools:
    """Described tools and the Python callables that implement them; see `bind`."""

    descriptions: Any
    to: object

    def surface(self, name: str) -> Surface:
        """Return the tools in the namespace `name`. Raises SourceError."""
        is_path = isinstance(self.descriptions, (str, Path))
        documents = _files(Path(self.descriptions)) if is_path else [Document("", self.descriptions)]
        descriptions = _read(name, documents)
        return _python_surface(
            name, descriptions, plain_ids(name, (one.id_path for one in descriptions.tools)), self.to
        )


def bind(descriptions: Any, *, to: object) -> BoundTools:
    """Bind described tools to Python callables with the same names.

        CodeMode.from_functions(shop=bind(TOOLS, to=FUNCTIONS))

    `descriptions` are OpenAI function tools, a toolkit, a list of toolkits, or the path of a file or folder of these.
    `to` is a mapping, list, module or object that holds the callables.
    """
    return BoundTools(descriptions, to)


async def _documents(name: str, settings: SourceSettings, context: SourceContext) -> list[Document]:
    location = settings.location
    if is_python(location):
        return [Document(location, await asyncio.to_thread(import_target, location))]
    if is_url(location):
        text = await fetch(name, settings, context)(location)
        return [Document(location, parse_document(text, location=location), text)]
    return await asyncio.to_thread(_files, Path(location))


def _files(path: Path) -> list[Document]:
    """Return the documents of a file, or of all files in a folder by name. Raises SourceError."""
    try:
        files = sorted(file for file in path.rglob("*") if file.suffix in _SUFFIXES) if path.is_dir() else [path]
        texts = {str(file): file.read_text(encoding="utf-8-sig") for file in files}
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        message = f"cannot be read: {reason}"
        raise SourceError(message, location=str(path)) from None
    return [Document(file, parse_document(text, location=file), text) for file, text in texts.items()]


def _read(name: str, documents: Iterable[Document]) -> Descriptions:
    """Read all documents. Raises SourceError if they describe no tools, or one tool twice."""
    descriptions = Descriptions()
    for document in documents:
        if is_toolkits(document.data):
            read_toolkits(document, descriptions, source=name)
        elif is_function_list(document.data):
            read_functions(document, descriptions)
        elif is_tool_descriptions(document.data):
            read_tool_descriptions(document, descriptions)
        else:
            descriptions.warnings.append(SourceWarning(document.location, f"holds {_EXPECTED}"))
    by_key: dict[str, ToolDescription] = {}
    for one in descriptions.tools:
        if one.key in by_key:
            message = f"{one.key!r} is described twice: first at {by_key[one.key].where}"
            raise one.document.error(message, *one.path)
        by_key[one.key] = one
    if not descriptions.tools:
        reasons = "; ".join(f"{place} {reason}".strip() for place, reason in descriptions.warnings[:3])
        message = f"{name} describes no tools{': ' if reasons else ''}{reasons}"
        raise SourceError(message)
    return descriptions


def _target(bind: str | Mapping[str, str]) -> Any:
    """Import the holders of the callables. Raises SourceError if an import fails."""
    if isinstance(bind, str):
        return import_target(bind)
    return {name: import_target(location) for name, location in bind.items()}


def _python_surface(name: str, descriptions: Descriptions, ids: Mapping[str, str], target: object) -> Surface:
    callables = Callables(target)
    bound = {}
    for one in descriptions.tools:
        bound[one.key], warnings = callables.bound(one)
        descriptions.warnings += warnings
    return _surface(name, descriptions, ids, bound)


def _http_surface(
    name: str, descriptions: Descriptions, ids: Mapping[str, str], endpoints: Mapping[str, str]
) -> Surface:
    requests = Endpoints(name, endpoints)
    requests.require(descriptions.tools)
    return _surface(name, descriptions, ids, {one.key: requests.bound(one) for one in descriptions.tools})


def _surface(name: str, descriptions: Descriptions, ids: Mapping[str, str], bound: Mapping[str, Bound]) -> Surface:
    tools = tuple(tool_of(one, ids[one.key], bound[one.key], source=name) for one in descriptions.tools)
    return Surface(tools, tuple(descriptions.warnings), title=descriptions.title, toolkits=tuple(descriptions.toolkits))
