"""The operations of an OpenAPI document. An invalid operation does not affect the others."""

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
from codemode.sources.openapi.path_templates import PathTemplate, path_template
from codemode.sources.openapi.security import requirements_of, scheme_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.transports.auth.requirements import Requirements, SecurityScheme

#: HTTP methods of a Path Item Object (OpenAPI 3.2 adds `query` and `additionalOperations`).
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")


#: An HTTP method (a token, RFC 9110, section 5.6.2), in upper or lower case.
_METHOD = re.compile(r"[A-Za-z][A-Za-z0-9!#$%&'*+.^_`|~-]*")


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a document.

    `node` is its Operation Object and `item` the enclosing Path Item Object. `pointer` and `item_pointer` are their
    JSON pointers in the entry document.
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
        """The parts that the tool id is derived from."""
        tags = self.node.get("tags")
        tag = next((tag for tag in tags if isinstance(tag, str)), "") if isinstance(tags, list) else ""
        operation_id = self.node.get("operationId")
        return OperationKey(self.method, self.path, operation_id if isinstance(operation_id, str) else "", tag)

    @property
    def path_parameters(self) -> frozenset[str]:
        """The names of the declared path parameters."""
        declared = ((holder, value) for holder in (self.node, self.item) for value in _listed(holder.get("parameters")))
        nodes = (holder.at(value).resolved() for holder, value in declared)
        return frozenset(str(node.get("name")) for node in nodes if node.get("in") == "path")

    @property
    def template(self) -> PathTemplate:
        """The path with plain placeholders."""
        return path_template(self.path, self.path_parameters if "{" in self.path else ())

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The placeholder names of the path, in order."""
        return self.template.names

    @property
    def security(self) -> Requirements:
        """What the operation requires: alternatives of security schemes. None if the document has none."""
        return requirements_of(self.node, self.document.root, self.document.security_schemes)

    def text(self, key: str) -> str:
        """Return a string field of the operation. Empty if it is missing or not a string."""
        value = self.node.get(key)
        return value if isinstance(value, str) else ""


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


class ApiDocument:
    """An OpenAPI 3.x or Swagger 2.0 document. References are resolved on use.

    Raises SourceError if `root` is not such a document.
    """

    def __init__(self, root: Any, *, uri: str = "", retrieve: Callable[[str], Any] | None = None) -> None:
        if not isinstance(root, Mapping):
            raise SourceError(_not_a_document(root), location=uri)
        self.root: Mapping[str, Any] = root
        self.uri = uri
        self.dialect = _dialect(root, uri)
        if not isinstance(root.get("paths"), (Mapping, type(None))):
            message = "`paths` is not a mapping"
            raise SourceError(message, location=uri, pointer="/paths")
        self.graph = Graph(root, self.dialect, uri=uri, retrieve=partial(_retrieve, root, own_uri(root, uri), retrieve))
        self.node = Schema(root, self.graph, uri)

    @property
    def title(self) -> str:
        """The title of the API."""
        return self._info("title")

    @property
    def description(self) -> str:
        """The description of the API, or else its summary."""
        return self._info("description") or self._info("summary")

    def _info(self, key: str) -> str:
        info = self.root.get("info")
        value = info.get(key) if isinstance(info, Mapping) else None
        return "" if value is None else str(value)

    @cached_property
    def security_schemes(self) -> Mapping[str, SecurityScheme]:
        """The declared security schemes, by name."""
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
        """The parameters that carry API keys, as `(in, lower-case name)`. They are never arguments of a tool."""
        keys = (scheme for scheme in self.security_schemes.values() if scheme.parameter)
        return frozenset((scheme.place, scheme.parameter.lower()) for scheme in keys)

    def operations(self, warnings: list[SourceWarning]) -> Iterator[Operation]:
        """Yield every readable operation, and add the others to `warnings`."""
        for path, value in (self.root.get("paths") or {}).items():
            if str(path).startswith("x-"):
                continue
            pointer = f"/paths/{escaped(str(path))}"
            item = self.node.at(value).resolved()
            if not isinstance(item.value, Mapping):
                warnings.append(SourceWarning(pointer, "is not a path item: its operations are left out"))
                continue
            yield from self._operations_of(str(path), item, pointer, warnings)

    def _operations_of(
        self, path: str, item: Schema, pointer: str, warnings: list[SourceWarning]
    ) -> Iterator[Operation]:
        extra = item.get("additionalOperations")
        candidates = [(method, item.get(method), f"{pointer}/{method}") for method in METHODS]
        candidates += [
            (str(method), value, f"{pointer}/additionalOperations/{escaped(str(method))}")
            for method, value in (extra.items() if isinstance(extra, Mapping) else ())
        ]
        for method, value, location in candidates:
            if value is None:
                continue
            node = item.at(value).resolved()
            if not isinstance(node.value, Mapping):
                warnings.append(SourceWarning(location, "is not an operation: it is left out"))
            elif not _METHOD.fullmatch(method):
                warnings.append(SourceWarning(location, f"{method!r} is not an HTTP method: the operation is left out"))
            else:
                yield Operation(self, method.upper(), path, node, item, location, pointer)

    def operation(self, method: str, path: str) -> Operation:
        """Return one operation by the method and path of its key. Raises KeyError if it does not exist."""
        item = self.node.at(self.root["paths"][path]).resolved()
        warnings: list[SourceWarning] = []
        for operation in self._operations_of(path, item, f"/paths/{escaped(path)}", warnings):
            if operation.method == method:
                return operation
        raise KeyError(method, path)

    def servers_of(self, operation: Operation) -> tuple[str, ...]:
        """Return the base URLs that the document suggests for an operation, with default values for variables."""
        for node in (operation.node, operation.item):
            urls = server_urls(node.get("servers"))
            if urls:
                return urls
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
        """The default values of variables in `servers`, as `NAME=DEFAULT`."""
        servers = self.root.get("servers")
        declared = [one for one in servers if isinstance(one, Mapping)] if isinstance(servers, list) else []
        return tuple(dict.fromkeys(f"{name}={default}" for one in declared for name, default in _variables(one)))


def _variables(server: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the variables of a Server Object with their default values."""
    variables = server.get("variables")
    for name, variable in variables.items() if isinstance(variables, Mapping) else ():
        if isinstance(variable, Mapping):
            choices = variable.get("enum")
            yield name, str(variable.get("default", choices[0] if isinstance(choices, list) and choices else ""))


def server_urls(servers: Any) -> tuple[str, ...]:
    """Return the URLs of a list of Server Objects, with default values for variables."""
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
    message = f"has neither `openapi: 3.x` nor `swagger: 2.0` at the top level (found: {known})"
    raise SourceError(message, location=uri)


def _retrieve(root: Any, own: str, retrieve: Callable[[str], Any] | None, uri: str) -> Any:
    """Return a referenced document, or the entry document for its `$self` URI."""
    if own and uri == own:
        return root
    return None if retrieve is None else retrieve(uri)


def _not_a_document(root: Any) -> str:
    if root is None or root == "":
        return "is empty: an API document is a mapping that begins with `openapi:` or `swagger:`"
    kind = {list: "a list", str: "a string", bool: "a boolean"}.get(type(root), "a number")
    return f"is {kind}: an API document is a mapping that begins with `openapi:` or `swagger:`"
