"""An independent judge of requests: `openapi-core` against the document as it is published.

The document is handed to the judge without what would make it refuse requests for the document's own mistakes: empty
`enum`s, discriminators without mapping, `readOnly` (which it also applies to parameters), and servers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from jsonschema_path import SchemaPath
from openapi_core import V30RequestValidator, V31RequestValidator, V32RequestValidator
from openapi_core.datatypes import RequestParameters
from werkzeug.datastructures import Headers, ImmutableMultiDict

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass
class Sent:
    """A request as the judge reads it."""

    method: str
    path: str
    host_url: str
    full_url_pattern: str
    parameters: RequestParameters
    content_type: str
    body: bytes | None


class Judge:
    """Judges requests to the operations of one document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._cleaned: dict[str, Any] = {**_without(document, document), "servers": [{"url": "http://judge.test"}]}
        self._cleaned.pop("security", None)
        self._has_cross_references = '"#/paths/' in json.dumps(self._cleaned)
        version = str(document.get("openapi", ""))[:3]
        self._validator = {"3.1": V31RequestValidator, "3.2": V32RequestValidator}.get(version, V30RequestValidator)

    def errors(self, path: str, method: str, target: str, headers: Mapping[str, str], body: bytes) -> list[str]:
        """What is wrong with a request to an operation; empty where it is accepted."""
        parts = urlsplit(target)
        lowered = {name.lower(): value for name, value in headers.items()}
        cookies = [pair.strip().partition("=")[::2] for pair in lowered.get("cookie", "").split(";") if "=" in pair]
        sent = Sent(
            method=method.lower(),
            path=unquote(parts.path),
            host_url="http://judge.test",
            full_url_pattern=f"http://judge.test{parts.path}",
            parameters=RequestParameters(
                query=ImmutableMultiDict(parse_qsl(parts.query, keep_blank_values=True)),
                header=Headers(dict(headers)),
                cookie=ImmutableMultiDict(cookies),
            ),
            content_type=lowered.get("content-type", ""),
            body=body or None,
        )
        paths = self._cleaned["paths"] if self._has_cross_references else {}
        template = path.partition("?")[0].partition("#")[0]
        document = {**self._cleaned, "paths": {**paths, template: self._cleaned["paths"][path]}}
        validator = self._validator(SchemaPath.from_dict(document))
        return [_whole(error) for error in validator.iter_errors(sent)]


def _whole(error: BaseException) -> str:
    texts = []
    current: BaseException | None = error
    while current is not None:
        texts += [str(current), *map(str, getattr(current, "schema_errors", ()))]
        current = current.__cause__
    return " | ".join(texts)


def _without(value: Any, root: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_without(item, root) for item in value]
    if not isinstance(value, dict):
        return value
    found = {key: _without(item, root) for key, item in value.items() if not _is_trouble(key, item)}
    required, properties = found.get("required"), value.get("properties")
    if isinstance(required, list) and isinstance(properties, dict):
        found["required"] = [name for name in required if not _is_read_only(properties.get(name), root, 0)]
        if not found["required"]:
            del found["required"]
    return found


def _is_trouble(key: str, value: Any) -> bool:
    return (
        (key == "readOnly" and isinstance(value, bool))
        or (key == "discriminator" and isinstance(value, dict) and "propertyName" in value)
        or (key == "enum" and value == [])
        or (key == "servers" and isinstance(value, list))
        or (key == "security" and isinstance(value, list))
    )


def _is_read_only(value: Any, root: Mapping[str, Any], depth: int) -> bool:
    if not isinstance(value, dict) or depth > 6:
        return False
    reference = value.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        target: Any = root
        for part in reference[2:].split("/"):
            target = target.get(part.replace("~1", "/").replace("~0", "~"), {}) if isinstance(target, dict) else {}
        return _is_read_only(target, root, depth + 1)
    if value.get("readOnly") is True:
        return True
    return any(_is_read_only(member, root, depth + 1) for member in value.get("allOf") or ())
