"""Search answers: their tokens, and how often they show the needed tool with its return type.

    python -m benchmarks.search_answers [--data DIR] [--document FILE ...] [--queries 150]

Each set is measured with one query and with three queries in a search, at the default page of ten hits. The gym has two
sets: its labelled queries, and the requests of its tasks with the tools that their programs call. `--data` adds a
folder of retrieval sets, whose tools declare no results. `--document` adds API documents, each queried by the
summaries of its own operations.

`on page` is the share of needed tools among the hits. The other columns are shares of these:

- `arguments`: shown with the types of their arguments, and not by name alone;
- `fields`: shown with the fields of their result, and of the items in a list of results, at least ten of each. Only
  tools with a declared result count.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from benchmarks.retrieval import labelled, read_rows, sets, tools_of
from benchmarks.search import gym
from codemode.catalog import tokens
from codemode.catalog.catalog import Catalog
from codemode.search.evaluation.evaluation import LabelledQuery
from codemode.search.index.index import Index
from codemode.search.query import Query
from codemode.search.render import render
from codemode.sources.documents.parse import parse_document
from codemode.sources.openapi.document import load_openapi

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from codemode.catalog.tool import Tool

    Corpus = tuple[list[Tool], list[LabelledQuery]]

_CALL = re.compile(r"\bgym\.\w+\.\w+")
_TYPE = re.compile(r"\b[A-Z]\w*")
_ENOUGH_FIELDS = 10
_GROUPINGS = 5
_KNOWN = frozenset(("Any", "None", "Literal", "Content", "NotRequired"))


@dataclass
class Measured:
    """Tokens of each answer, and how each needed tool is shown: "fields", "arguments", "name" or "" (not found).

    `declared` is whether the tool has a declared result.
    """

    tokens: list[int] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    declared: list[bool] = field(default_factory=list)

    def row(self) -> str:
        """Return the figures as cells of a table."""
        sizes = sorted(self.tokens)
        found = [how for how in self.shown if how]
        with_result = [how for how, declared in zip(self.shown, self.declared, strict=True) if how and declared]
        arguments = 1 - found.count("name") / max(1, len(found))
        fields = f"{with_result.count('fields') / len(with_result):.3f}" if with_result else "-"
        page = len(found) / len(self.shown)
        return (
            f"{statistics.median(sizes):.0f} | {sizes[int(len(sizes) * 0.9)]} | {page:.3f} | {arguments:.3f} | {fields}"
        )


def main() -> None:
    options = _options()
    print("| set | queries | median tokens | p90 | on page | arguments | fields |")
    print("|---|---|---|---|---|---|---|")
    for name, (tools, queries) in _corpora(options):
        index = Index.build(tools)
        for count in (1, 3):
            print(f"| {name} | {count} | {measure(index, queries, count).row()} |", flush=True)


def measure(index: Index, queries: Sequence[LabelledQuery], count: int) -> Measured:
    """Search `count` queries at a time and measure the answers. Several queries are grouped in several ways."""
    by_id = {tool.id: tool for tool in index.tools}
    measured = Measured()
    for seed in range(1 if count == 1 else _GROUPINGS):
        order = list(queries)
        random.Random(seed).shuffle(order)  # noqa: S311
        for start in range(0, len(order) - count + 1, count):
            _measure(measured, index, order[start : start + count], by_id)
    return measured


def _measure(measured: Measured, index: Index, asked: Sequence[LabelledQuery], by_id: Mapping[str, Tool]) -> None:
    hits = index.with_look_ups(index.search(Query(tuple(each.query for each in asked))))
    text = render(hits)
    measured.tokens.append(tokens.count(text))
    found = {hit.tool.id for hit in hits.hits}
    for gold in (gold for each in asked for gold in each.gold if gold):
        measured.shown.append(min((shown(by_id[id_], text) for id_ in gold & found), key=_ORDER.index, default=""))
        measured.declared.append(any(by_id[id_].returns is not None for id_ in gold))


_ORDER = ("fields", "arguments", "name", "")


def shown(tool: Tool, text: str) -> str:
    """Return how an answer shows a tool: "fields", "arguments", "name", or "" if it does not."""
    lines = [line for line in text.splitlines() if line.startswith((f"{tool.id}(", f"{tool.id} "))]
    if not lines:
        return ""
    line = next((line for line in lines if ") -> " in line), "")
    if not line:
        return "name"
    result = line.partition(") -> ")[2].partition("  #")[0]
    if tool.returns is not None and not tool.returns.resolved().types():
        return "fields"
    return "fields" if tool.returns is not None and _defines(text, result) else "arguments"


def _defines(text: str, result: str) -> bool:
    """Return whether all types of a result are defined, and those of the items of a list in it."""
    for name in set(_TYPE.findall(result)) - _KNOWN:
        definition = re.search(rf"^(?:# )?{name}(?:\[X\])? = (.*)$", text, re.MULTILINE)
        if definition is None or _is_cut(definition[1]):
            return False
        for item in re.findall(r"[\"']?(?:items|data|results)[\"']?: list\[([A-Z]\w+)\]", definition[1]):
            if re.search(rf"^(?:# )?{item} = ", text, re.MULTILINE) is None:
                return False
    return True


def _is_cut(definition: str) -> bool:
    """Return whether a definition leaves out fields although it has fewer than `_ENOUGH_FIELDS`."""
    if not re.search(r"\d+ more(?: fields|\})", definition):
        return False
    return len(re.findall(r"\w+\"?(?=[,:])", definition)) < _ENOUGH_FIELDS


def _corpora(options: argparse.Namespace) -> Iterator[tuple[str, Corpus]]:
    tools, queries = gym()
    yield "gym", (tools, queries)
    yield "gym tasks", (tools, list(_tasks(tools)))
    for path in options.document:
        operations = _document(path)
        asked = [LabelledQuery(tool.summary, (frozenset((tool.id,)),)) for tool in operations if tool.summary]
        yield path.stem, (operations, random.Random(3).sample(asked, min(len(asked), options.queries)))  # noqa: S311
    for name in sets(options.data) if options.data else ():
        rows = tools_of(read_rows(options.data / name / "catalog.jsonl"))
        yield name, (rows, labelled(options.data / name / "queries.jsonl", rows, options.queries))


def _tasks(tools: Sequence[Tool]) -> Iterator[LabelledQuery]:
    """Yield the requests of the gym's tasks with the tools that their programs call."""
    known = {tool.id for tool in tools}
    tasks = yaml.safe_load((files("api_specs.gym") / "tasks.yaml").read_text(encoding="utf-8"))["tasks"]
    for task in tasks:
        program = task.get("solution") or task.get("answer") or ""
        called = dict.fromkeys(id_ for id_ in _CALL.findall(program) if id_ in known)
        yield LabelledQuery(task["message"], tuple(frozenset((id_,)) for id_ in called))


def _document(path: Path) -> list[Tool]:
    document = parse_document(path.read_text(encoding="utf-8"), location=str(path))
    return list(Catalog(load_openapi(document, name=path.stem).tools))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--document", type=Path, nargs="*", default=[])
    parser.add_argument("--queries", type=int, default=150)
    return parser.parse_args()


if __name__ == "__main__":
    main()
