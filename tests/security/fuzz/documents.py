"""Random parts of real documents broken: `python tests/security/fuzz/documents.py FILE … [--rounds 2000]`.

Each round gives a clear error, or all of the rest, unchanged. Exits with a traceback at the first that does not.
"""

from __future__ import annotations

import argparse
import copy
import lzma
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from codemode.catalog.shapes import Shapes
from codemode.errors import SourceError
from codemode.sources.check import check_surface
from codemode.sources.documents.parse import parse_document
from codemode.sources.openapi.document import load_openapi

if TYPE_CHECKING:
    from codemode.catalog.tool import Tool
    from codemode.sources.loaded import Surface

_JUNK: tuple[Any, ...] = (
    None, True, False, -1, 1.5, 10**30, "", "x", "/", [], ["a", None], [[]], {}, {"": {}}, {"$ref": "#/nowhere"},
    {"$ref": 5}, {"$ref": "http://[bad"}, {"$ref": "#"}, {"$ref": "other.json"}, {"type": ["string", 5]},
    {"allOf": [{"$ref": "#/components/schemas"}]}, {"properties": {"a": None}}, {"items": [{}]}, {"in": {}},
    {"enum": [[1], {"a": 2}]}, {"name": 3, "in": "query"}, {"content": {"a/b": 3}},
)  # fmt: skip


def _place(document: Any, chance: random.Random) -> tuple[Any, Any, tuple[str, ...]]:
    """A random place in the document: its holder, its key, and the way to it."""
    way: list[str] = []
    holder = document
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = chance.choice(keys)
        way.append(str(key))
        inner = holder[key]
        if not isinstance(inner, (dict, list)) or not inner or chance.random() < 0.12:
            return holder, key, tuple(way)
        holder = inner


def _facts(tool: Tool) -> Any:
    shapes = Shapes()
    parameters = [(p.name, p.required, p.location, shapes.text(p.schema)) for p in tool.parameters]
    return tool.id, tool.summary, tool.effect, parameters, tool.invocation.servers == ()


def _is_elsewhere(tool: Tool, way: tuple[str, ...]) -> bool:
    """Whether an operation cannot be affected by what stands at `way`: another path was changed."""
    return way[0] == "paths" and len(way) > 2 and tool.key.partition(" ")[2] != way[1]


def _broken(document: Any, chance: random.Random) -> tuple[Any, tuple[str, ...]]:
    changed = copy.deepcopy(document)
    holder, key, way = _place(changed, chance)
    if chance.random() < 0.3:
        del holder[key]
    else:
        holder[key] = copy.deepcopy(chance.choice(_JUNK))
    return changed, way


def _loaded(document: Any, ids: dict[str, str]) -> Surface | None:
    try:
        return load_openapi(document, name="api", known_ids=ids)
    except SourceError as error:
        assert "Traceback" not in str(error)
        assert str(error)
        return None


def mutate(document: Any, rounds: int, seed: str) -> None:
    """Break one part in each round. Raises AssertionError where that costs another part."""
    whole = load_openapi(document, name="api")
    ids = {tool.key: tool.id for tool in whole.tools}
    before = {tool.key: _facts(tool) for tool in whole.tools}
    chance = random.Random(seed)  # noqa: S311 -- a sample, no secret
    for round_ in range(rounds):
        changed, way = _broken(document, chance)
        surface = _loaded(changed, ids)
        if surface is None:
            continue
        after = {tool.key: _facts(tool) for tool in surface.tools}
        for tool in whole.tools:
            if _is_elsewhere(tool, way):
                assert after.get(tool.key) == before[tool.key], (way, tool.key)
        if round_ % 20 == 0:
            check_surface(surface)


def main() -> None:
    """Break the given documents."""
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=2_000, help="of each document")
    options = parser.parse_args()
    for path in options.files:
        data = path.read_bytes()
        text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode()
        mutate(parse_document(text), options.rounds, path.name)
        sys.stdout.write(f"{path.name}: {options.rounds} broken parts cost no other\n")


if __name__ == "__main__":
    main()
