"""Generated arguments for the operations of real documents, sent, and judged by an independent library."""

from __future__ import annotations

import lzma
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from codemode.catalog.arguments import validate
from codemode.catalog.shapes import Shapes
from codemode.catalog.tool import Location
from codemode.errors import CallError
from codemode.sources.documents import parse_document
from codemode.sources.openapi import load_openapi
from codemode.transports.http import HttpTransport, Reach
from codemode.transports.invocation import BodyKind
from tests.codemode.sources.examples import example
from tests.codemode.sources.judge import CANNOT, Judge

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from codemode.catalog.tool import Tool


class Wire(httpx2.AsyncBaseTransport):
    """Records the last request as it would go out, and answers it."""

    def __init__(self) -> None:
        self.target = ""
        self.headers: dict[str, str] = {}
        self.body = b""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.target = request.url.raw_path.decode()
        self.headers = dict(request.headers)
        self.body = await request.aread()
        return httpx2.Response(200, headers={"Content-Type": "application/json"}, content=b"{}")


def _arguments(tool: Tool, chance: random.Random) -> dict[str, Any]:
    fields = [parameter for parameter in tool.parameters if parameter.location is Location.BODY_FIELD]
    found: dict[str, Any] = {}
    if fields and tool.details.body is not None and (tool.details.body_required or chance.random() < 0.6):
        whole = example(tool.details.body, chance)
        for parameter in fields:
            if isinstance(whole, dict) and parameter.wire_name in whole:
                found[parameter.name] = whole[parameter.wire_name]
            elif parameter.required:
                found[parameter.name] = example(parameter.schema, chance)
    for parameter in tool.parameters:
        if parameter.location is not Location.BODY_FIELD and (parameter.required or chance.random() < 0.5):
            found[parameter.name] = example(parameter.schema, chance)
    return found


async def _verdict(tool: Tool, arguments: dict[str, Any], wire: Wire, transport: HttpTransport, judge: Judge) -> str:
    try:
        await transport.call(tool, validate(tool, arguments))
    except CallError as error:
        return f"refused: {error}"
    method, _, path = tool.key.partition(" ")
    body = tool.invocation.body
    if body is not None and body.kind is BodyKind.MULTIPART:
        return "cannot judge: multipart"  # the judge takes every part for bytes
    errors = judge.errors(path, method, wire.target, wire.headers, wire.body)
    if not errors:
        return "accepted"
    if any(text in error for error in errors for text in CANNOT):
        return "cannot judge: " + next(text for text in CANNOT if any(text in error for error in errors))
    return f"rejected: {wire.target} {errors[0][:600]}"


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("name", "most", "unjudged"),
    [
        ("notion.json", 24, 0),
        ("prefect-3.8.8.json", 187, 0),
        ("discord.json", 242, 0.02),
        ("digitalocean.json", 250, 0.02),
        ("github.json", 250, 0.02),
        ("openai.yaml", 200, 0.1),
        ("msgraph-v1.json", 200, 0.02),
    ],
)
async def test_operations_are_callable_as_their_document_says(
    name: str, most: int, unjudged: float, shared_data: Callable[[str], Path]
) -> None:
    text = lzma.decompress((shared_data("specs") / f"{name}.xz").read_bytes()).decode()
    document = parse_document(text)
    tools = list(load_openapi(document, name="api").tools)
    chance = random.Random(name)  # noqa: S311 -- a sample, no secret
    chosen = tools if len(tools) <= most else chance.sample(tools, most)
    judge, wire = Judge(document), Wire()
    transport = HttpTransport(Reach("api", "http://judge.test"), connections=wire)
    verdicts = {tool.id: await _verdict(tool, _arguments(tool, chance), wire, transport, judge) for tool in chosen}
    await transport.aclose()
    kinds = Counter(verdict.partition(":")[0] for verdict in verdicts.values())
    bad = {id_: verdict for id_, verdict in verdicts.items() if verdict.startswith(("refused", "rejected"))}
    assert not bad
    assert kinds["cannot judge"] <= len(chosen) * unjudged
    shapes = Shapes(naming=False)
    parameters = [parameter for tool in chosen for parameter in tool.parameters]
    untyped = [parameter for parameter in parameters if shapes.text(parameter.schema) == "Any"]
    assert len(untyped) <= len(parameters) * 0.05


_JUNK: tuple[Any, ...] = (
    None, True, -1, 1.5, "", "x", [], ["a", None], {}, {"$ref": "#/nowhere"}, {"$ref": 5}, {"$ref": "http://[bad"},
    {"$ref": "#"}, {"type": ["string", 5]}, {"allOf": [{"$ref": "#/components/schemas"}]}, {"properties": {"a": None}},
    {"items": [{}]}, {"enum": [[1], {"a": 2}]}, 10**30,
)  # fmt: skip


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in _places(item, (*path, key)))]


async def test_no_malformed_part_of_a_document_stops_the_rest(shared_data: Callable[[str], Path]) -> None:
    text = lzma.decompress((shared_data("specs") / "notion.json.xz").read_bytes()).decode()
    chance = random.Random(7)  # noqa: S311 -- a sample, no secret
    transport = HttpTransport(Reach("api", "http://judge.test"), connections=Wire())
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
                await transport.call(tool, validate(tool, arguments))
            except CallError as error:
                assert str(error)
    await transport.aclose()
