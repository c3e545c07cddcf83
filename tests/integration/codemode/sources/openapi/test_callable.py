"""Generated arguments for the operations of real documents, sent over a connection, and judged by others' libraries."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from codemode.catalog.arguments import validate
from codemode.errors import CallError
from codemode.sources.documents.parse import parse_document
from codemode.sources.openapi.document import load_openapi
from codemode.transports.base import CallContext
from codemode.transports.http.transport import HttpTransport, Reach
from tests.documents import SMALL, check_is_callable, published
from tests.nightly.callable.measure import recorder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize("name", SMALL)
async def test_operations_are_callable_as_their_document_says(name: str, shared_data: Callable[[str], Path]) -> None:
    await check_is_callable(published(shared_data, name), name, most=120)


_JUNK: tuple[Any, ...] = (
    None, True, -1, 1.5, "", "x", [], ["a", None], {}, {"$ref": "#/nowhere"}, {"$ref": 5}, {"$ref": "http://[bad"},
    {"$ref": "#"}, {"type": ["string", 5]}, {"allOf": [{"$ref": "#/components/schemas"}]}, {"properties": {"a": None}},
    {"items": [{}]}, {"enum": [[1], {"a": 2}]}, 10**30,
)  # fmt: skip


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in _places(item, (*path, key)))]


async def test_no_malformed_part_of_a_document_stops_the_rest(shared_data: Callable[[str], Path]) -> None:
    text = published(shared_data, "notion.json")
    chance = random.Random(7)  # noqa: S311 -- a sample, no secret
    async with recorder() as server:
        transport = HttpTransport(Reach("api", server.url))
        for _ in range(25):
            document = parse_document(text)
            for section in ("paths", "paths", "components"):
                *way, last = chance.choice([place for place in _places(document[section]) if place])
                holder = document[section]
                for key in way:
                    holder = holder[key]
                holder[last] = chance.choice(_JUNK)
            for tool in load_openapi(document, name="api").tools:
                assert tool.parameter_names == tuple(parameter.name for parameter in tool.parameters)
                arguments = {p.name: chance.choice(["a", 1, ["a"], {"a": 1}, None, True]) for p in tool.parameters}
                try:
                    await transport.call(tool, validate(tool, arguments), CallContext())
                except CallError as error:
                    assert str(error)
        await transport.aclose()
