"""Security Scheme and Security Requirement Objects (OpenAPI 3.x, Swagger 2.0), as a transport needs them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from codemode.transports.auth.requirements import SchemeKind, SecurityScheme

if TYPE_CHECKING:
    from codemode.catalog.schema import Schema
    from codemode.transports.auth.requirements import Requirements


def scheme_of(name: str, node: Schema) -> SecurityScheme:
    """A Security Scheme Object. One that nobody can configure is of the kind `other`."""
    kind = str(node.get("type", ""))
    scheme = str(node.get("scheme", "")).lower()
    place = str(node.get("in", ""))
    if kind == "apiKey" and place in ("header", "query", "cookie"):
        return SecurityScheme(name, SchemeKind.API_KEY, place, str(node.get("name", "")))
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
    """What an operation requires: its own `security`, else that of the document; None where neither says anything.

    An alternative with a scheme that is declared nowhere cannot be met: where all are so, nothing usable is said.
    """
    declared = operation.get("security", root.get("security"))
    if not isinstance(declared, list):
        return None
    alternatives = [tuple(alternative) for alternative in declared if isinstance(alternative, Mapping)]
    usable = [names for names in alternatives if all(name in schemes for name in names)]
    if alternatives and not usable:
        return None
    return tuple(tuple(schemes[name] for name in names) for names in usable)


def _flows(node: Schema) -> str:
    flows = node.get("flows")
    return ", ".join(map(str, flows)) if isinstance(flows, Mapping) else str(node.get("flow", ""))


def _token_url(node: Schema) -> str:
    flows = node.get("flows")
    places: list[Any] = [node.value, *(flows.values() if isinstance(flows, Mapping) else ())]
    urls = [place.get("tokenUrl") for place in places if isinstance(place, Mapping)]
    return next((url for url in urls if isinstance(url, str)), "")
