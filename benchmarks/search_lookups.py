"""Look-ups: how often an answer has a tool that yields a required id.

    python -m benchmarks.search_lookups [--document FILE ...] [--queries 150]

The gym, and each API document, is asked for the summaries of its own operations that require an id. Counted are the
ids that some tool of the catalog yields: `hits` is the share with such a tool among the ten hits, `look-ups` that with
one among the look-ups of the first hit, and `either` that with one on the page. `first` is the share of operations
that are the first hit: only these have look-ups.

A tool yields an id if it reads, does not require the same id, and

- is `GET` of the path before it, with records in its result; or
- has the id's own name as a field of its result (`client_id`, not `id`); or
- is named like the thing, with an `id` in the records of its result.

This is judged here, by paths and schemas, and not by the code that is measured.
"""

from __future__ import annotations

import argparse
import lzma
import random
import re
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from codemode.catalog.catalog import Catalog
from codemode.catalog.identifiers import snake
from codemode.catalog.tool import Effect, Location
from codemode.search.analysis import text
from codemode.search.index.index import Index
from codemode.search.query import Query
from codemode.sources.documents.parse import parse_document
from codemode.sources.openapi.document import load_openapi

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Parameter, Tool

_ID = re.compile(r"(?P<what>.*?)_?(?:id|uuid|guid|number|slug|key)$")
_DEEPEST = 5  # levels of a result


class Needed(NamedTuple):
    """An id that an operation requires: the parameter, and the ids of the tools that yield it."""

    tool: Tool
    parameter: Parameter
    providers: frozenset[str]


def main() -> None:
    options = _options()
    print("| surface | ids | hits | look-ups | either | operations first |")
    print("|---|---|---|---|---|---|")
    totals = [0] * 5
    for path in [Path(str(files("api_specs.gym") / "openapi.yaml")), *options.document]:
        tools = tools_in(path)
        counts = measure(tools, options.queries)
        print(_row(path.parent.name if path.stem == "openapi" else path.name.partition(".")[0], counts), flush=True)
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
    print(_row("all", totals))


def measure(tools: Sequence[Tool], most: int) -> list[int]:
    """Return how many ids there are, and for how many a provider is a hit, a look-up, either, and the tool first."""
    index = Index.build(tools)
    needed = list(needed_ids(index.tools))
    if len(needed) > most:
        needed = random.Random(3).sample(needed, most)  # noqa: S311
    counts = [0] * 5
    for each in needed:
        hits = index.with_look_ups(index.search(Query((each.tool.summary,))))
        among_hits = any(hit.tool.id in each.providers for hit in hits.hits)
        look_ups = hits.look_ups.get(each.tool.id, ())
        among_look_ups = any(one.tool.id in each.providers for one in look_ups)
        is_first = hits.hits[0].tool.id == each.tool.id
        row = (True, among_hits, among_look_ups, among_hits or among_look_ups, is_first)
        counts = [count + one for count, one in zip(counts, row, strict=True)]
    return counts


def needed_ids(tools: Sequence[Tool]) -> Iterator[Needed]:
    """Yield the required ids of all tools that some other tool yields."""
    reads = [(tool, _fields(tool)) for tool in tools if tool.effect is Effect.READ and tool.returns is not None]
    at_path = {tool.key: tool.id for tool, fields in reads if fields}
    for tool in tools:
        for parameter in tool.parameters:
            if parameter.required and tool.summary:
                providers = frozenset(_providers(tool, parameter, reads)) | _of_path(tool, parameter, at_path)
                if providers - {tool.id}:
                    yield Needed(tool, parameter, providers - {tool.id})


def _of_path(tool: Tool, parameter: Parameter, at_path: dict[str, str]) -> frozenset[str]:
    collection = _collection(tool, parameter)
    return frozenset((at_path[f"GET {collection}"],)) if f"GET {collection}" in at_path else frozenset()


def _collection(tool: Tool, parameter: Parameter) -> str:
    before, between, _ = tool.key.partition(" ")[2].partition(f"/{{{parameter.wire_name}}}")
    return before if between and parameter.location is Location.PATH and not before.endswith("}") else ""


def _providers(tool: Tool, parameter: Parameter, reads: Sequence[tuple[Tool, frozenset[str]]]) -> Iterator[str]:
    name = snake(parameter.wire_name)
    match = _ID.fullmatch(name)
    if match is None:
        return
    is_written = parameter.location is not Location.PATH and tool.key.startswith(("POST", "PUT", "PATCH"))
    if is_written and not match["what"]:  # the id of what the call makes
        return
    segment = _collection(tool, parameter).rpartition("/")[2]
    things = frozenset(text.terms(match["what"].replace("_", " ")) or text.terms(segment))
    for other, fields in reads:
        if any(each.required and snake(each.wire_name) == name for each in other.parameters):
            continue
        path = [part for part in other.key.partition(" ")[2].split("/") if part and not part.startswith("{")]
        named = [frozenset(text.terms(part)) for part in (path[-2:] or [other.path])]  # `/flows/filter`, `/flows`
        is_named = bool(things) and things in named
        if (match["what"] and name in fields) or (is_named and "id" in fields):
            yield other.id


def _fields(tool: Tool) -> frozenset[str]:
    """Return the names of all fields of the objects in a result."""
    names: set[str] = set()

    def walk(schema: Schema, depth: int) -> None:
        if depth > _DEEPEST or len(names) > 3_000:
            return
        target = schema.resolved()
        for variant in target.variants():
            walk(variant, depth + 1)
        items = target.items()
        if items is not None:
            walk(items, depth + 1)
        for name, field in target.properties().items():
            names.add(snake(name))
            inner = field.resolved()
            if inner.properties() or inner.items() is not None or inner.variants():
                walk(inner, depth + 1)

    if tool.returns is not None:
        walk(tool.returns, 0)
    return frozenset(names)


def _row(name: str, counts: Sequence[int]) -> str:
    shares = " | ".join(f"{count / max(counts[0], 1):.3f}" for count in counts[1:])
    return f"| {name} | {counts[0]} | {shares} |"


def tools_in(path: Path) -> list[Tool]:
    content = (lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()).decode()
    name = path.parent.name if path.stem == "openapi" else re.sub(r"\W", "_", path.name.partition(".")[0])
    document = parse_document(content, location=str(path).removesuffix(".xz"))
    return list(Catalog(load_openapi(document, name=name).tools))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--document", type=Path, nargs="*", default=[])
    parser.add_argument("--queries", type=int, default=150)
    return parser.parse_args()


if __name__ == "__main__":
    main()
