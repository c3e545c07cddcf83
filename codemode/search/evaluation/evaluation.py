"""Evaluation: labelled queries, and retrieval metrics over them.

A file of labelled queries is YAML (`queries:` with a list of entries) or JSON lines (one entry a line). An entry has
`query`, `gold`, and optionally `tag` and `alternatives`. `gold` names all tools that the query needs, by id, alias or
last part of the id. `alternatives` maps a gold tool to equally right ones.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import yaml

from codemode.errors import ConfigurationError
from codemode.search.analysis import wordlists
from codemode.text.nearest import nearest
from codemode.text.yaml import YamlLoader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from codemode.catalog.catalog import Catalog

TOP = 10  # hits that are evaluated
_TYPO_RATE = 0.3  # share of words of four or more letters that get a typo
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class LabelledQuery:
    """A query, and for each tool that it needs the set of right ids."""

    query: str
    gold: tuple[frozenset[str], ...]
    tag: str = ""


@dataclass(frozen=True, slots=True)
class Metrics:
    """Means over queries, 0 to 1. `all_gold` is the share of queries with all needed tools in the first ten hits."""

    queries: int
    recall_1: float
    recall_10: float
    mrr_10: float
    ndcg_10: float
    all_gold: float


def read_labelled(path: Path, catalog: Catalog) -> list[LabelledQuery]:
    """Read a file of labelled queries.

    Raises ConfigurationError if the file is unreadable or malformed, or if a gold tool is unknown or ambiguous.
    """
    names = _names(catalog)
    return [_labelled(entry, names, f"{path}, entry {place}") for place, entry in enumerate(_entries(path), 1)]


def evaluate(search: Callable[[str], Sequence[str]], queries: Iterable[LabelledQuery]) -> Metrics:
    """Return the metrics of `search` over the queries. `search` returns ids, best first."""
    rows = [measure(search(labelled.query), labelled.gold) for labelled in queries]
    return mean(rows)


def mean(rows: Sequence[Metrics]) -> Metrics:
    """Return the unweighted mean of the metrics, with the queries added up."""
    if not rows:
        return Metrics(0, 0.0, 0.0, 0.0, 0.0, 0.0)
    values = {
        field.name: sum(getattr(row, field.name) for row in rows) / len(rows)
        for field in fields(Metrics)
        if field.name != "queries"
    }
    return Metrics(sum(row.queries for row in rows), **values)


def measure(ids: Sequence[str], gold: Sequence[frozenset[str]]) -> Metrics:
    """Return the metrics of one query. A tool that is right for two needs counts for the first open one."""
    ranks = []
    open_needs = list(gold)
    for rank, id_ in enumerate(list(dict.fromkeys(ids))[:TOP]):
        need = next((need for need in open_needs if id_ in need), None)
        if need is not None:
            open_needs.remove(need)
            ranks.append(rank)
    gain = sum(1 / math.log2(rank + 2) for rank in ranks)
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(len(gold), TOP)))
    return Metrics(
        queries=1,
        recall_1=float(ranks[:1] == [0]),
        recall_10=len(ranks) / len(gold),
        mrr_10=1 / (ranks[0] + 1) if ranks else 0.0,
        ndcg_10=gain / ideal,
        all_gold=float(not open_needs),
    )


def with_typos(query: str, rate: float = _TYPO_RATE) -> str:
    """Return the query with typos: letters replaced, left out, added or swapped. The result is deterministic."""
    chance = random.Random(int(hashlib.blake2s(query.encode(), digest_size=6).hexdigest(), 16))  # noqa: S311

    def mistyped(match: re.Match[str]) -> str:
        word = match.group()
        if word.lower() in wordlists.stop_words() or chance.random() >= rate:
            return word
        for _ in range(1 if len(word) < 7 else chance.choice((1, 1, 2))):
            word = _edit(word, chance)
        return word

    return re.sub(r"[A-Za-z]{4,}", mistyped, query)


def _edit(word: str, chance: random.Random) -> str:
    place, kind = chance.randrange(len(word)), chance.choice("rlas")
    before, letter, after = word[:place], word[place], word[place + 1 :]
    match kind:
        case "r":
            return before + chance.choice(_LETTERS) + after
        case "l":
            return before + after
        case "a":
            return before + chance.choice(_LETTERS) + letter + after
        case _:
            return before + after[:1] + letter + after[1:]


def _names(catalog: Catalog) -> Mapping[str, str]:
    """Map each unambiguous id, path, last part and alias to the id of its tool."""
    names: dict[str, str | None] = {}
    for tool in catalog:
        for name in {tool.path, tool.path.rpartition(".")[2], *tool.aliases}:
            names[name] = None if names.get(name, tool.id) != tool.id else tool.id
    return {name: id_ for name, id_ in names.items() if id_} | {tool.id: tool.id for tool in catalog}


def _entries(path: Path) -> list[Any]:
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        message = f"the labelled queries {path} cannot be read: {reason}"
        raise ConfigurationError(message) from None
    if path.suffix in (".jsonl", ".ndjson"):
        return [_line(line, f"{path}, line {at}") for at, line in enumerate(content.splitlines(), 1) if line.strip()]
    try:
        parsed = yaml.load(content, YamlLoader)  # noqa: S506 -- a safe loader
    except yaml.YAMLError as error:
        message = f"{path}: not YAML: {' '.join(str(error).split())}"
        raise ConfigurationError(message) from None
    entries = parsed.get("queries") if isinstance(parsed, dict) else parsed
    if not isinstance(entries, list) or not entries:
        message = f"{path}: expected a list of labelled queries under `queries`"
        raise ConfigurationError(message)
    return entries


def _line(line: str, where: str) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        message = f"{where}: not JSON: {error}"
        raise ConfigurationError(message) from None


def _labelled(entry: Any, names: Mapping[str, str], where: str) -> LabelledQuery:
    if not isinstance(entry, dict) or not isinstance(entry.get("query"), str) or not entry.get("gold"):
        message = f"{where}: expected `query` (text) and `gold` (names of tools), got {entry!r}"
        raise ConfigurationError(message)
    others = entry.get("alternatives") or {}
    gold = []
    for name in [entry["gold"]] if isinstance(entry["gold"], str) else entry["gold"]:
        ids = {names[each] for each in (name, *others.get(name, ())) if each in names}
        if not ids:
            near = nearest(str(name), names)
            hint = f"; nearest: {near}" if near else "; write its id"
            message = f"{where}: the name {name!r} belongs to no tool, or to several{hint}"
            raise ConfigurationError(message)
        gold.append(frozenset(ids))
    return LabelledQuery(entry["query"], tuple(gold), str(entry.get("tag") or ""))
