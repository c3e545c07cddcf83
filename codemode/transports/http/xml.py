"""XML encoding of values by their schemas (OpenAPI 3.1, XML Object; 3.2's `nodeType`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from codemode.errors import CallError
from codemode.transports.http.styles import scalar

if TYPE_CHECKING:
    from codemode.catalog.schema import Schema

_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def xml_of(value: Any, schema: Schema, name: str) -> bytes:
    """Return an XML document. Its root is named by the schema, else by its component, else `name`.

    Raises CallError for values that XML cannot express.
    """
    root = str(_xml(schema).get("name") or schema.resolved().name or name)
    document = "".join(_written(root, value, schema))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{document}'.encode()


def _written(name: str, value: Any, schema: Schema | None) -> Iterator[str]:
    """Yield one value as elements: one element per list item, inside another element if the schema wraps them."""
    xml = _xml(schema)
    own = str(xml.get("name") or name)
    if not isinstance(value, list):
        yield _element(own, value, schema)
        return
    items = None if schema is None else schema.items()
    inner = str(_xml(items).get("name") or own)
    parts = "".join(part for item in value for part in _written(inner, item, items))
    yield _tagged(own, xml, "", parts) if xml.get("wrapped") is True or xml.get("nodeType") == "element" else parts


def _element(name: str, value: Any, schema: Schema | None) -> str:
    xml = _xml(schema)
    if not isinstance(value, Mapping):
        return _tagged(name, xml, "", _text(value))
    properties = {} if schema is None else schema.properties()
    attributes, content = "", ""
    for key, item in value.items():
        if item is None:
            continue
        inner = properties.get(str(key))
        annotation = _xml(inner)
        kind = annotation.get("nodeType") or ("attribute" if annotation.get("attribute") is True else "element")
        if kind == "attribute":
            attributes += f" {_qualified(str(annotation.get('name') or key), annotation)}={quoteattr(_plain(item))}"
            attributes += _namespace(annotation)
        elif kind in ("text", "cdata"):
            content += _text(item)
        else:
            content += "".join(_written(str(key), item, inner))
    return _tagged(name, xml, attributes, content)


def _tagged(name: str, xml: Mapping[str, Any], attributes: str, content: str) -> str:
    tag = _qualified(name, xml)
    start = f"<{tag}{_namespace(xml)}{attributes}"
    return f"{start}>{content}</{tag}>" if content else f"{start}/>"


def _qualified(name: str, xml: Mapping[str, Any]) -> str:
    prefix = xml.get("prefix")
    for part in (name, *((prefix,) if prefix else ())):
        if not _NAME.fullmatch(str(part)):
            message = f"{part!r} is not a valid name of an XML element"
            raise CallError(message)
    return f"{prefix}:{name}" if prefix else name


def _namespace(xml: Mapping[str, Any]) -> str:
    namespace, prefix = xml.get("namespace"), xml.get("prefix")
    if not isinstance(namespace, str) or not namespace:
        return ""
    return f" xmlns{f':{prefix}' if prefix else ''}={quoteattr(namespace)}"


def _xml(schema: Schema | None) -> Mapping[str, Any]:
    annotation = None if schema is None else schema.first("xml")
    return annotation if isinstance(annotation, Mapping) else {}


def _text(value: Any) -> str:
    return escape(_plain(value))


def _plain(value: Any) -> str:
    text = scalar(value)
    if _NOT_XML.search(text):
        raise CallError("XML cannot hold control characters")
    return text
