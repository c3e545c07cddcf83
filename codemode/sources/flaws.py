"""What an operation says that cannot be read, each with its place and what it costs: nothing is dropped in silence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from codemode.catalog.schema import Dialect
from codemode.sources.loaded import SourceWarning
from codemode.sources.openapi.bodies import is_form

if TYPE_CHECKING:
    from codemode.catalog.schema import Schema
    from codemode.sources.openapi.operations import Operation

_PLACES = ("path", "query", "header", "cookie")

#: Where parameters may stand besides: as the body (2.0), as the whole query (3.2).
_MORE_PLACES = {
    Dialect.SWAGGER_2_0: ("body", "formData"),
    Dialect.OPENAPI_3_0: (),
    Dialect.OPENAPI_3_1: ("querystring",),
}


def flaws_of(operation: Operation) -> Iterator[SourceWarning]:
    """The flaws of one operation's parameters and body."""
    places = (*_PLACES, *_MORE_PLACES.get(operation.document.dialect, ()))
    for holder, pointer in ((operation.node, operation.pointer), (operation.item, operation.item_pointer)):
        declared = holder.get("parameters")
        if isinstance(declared, list):
            for index, value in enumerate(declared):
                reason = _of_parameter(holder, value, places, operation)
                if reason:
                    yield SourceWarning(f"{pointer}/parameters/{index}", reason)
        elif declared is not None:
            yield SourceWarning(
                f"{pointer}/parameters", f"is {_kind(declared)}, not a list: the operation has none of them"
            )
    yield from _undeclared(operation)
    yield from _of_body(operation)


def _undeclared(operation: Operation) -> Iterator[SourceWarning]:
    if not operation.placeholders:
        return
    holders = (holder for holder in (operation.node, operation.item) if isinstance(holder.get("parameters"), list))
    nodes = [holder.at(value).resolved() for holder in holders for value in holder.get("parameters")]
    declared = {str(node.get("name")) for node in nodes if node.get("in") == "path"}
    for name in operation.placeholders:
        if name not in declared:
            yield SourceWarning(operation.pointer, f"{{{name}}} in the path is declared nowhere: it is taken for text")


def _of_parameter(holder: Schema, value: Any, places: tuple[str, ...], operation: Operation) -> str:
    node = holder.at(value).resolved()
    if not isinstance(node.value, Mapping):
        reference = value.get("$ref") if isinstance(value, Mapping) else None
        if reference is None:
            return f"is {_kind(value)}, not a parameter: it is no argument"
        return f"refers to {reference!r}, where no parameter is: it is no argument"
    name, place = node.get("name"), node.get("in")
    if not isinstance(name, str) or not name:
        return "has no name: it is no argument"
    if place not in places:
        return f"{name!r} stands `in: {place}`, which is none of {', '.join(places)}: it is no argument"
    if place == "path" and f"{{{name}}}" not in operation.path:
        return f"{name!r} stands in the path, which has no {{{name}}}: it is no argument"
    if place == "querystring" and not is_form(node.get("content")):
        return f"{name!r} is a whole query that is no form: it is no argument"
    return ""


def _of_body(operation: Operation) -> Iterator[SourceWarning]:
    declared = operation.node.get("requestBody")
    if declared is None or operation.document.dialect is Dialect.SWAGGER_2_0:
        return
    pointer = f"{operation.pointer}/requestBody"
    node = operation.node.at(declared).resolved()
    if not isinstance(declared, Mapping) or not isinstance(node.value, Mapping):
        reference = declared.get("$ref") if isinstance(declared, Mapping) else None
        what = f"refers to {reference!r}, where no body is" if reference else f"is {_kind(declared)}, not a body"
        yield SourceWarning(pointer, f"{what}: none is sent")
    elif not isinstance(node.get("content"), Mapping) or not node.get("content"):
        yield SourceWarning(pointer, "says nothing of its content: no body is sent")


def _kind(value: Any) -> str:
    names = {dict: "a mapping", list: "a list", str: "text", bool: "true or false", type(None): "empty"}
    return names.get(type(value), "a number")
