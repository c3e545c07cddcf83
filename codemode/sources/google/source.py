"""Google's APIs as sources, by the discovery documents that come with the installed google-api-python-client."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import googleapiclient

from codemode.errors import ConfigurationError
from codemode.sources.openapi.source import load as load_document
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from codemode.settings import SourceSettings
    from codemode.sources.loaded import Surface
    from codemode.sources.source import SourceContext
    from codemode.transports.http.deferred import DeferredTransport

_DOCUMENTS = Path(googleapiclient.__file__).parent / "discovery_cache" / "documents"

_NAMED = re.compile(r"([a-z0-9_]+)[:/]([\w.]+)")


async def load(name: str, settings: SourceSettings, context: SourceContext) -> tuple[Surface, DeferredTransport]:
    """Read the document of one API, `drive:v3`. Raises ConfigurationError where there is none, with the nearest.

    What Google's own package says is where it is reached, unless the operator says otherwise (`base_url`).
    """
    (service,) = settings.services
    found = _NAMED.fullmatch(service)
    file = _DOCUMENTS / f"{found[1]}.{found[2]}.json" if found else _DOCUMENTS / ".json"
    if not file.is_file():
        known = [path.stem.replace(".", ":", 1) for path in _DOCUMENTS.glob("*.json")]
        hint = did_you_mean(service, known)
        message = f"sources.{name}.services: the installed package knows no API {service!r}{hint}"
        raise ConfigurationError(message)
    root = (await asyncio.to_thread(_root_url, file)) if settings.base_url is None else settings.base_url
    return await load_document(name, settings.model_copy(update={"location": str(file), "base_url": root}), context)


def _root_url(file: Path) -> str:
    """Where Google answers, as its own package says."""
    return str(json.loads(file.read_bytes())["rootUrl"])
