"""Find invalid parameters and bodies of an operation. Each is reported with its place and its consequence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from codemode.catalog.schema import Dialect
from codemode.sources.loaded import SourceWarning

if TYPE_CHECKING:
    from codemode.catalog.schema import Schema
    from codemode.sources.openapi.operations import Operation

_LOCATIONS = ("path", "query", "header", "cookie")

#: Further values of `in`: the body in Swagger 2.0, the whole query string in OpenAPI 3.2.
_EXTRA_LOCATIONS = {
    Dialect.SWAGGER_2_0: ("body", "formData"),
    Dialect.OPENAPI_3_0: (),
    Dialect.OPENAPI_3_1: ("querystring",),
}


#: The headers that a source sets for all its calls, each with the way to set it.
_SOURCE_HEADERS = {
    "authorization": "set it with `credentials`",
    "proxy-authorization": "a source has no proxy",
    "cookie": "set it with `credentials` of kind api_key and location: cookie",
    "user-agent": "set it with `headers`",
    "content-encoding": "bodies are sent without compression",
}


def flaws_of(operation: Operation) -> Iterator[SourceWarning]:
    """Yield a warning for each invalid parameter and body of an operation."""
    locations = (*_LOCATIONS, *_EXTRA_LOCATIONS.get(operation.document.dialect, ()))
    for holder, pointer in ((operation.node, operation.pointer), (operation.item, operation.item_pointer)):
        declared = holder.get("parameters")
        if isinstance(declared, list):
            for index, value in enumerate(declared):
                reason = _parameter_flaw(holder, value, locations, operation)
                if reason:
                    yield SourceWarning(f"{pointer}/parameters/{index}", reason)
        elif declared is not None:
            yield SourceWarning(
                f"{pointer}/parameters", f"is {_kind(declared)}, not a list: all parameters are ignored"
            )
    yield from _undeclared_placeholders(operation)
    yield from _body_flaws(operation)


def reserved_headers(operations: Iterable[Operation]) -> Iterator[SourceWarning]:
    """Yield one warning for each header that operations declare as a parameter, but the source sets."""
    pointers: dict[str, list[str]] = {}
    for operation in operations:
        for holder, pointer in ((operation.node, operation.pointer), (operation.item, operation.item_pointer)):
            declared = holder.get("parameters")
            for index, value in enumerate(declared if isinstance(declared, list) else ()):
                node = holder.at(value).resolved()
                name = str(node.get("name"))
                if node.get("in") == "header" and _is_withheld(name.lower(), operation):
                    pointers.setdefault(name.title(), []).append(f"{pointer}/parameters/{index}")
    for name, places in pointers.items():
        others = len(set(places)) - 1
        more = f" (and {others} more parameters)" if others else ""
        yield SourceWarning(places[0], f"the header {name} is no argument{more}: {_SOURCE_HEADERS[name.lower()]}")


def _is_withheld(name: str, operation: Operation) -> bool:
    """Whether nothing else in the document says how the header of a parameter is set."""
    if name not in _SOURCE_HEADERS or ("header", name) in operation.document.scheme_parameters:
        return False
    return name != "authorization" or not operation.security


def _undeclared_placeholders(operation: Operation) -> Iterator[SourceWarning]:
    declared = operation.path_parameters
    for name in operation.placeholders:
        if name not in declared:
            yield SourceWarning(operation.pointer, f"{{{name}}} in the path is not declared: it is used as a string")


def _parameter_flaw(holder: Schema, value: Any, locations: tuple[str, ...], operation: Operation) -> str:
    node = holder.at(value).resolved()
    if not isinstance(node.value, Mapping):
        reference = value.get("$ref") if isinstance(value, Mapping) else None
        if reference is None:
            return f"is {_kind(value)}, not a parameter: it is ignored"
        return f"refers to {reference!r}, which is not a parameter: it is ignored"
    name, location = node.get("name"), node.get("in")
    if not isinstance(name, str) or not name:
        return "has no name: it is ignored"
    if location not in locations:
        return f"{name!r} has `in: {location}`, which is not one of {', '.join(locations)}: it is ignored"
    if location == "path" and name not in operation.placeholders:
        return f"{name!r} is a path parameter, but the path has no {{{name}}}: it is ignored"
    return ""


def _body_flaws(operation: Operation) -> Iterator[SourceWarning]:
    declared = operation.node.get("requestBody")
    if declared is None or operation.document.dialect is Dialect.SWAGGER_2_0:
        return
    pointer = f"{operation.pointer}/requestBody"
    node = operation.node.at(declared).resolved()
    if not isinstance(declared, Mapping) or not isinstance(node.value, Mapping):
        reference = declared.get("$ref") if isinstance(declared, Mapping) else None
        problem = f"refers to {reference!r}, which is not a body" if reference else f"is {_kind(declared)}, not a body"
        yield SourceWarning(pointer, f"{problem}: no body is sent")
    elif not isinstance(node.get("content"), Mapping) or not node.get("content"):
        yield SourceWarning(pointer, "has no `content`: no body is sent")


def _kind(value: Any) -> str:
    names = {dict: "a mapping", list: "a list", str: "a string", bool: "a boolean", type(None): "empty"}
    return names.get(type(value), "a number")
