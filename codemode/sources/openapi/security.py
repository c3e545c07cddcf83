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
    if kind == "openIdConnect":
        return SecurityScheme(name, SchemeKind.BEARER, metadata_url=_text(node, "openIdConnectUrl"))
    if kind == "http" and scheme == "bearer":
        return SecurityScheme(name, SchemeKind.BEARER)
    if kind == "oauth2":
        flows = _flows(node)
        return SecurityScheme(
            name,
            SchemeKind.OAUTH2,
            detail=", ".join(flows),
            token_url=_first(flows, "tokenUrl"),
            authorization_url=_first(flows, "authorizationUrl"),
            device_url=_first(flows, "deviceAuthorizationUrl"),
            metadata_url=_text(node, "oauth2MetadataUrl"),
        )
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
    alternatives = [alternative for alternative in declared if isinstance(alternative, Mapping)]
    usable = [scopes for scopes in alternatives if all(name in schemes for name in scopes)]
    if alternatives and not usable:
        return None
    return tuple(tuple(_with_scopes(schemes[name], named) for name, named in scopes.items()) for scopes in usable)


def _with_scopes(scheme: SecurityScheme, scopes: Any) -> SecurityScheme:
    if not scheme.is_login or not isinstance(scopes, list):
        return scheme
    return scheme._replace(scopes=tuple(scope for scope in scopes if isinstance(scope, str)))


def _prefix(description: Any) -> str:
    """Return the word before the key in its header, as frameworks describe it: `prefix "Token"`, `Bearer <key>`."""
    match = _PREFIX.search(description) if isinstance(description, str) else None
    return (match[1] or match[2]) if match else ""


#: `required prefix "Token"` (drf-spectacular), `Token <key>`, `ApiKey {key}`, `Bearer YOUR_KEY`.
_PREFIX = re.compile(r"""prefix\s+["'`]([A-Za-z][\w-]*)["'`]|\b([A-Z][A-Za-z-]*)\s+(?:<|\{|\[|YOUR_|your_)""")


def _flows(node: Schema) -> dict[str, Any]:
    """Return the flows of a scheme by name, those of a person's login first. Swagger 2.0 has one, in the scheme."""
    flows = node.get("flows")
    named = flows if isinstance(flows, Mapping) else {node.get("flow", ""): node.value}
    return {str(name): named[name] for name in sorted(named, key=lambda name: name not in _LOGIN_FLOWS)}


def _first(flows: Mapping[str, Any], key: str) -> str:
    urls = [flow.get(key) for flow in flows.values() if isinstance(flow, Mapping)]
    return next((url for url in urls if isinstance(url, str)), "")


def _text(node: Schema, key: str) -> str:
    value = node.get(key)
    return value if isinstance(value, str) else ""


#: Flows in which a person logs in and a token endpoint issues the tokens, as OpenAPI 3.x and Swagger 2.0 name them.
_LOGIN_FLOWS = ("authorizationCode", "accessCode", "deviceAuthorization")
