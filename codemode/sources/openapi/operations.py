"""The operations of an OpenAPI document, one by one: whatever is wrong with one costs no other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from codemode.catalog.names import OperationKey
from codemode.catalog.schema import Dialect, Graph, Schema
from codemode.errors import SourceError
from codemode.sources.documents.parse import escaped, own_uri
from codemode.sources.loaded import SourceWarning
from codemode.sources.openapi.security import scheme_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.transports.auth.requirements import SecurityScheme

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")

#: HTTP methods of a Path Item Object (OpenAPI 3.2 adds `query` and `additionalOperations`).
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")


#: A method of HTTP (RFC 9110, 5.6.2: a token), in any case.
_METHOD = re.compile(r"[A-Za-z][A-Za-z0-9!#$%&'*+.^_`|~-]*")


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation where it stands: `node` the Operation Object, `item` the Path Item Object around it.

    `pointer` and `item_pointer` are JSON pointers to them in the entry document.
    """

    document: ApiDocument
    method: str
    path: str
    node: Schema
    item: Schema
    pointer: str
    item_pointer: str = ""

    @property
    def key(self) -> OperationKey:
        """What the operation's id is made from."""
        tags = self.node.get("tags")
        tag = next((tag for tag in tags if isinstance(tag, str)), "") if isinstance(tags, list) else ""
        operation_id = self.node.get("operationId")
        return OperationKey(self.method, self.path, operation_id if isinstance(operation_id, str) else "", tag)

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names in the path's braces, in order."""
        return tuple(_PLACEHOLDER.findall(self.path))

    def text(self, key: str) -> str:
        """A text field of the operation; empty where it is missing or no text."""
        value = self.node.get(key)
        return value if isinstance(value, str) else ""


class ApiDocument:
    """An OpenAPI 3.x or Swagger 2.0 document, its references resolved where they are needed."""

    def __init__(self, root: Any, *, uri: str = "", retrieve: Callable[[str], Any] | None = None) -> None:
        if not isinstance(root, Mapping):
            raise SourceError(_no_document(root), location=uri)
        self.root: Mapping[str, Any] = root
        self.uri = uri
        self.dialect = _dialect(root, uri)
        if not isinstance(root.get("paths"), (Mapping, type(None))):
            message = "`paths` is not a mapping"
            raise SourceError(message, location=uri, pointer="/paths")
        self.graph = Graph(
            root, self.dialect, uri=uri, retrieve=partial(_retrieved, root, own_uri(root, uri), retrieve)
        )
        self.node = Schema(root, self.graph, uri)

    @property
    def title(self) -> str:
        """The API's own name."""
        info = self.root.get("info")
        return str(info.get("title", "")) if isinstance(info, Mapping) else ""

    @cached_property
    def security_schemes(self) -> Mapping[str, SecurityScheme]:
        """The declared ways of authentication, by name."""
        if self.dialect is Dialect.SWAGGER_2_0:
            declared = self.root.get("securityDefinitions")
        else:
            components = self.root.get("components")
            declared = components.get("securitySchemes") if isinstance(components, Mapping) else None
        if not isinstance(declared, Mapping):
            return {}
        return {str(name): scheme_of(str(name), self.node.at(value).resolved()) for name, value in declared.items()}

    @cached_property
    def scheme_parameters(self) -> frozenset[tuple[str, str]]:
        """Where API keys travel, as `(in, name in lower case)`: no arguments, though they may be declared as such."""
        keys = (scheme for scheme in self.security_schemes.values() if scheme.parameter)
        return frozenset((scheme.place, scheme.parameter.lower()) for scheme in keys)

    def operations(self, warnings: list[SourceWarning]) -> Iterator[Operation]:
        """Every operation that can be told apart; what cannot be read is added to `warnings`."""
        for path, value in (self.root.get("paths") or {}).items():
            if str(path).startswith("x-"):
                continue
            pointer = f"/paths/{escaped(str(path))}"
            item = self.node.at(value).resolved()
            if not isinstance(item.value, Mapping):
                warnings.append(SourceWarning(pointer, "no path item can be read here: its operations are missing"))
                continue
            yield from self._operations_of(str(path), item, pointer, warnings)

    def _operations_of(
        self, path: str, item: Schema, pointer: str, warnings: list[SourceWarning]
    ) -> Iterator[Operation]:
        extra = item.get("additionalOperations")
        named = [(method, item.get(method), f"{pointer}/{method}") for method in METHODS]
        named += [
            (str(method), value, f"{pointer}/additionalOperations/{escaped(str(method))}")
            for method, value in (extra.items() if isinstance(extra, Mapping) else ())
        ]
        for method, value, where in named:
            if value is None:
                continue
            node = item.at(value).resolved()
            if not isinstance(node.value, Mapping):
                warnings.append(SourceWarning(where, "no operation can be read here: it is missing"))
            elif not _METHOD.fullmatch(method):
                warnings.append(SourceWarning(where, f"{method!r} is no method of HTTP: the operation is missing"))
            else:
                yield Operation(self, method.upper(), path, node, item, where, pointer)

    def operation(self, method: str, path: str) -> Operation:
        """One operation by the method and path of its key. Raises KeyError where it is not there."""
        item = self.node.at(self.root["paths"][path]).resolved()
        warnings: list[SourceWarning] = []
        for operation in self._operations_of(path, item, f"/paths/{escaped(path)}", warnings):
            if operation.method == method:
                return operation
        raise KeyError(method, path)

    def servers_of(self, operation: Operation) -> tuple[str, ...]:
        """The base URLs that the document suggests for an operation, variables filled with their defaults."""
        for node in (operation.node, operation.item):
            found = server_urls(node.get("servers"))
            if found:
                return found
        return self.servers

    @property
    def servers(self) -> tuple[str, ...]:
        """The base URLs that the document suggests for all operations."""
        if self.dialect is not Dialect.SWAGGER_2_0:
            return server_urls(self.root.get("servers"))
        host = self.root.get("host")
        base = str(self.root.get("basePath") or "/")
        if not isinstance(host, str) or not host:
            return (base,)
        schemes = self.root.get("schemes")
        known = [scheme for scheme in schemes if scheme in ("https", "http")] if isinstance(schemes, list) else []
        return (f"{'https' if 'https' in known or not known else known[0]}://{host}{base}",)

    @property
    def server_defaults(self) -> tuple[str, ...]:
        """What variables were filled with in `servers`, as `NAME=DEFAULT`."""
        servers = self.root.get("servers")
        written = [one for one in servers if isinstance(one, Mapping)] if isinstance(servers, list) else []
        return tuple(dict.fromkeys(f"{name}={default}" for one in written for name, default in _variables(one)))


def _variables(server: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The variables of a Server Object, each with its default."""
    variables = server.get("variables")
    for name, variable in variables.items() if isinstance(variables, Mapping) else ():
        if isinstance(variable, Mapping):
            choices = variable.get("enum")
            yield name, str(variable.get("default", choices[0] if isinstance(choices, list) and choices else ""))


def server_urls(servers: Any) -> tuple[str, ...]:
    """The URLs of a list of Server Objects, variables filled with their defaults."""
    urls = []
    for server in servers if isinstance(servers, list) else []:
        url = server.get("url") if isinstance(server, Mapping) else None
        if not isinstance(url, str):
            continue
        for name, default in _variables(server):
            url = url.replace(f"{{{name}}}", default)
        urls.append(url)
    return tuple(urls)


def _dialect(root: Mapping[str, Any], uri: str) -> Dialect:
    if str(root.get("swagger", "")).startswith("2"):
        return Dialect.SWAGGER_2_0
    version = str(root.get("openapi", ""))
    if version.startswith("3.0"):
        return Dialect.OPENAPI_3_0
    if version.startswith("3."):
        return Dialect.OPENAPI_3_1
    known = ", ".join(list(root)[:5]) or "nothing"
    message = f"neither `openapi: 3.x` nor `swagger: 2.0` stands at its top (found: {known})"
    raise SourceError(message, location=uri)


def _retrieved(root: Any, own: str, retrieve: Callable[[str], Any] | None, uri: str) -> Any:
    """Another document of the tree, or this one by the name it gives itself."""
    if own and uri == own:
        return root
    return None if retrieve is None else retrieve(uri)


def _no_document(root: Any) -> str:
    if root is None or root == "":
        return "is empty: an API document is a mapping that begins with `openapi:` or `swagger:`"
    kind = {list: "a list", str: "text", bool: "true or false"}.get(type(root), "a number")
    return f"an API document is a mapping that begins with `openapi:` or `swagger:`, this is {kind}"
