"""Detect the source kind of a location that is not an API document."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemode.errors import SourceError
from codemode.settings import is_url
from codemode.sources.documents.parse import parse_document
from codemode.sources.http_access import fetch
from codemode.sources.toolkits.function_tools import is_function_list
from codemode.sources.toolkits.groups import is_toolkits
from codemode.sources.toolkits.tool_descriptions import is_tool_descriptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.settings import SourceSettings
    from codemode.sources.source import SourceContext


def _is_introspection(data: Any) -> bool:
    inner = data.get("data", data) if isinstance(data, Mapping) else None
    return isinstance(inner, Mapping) and "__schema" in inner


_SHAPES: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (is_toolkits, "toolkit"),
    (is_function_list, "toolkit"),
    (is_tool_descriptions, "toolkit"),
    (_is_introspection, "graphql"),
)


async def detect_kind(name: str, settings: SourceSettings, context: SourceContext) -> str | None:
    """Return the source kind of a file, folder or URL, or None if its content is unknown."""
    location = settings.location
    if not is_url(location) and await asyncio.to_thread(Path(location).is_dir):
        return "toolkit"
    try:
        is_there = is_url(location)
        text = await (fetch(name, settings, context)(location) if is_there else asyncio.to_thread(_text, location))
        document = await asyncio.to_thread(parse_document, text, location=location)
    except (SourceError, OSError, UnicodeDecodeError):
        return None
    return next((kind for holds, kind in _SHAPES if holds(document)), None)


def _text(file: str) -> str:
    return Path(file).read_text(encoding="utf-8-sig")
