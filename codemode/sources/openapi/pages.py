"""Paging that a document declares in an extension of an operation.

Read are `x-speakeasy-pagination`, `x-fern-pagination`, Azure's `x-ms-pageable`, and `x-pagination` in the words of any
of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from codemode.catalog.paging import declared_paging

if TYPE_CHECKING:
    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Paging, Parameter

_EXTENSIONS = ("x-speakeasy-pagination", "x-fern-pagination", "x-ms-pageable", "x-pagination")

#: The words of the extensions, for the fields of `Paging`.
_WORDS = {
    "cursor": "cursor",
    "page": "page",
    "offset": "offset",
    "limit": "size",
    "step": "size",
    "size": "size",
    "results": "items",
    "items": "items",
    "itemName": "items",
    "nextCursor": "next",
    "next_cursor": "next",
    "nextUrl": "next",
    "next_uri": "next",
    "nextLinkName": "next",
    "next": "next",
}

#: What precedes a name or a path: JSONPath, runtime expressions, JSON pointers.
_BEFORE = re.compile(r"^\$?\.?(request|response)?\.?(query|body)?[#.]*/?")


def paging_of_extension(operation: Schema, parameters: tuple[Parameter, ...]) -> Paging | None:
    """Return how an operation is paged, if an extension says so with parameters and fields that exist."""
    for name in _EXTENSIONS:
        extension = operation.get(name)
        if isinstance(extension, Mapping):
            words = {_WORDS[word]: _plain(text) for word, text in _said(extension) if word in _WORDS and text}
            paging = declared_paging(parameters, words)
            if paging is not None:
                return paging
    return None


def _said(extension: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Return the words of an extension with the parameters and fields that they name."""
    inputs, outputs = extension.get("inputs"), extension.get("outputs")
    for each in inputs if isinstance(inputs, list) else ():
        if isinstance(each, Mapping):
            yield str(each.get("type")), str(each.get("name"))
    for words in (extension, outputs if isinstance(outputs, Mapping) else {}):
        yield from ((str(word), text) for word, text in words.items() if isinstance(text, str))


def _plain(text: str) -> str:
    """Return a name, or a path with dots: `$.meta.next`, `$response.body#/meta/next` and `meta.next` are the same."""
    return _BEFORE.sub("", text).removesuffix("[*]").strip("./").replace("/", ".")
