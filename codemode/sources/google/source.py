"""The source kind `google`: Google APIs, from the discovery documents of google-api-python-client."""

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
    from codemode.transports.base import Transport

_DOCUMENTS = Path(googleapiclient.__file__).parent / "discovery_cache" / "documents"

_SERVICE = re.compile(r"([a-z0-9_]+)[:/]([\w.]+)")


async def load(name: str, settings: SourceSettings, context: SourceContext) -> tuple[Surface, Transport]:
    """Read the discovery document of one API, such as `drive:v3`.

    Without `base_url`, calls go to the root URL in the document. Raises ConfigurationError for an unknown API, with the
    closest match.
    """
    (service,) = settings.services
    match = _SERVICE.fullmatch(service)
    file = _DOCUMENTS / f"{match[1]}.{match[2]}.json" if match else _DOCUMENTS / ".json"
    if not file.is_file():
        known = [path.stem.replace(".", ":", 1) for path in _DOCUMENTS.glob("*.json")]
        hint = did_you_mean(service, known)
        message = f"sources.{name}.services: google-api-python-client has no API {service!r}{hint}"
        raise ConfigurationError(message)
    root = (await asyncio.to_thread(_root_url, file)) if settings.base_url is None else settings.base_url
    return await load_document(name, settings.model_copy(update={"location": str(file), "base_url": root}), context)


def _root_url(file: Path) -> str:
    """Return the root URL of a discovery document."""
    return str(json.loads(file.read_bytes())["rootUrl"])
