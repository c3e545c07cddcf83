"""Retrieval sets: read public sets into tools and labelled queries. A set is a folder with two files.

A row of `catalog.jsonl` is `{id, name, namespace, description, parameters, title?, category?}`. A row of
`queries.jsonl` is `{query, gold, alternatives?, title_only?}`. `Codemode` is an adapter for evaluators that work with
such rows.
"""

from __future__ import annotations

import json
import random
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from codemode.catalog.effects import effect_of_method, judge
from codemode.catalog.schema import Schema
from codemode.catalog.tool import Effect, Location, Parameter, Tool
from codemode.search.evaluation.evaluation import LabelledQuery
from codemode.search.index.index import Index
from codemode.search.query import Query

if TYPE_CHECKING:
    from pathlib import Path

Row = dict[str, Any]


class Codemode:
    """A search over rows: call `build(rows)`, then `search(query, k)`."""

    def build(self, rows: list[Row]) -> None:
        """Index the tools of the rows."""
        self._index = Index.build(tools_of(rows))

    def search(self, query: str, k: int) -> list[str]:
        """Return the ids of the `k` best rows."""
        return [hit.tool.invocation for hit in self._index.search(Query((query,), limit=k)).hits]


def read_rows(path: Path) -> list[Row]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def sets(data: Path) -> list[str]:
    """Return the names of the sets that have their own catalog."""
    return sorted(path.parent.name for path in data.glob("*/queries.jsonl") if (path.parent / "catalog.jsonl").exists())


def labelled(path: Path, tools: list[Tool], limit: int = 0) -> list[LabelledQuery]:
    """Read the queries of a set, with the ids of `tools` as labels. `limit` draws a seeded sample."""
    ids = {tool.invocation: tool.id for tool in tools}
    rows = read_rows(path)
    if limit and len(rows) > limit:
        random.Random(11).shuffle(rows)  # noqa: S311
        rows = rows[:limit]
    return [_labelled(row, ids) for row in rows]


def _labelled(row: Row, ids: dict[str, str]) -> LabelledQuery:
    others = row.get("alternatives") or {}
    gold = tuple(frozenset(ids[each] for each in (name, *others.get(name, ())) if each in ids) for name in row["gold"])
    return LabelledQuery(row["query"], gold, row.get("tag") or "")


def tools_of(rows: list[Row]) -> list[Tool]:
    """Convert rows to tools with unique ids. `Tool.invocation` is the id of the row."""
    taken: dict[str, int] = {}
    tools = []
    for row in rows:
        id_ = f"{_name(row.get('namespace') or '') or 'tools'}.{row['name']}"
        count = taken[id_] = taken.get(id_, 0) + 1
        tools.append(_tool(row, id_ if count == 1 else f"{id_}_{count}"))
    return tools


def _tool(row: Row, id_: str) -> Tool:
    schema = row.get("parameters") or {}
    required = set(schema.get("required") or ())
    return Tool(
        id=id_,
        source=row.get("source", ""),
        summary="",
        description=row.get("description") or "",
        parameters=tuple(
            _parameter(name, value, required=name in required)
            for name, value in (schema.get("properties") or {}).items()
        ),
        effect=_effect(row),
        invocation=row["id"],
        tags=tuple(tag for tag in (row.get("title"), row.get("category"), row.get("namespace")) if tag),
    )


def _effect(row: Row) -> Effect:
    method = effect_of_method(row.get("method") or "POST")
    return judge(None, method, (row["name"],), row.get("description") or "").effect


def _parameter(name: str, value: Any, *, required: bool) -> Parameter:
    declared = value if isinstance(value, dict) else {}
    text = str(declared.get("description") or "")
    return Parameter(name, name, Location.ARGUMENT, required, Schema.of(declared), text)


@cache
def _name(text: str) -> str:
    return re.sub(r"\W+", "_", text).strip("_").lower()
