"""Read Security Scheme and Security Requirement Objects (OpenAPI 3.x, Swagger 2.0)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from codemode.transports.auth.requirements import SchemeKind, SecurityScheme

if TYPE_CHECKING:
    from codemode.catalog.schema import Schema
    from codemode.transports.auth.requirements import Requirements


def scheme_of(name: str, node: Schema) -> SecurityScheme:
    """Read a Security Scheme Object. Unsupported types get the kind `other`."""
    kind = str(node.get("type", ""))
    scheme = str(node.get("scheme", "")).lower()
    location = str(node.get("in", ""))
    if kind == "apiKey" and location in ("header", "query", "cookie"):
        parameter = str(node.get("name", ""))
        prefix = _prefix(node.get("description")) if parameter.lower() == "authorization" else ""
        return SecurityScheme(name, SchemeKind.API_KEY, location, parameter, prefix=prefix)
    if kind == "basic" or (kind == "http" and scheme == "basic"):
        return SecurityScheme(name, SchemeKind.BASIC)
    if kind == "openIdConnect" or (kind == "http" and scheme == "bearer"):
        return SecurityScheme(name, SchemeKind.BEARER)
    if kind == "oauth2":
        return SecurityScheme(name, SchemeKind.OAUTH2, detail=_flows(node), token_url=_token_url(node))
    if kind == "mutualTLS":
        return SecurityScheme(name, SchemeKind.MUTUAL_TLS)
    return SecurityScheme(name, SchemeKind.OTHER, detail=f"{kind or 'unknown'} {scheme}".strip())


def requirements_of(operation: Schema, root: Mapping[str, Any], schemes: Mapping[str, SecurityScheme]) -> Requirements:
    """Return the security requirements of an operation, else those of its document, else None.

    Alternatives with an undeclared scheme are dropped. If none is left, returns None.
    """
    declared = operation.get("security", root.get("security"))
    if not isinstance(declared, list):
        return None
    alternatives = [tuple(alternative) for alternative in declared if isinstance(alternative, Mapping)]
    usable = [names for names in alternatives if all(name in schemes for name in names)]
    if alternatives and not usable:
        return None
    return tuple(tuple(schemes[name] for name in names) for names in usable)


def _prefix(description: Any) -> str:
    """Return the word before the key in its header, as frameworks describe it: `prefix "Token"`, `Bearer <key>`."""
    match = _PREFIX.search(description) if isinstance(description, str) else None
    return (match[1] or match[2]) if match else ""


#: `required prefix "Token"` (drf-spectacular), `Token <key>`, `ApiKey {key}`, `Bearer YOUR_KEY`.
_PREFIX = re.compile(r"""prefix\s+["'`]([A-Za-z][\w-]*)["'`]|\b([A-Z][A-Za-z-]*)\s+(?:<|\{|\[|YOUR_|your_)""")


def _flows(node: Schema) -> str:
    flows = node.get("flows")
    return ", ".join(map(str, flows)) if isinstance(flows, Mapping) else str(node.get("flow", ""))


def _token_url(node: Schema) -> str:
    flows = node.get("flows")
    holders: list[Any] = [node.value, *(flows.values() if isinstance(flows, Mapping) else ())]
    urls = [location.get("tokenUrl") for location in holders if isinstance(location, Mapping)]
    return next((url for url in urls if isinstance(url, str)), "")
