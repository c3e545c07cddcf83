"""Menus, layer by layer: how often all needed tools are offered, their tokens, and the choice of a fixed chooser.

    python -m benchmarks.menus [FOLDER of sets, by default ../shared/retrieval] [--sets livemcp …] [--embeddings]

The layers, for a catalog without keywords:

- `none`: all tools, up to the limit of a request;
- `namespaces`: all tools of the namespaces that the query routes to;
- `+ retrieval`: the best tools of those namespaces;
- `+ dynamic loading`: tools that the model requests in addition.

The gym adds menus with keywords. `code mode` is the alternative: two definitions, and the answer of one search.

`all offered` is the share of queries with all needed tools in the menu. `chosen` is the share with a needed tool chosen
by a simple chooser, which counts common words and is independent of the search. With dynamic loading, the chooser goes
through the clauses of the request. It requests a tool for each clause that no tool covers well, and all tools of the
namespaces it chose from; the larger menu is then sent and counted again. Tokens are estimates of
`codemode.catalog.tokens` for definitions and prompt. The last table is the time of a selection by keywords.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import re
import statistics
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from api_specs.gym.document import PATH as GYM
from benchmarks.retrieval import labelled, read_rows, tools_of
from codemode.catalog.catalog import Catalog
from codemode.catalog.definitions import two_tools
from codemode.catalog.tokens import estimate
from codemode.catalog.tool import Effect
from codemode.menus.conversation import Conversation
from codemode.menus.menu import Definitions
from codemode.menus.selection import Selector
from codemode.menus.session import MenuSession
from codemode.menus.usage import ToolUse, propose_menu
from codemode.search.evaluation.evaluation import read_labelled
from codemode.search.finder import Finder
from codemode.search.query import Query
from codemode.search.render import render
from codemode.service import CodeMode
from codemode.settings import MenuSettings, SearchSettings, Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codemode.catalog.tool import Tool
    from codemode.menus.menu import Menu
    from codemode.search.evaluation.evaluation import LabelledQuery

SETS = Path(__file__).parents[2] / "shared" / "retrieval"

#: Least score of a sure choice, as a share of the highest possible score. Below it, the chooser requests a tool.
SURE = 0.5

LAYERS: dict[str, dict[str, Any]] = {
    "namespaces": {"router": "lexical", "retrieval": 0},
    "+ retrieval": {"router": "lexical", "retrieval": 15},
    "+ dynamic loading": {"router": "lexical", "retrieval": 15},
}


@dataclass
class Row:
    """The results of one layer, one element for each query."""

    offered: list[bool] = field(default_factory=list)
    chosen: list[bool] = field(default_factory=list)
    tools: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)

    def add(self, query: LabelledQuery, tools: Sequence[Tool], choice: Tool | None, count: int, tokens: int) -> None:
        """Add the menu and the choice for a query."""
        ids = {tool.id for tool in tools}
        self.offered.append(all(ids & right for right in query.gold))
        self.chosen.append(choice is not None and any(choice.id in right for right in query.gold))
        self.tools.append(count)
        self.tokens.append(tokens)

    def __str__(self) -> str:
        shares = f"{statistics.mean(self.offered):11.3f} {statistics.mean(self.chosen):8.3f}"
        return f"{shares} {statistics.mean(self.tools):7.1f} {statistics.mean(self.tokens):9,.0f}"


class Chooser:
    """Chooses the tool whose name and description contain most words of the query, weighted by rarity."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._words = {tool.id: words(f"{tool.id} {tool.description or tool.summary}") for tool in tools}
        spread = Counter(word for tool_words in self._words.values() for word in tool_words)
        self._weight = {word: math.log(1 + len(tools) / count) for word, count in spread.items()}

    def choose(self, text: str, tools: Iterable[Tool]) -> tuple[Tool | None, float]:
        """Return the best tool, and the share of the query that it covers, 0 to 1."""
        asked = words(text)
        most = sum(self._weight.get(word, 0.0) for word in asked) or 1.0
        best, score = None, 0.0
        for tool in tools:
            own = self._words[tool.id]
            matched = sum(self._weight[word] for word in asked & own) / math.log(10 + len(own))
            if matched > score:
                best, score = tool, matched
        return best, score / most


def steps(text: str) -> list[str]:
    """Split a request into the parts that a model would search for one after another."""
    parts = re.split(r"[.!?;\n]+|,\s+(?:and|then)\s+|\s+(?:and then|then|and)\s+|,\s+", text)
    parts = [part.strip()[:1000] for part in parts if len(part.split()) > 1]
    return parts[:20] or [text[:1000]]


def words(text: str) -> frozenset[str]:
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return frozenset(word.rstrip("s") for word in re.findall(r"[a-z0-9]+", split.lower()) if len(word) > 2)


async def measure(
    name: str,
    catalog: Catalog,
    queries: Sequence[LabelledQuery],
    menus: dict[str, Any],
    folder: Path,
    search: dict[str, Any],
) -> None:
    finder = Finder(SearchSettings.model_validate(search), folder / name)
    finder.open(catalog, [""])
    finder.settle([], 600)
    chooser = Chooser(catalog.tools)
    rows: dict[str, Row] = {"none": none(catalog, queries, chooser)}
    for layer, menu in menus.items():
        selector = Selector(catalog, finder, MenuSettings.model_validate(menu))
        rows[layer] = await by_menu(selector, queries, chooser, asks="dynamic" in layer)
    rows["code mode"] = by_code(catalog, finder, queries, chooser)
    print(f"\n{name}: {len(catalog)} tools, {len(queries)} queries")
    print(f"{'':24}{'all offered':>11} {'chosen':>8} {'tools':>7} {'tokens':>9}")
    for layer, row in rows.items():
        print(f"{layer:24}{row}")


def none(catalog: Catalog, queries: Sequence[LabelledQuery], chooser: Chooser) -> Row:
    """Measure a menu of all tools, up to the limit of a request."""
    row = Row()
    tools = catalog.tools[:128]
    tokens = sum(sizes(catalog, tools))
    for query in queries:
        row.add(query, tools, chooser.choose(query.query, tools)[0], len(tools), tokens)
    return row


def sizes(catalog: Catalog, tools: Iterable[Tool]) -> list[int]:
    definitions = Definitions(catalog)
    return [definitions.size(tool)[1] for tool in tools]


async def by_menu(
    selector: Selector,
    queries: Sequence[LabelledQuery],
    chooser: Chooser,
    *,
    asks: bool,
    earlier: Sequence[LabelledQuery] = (),
) -> Row:
    async def of() -> Selector:
        return selector

    row = Row()
    for query, before in zip_longest(queries, earlier):
        session = MenuSession(of, answers=asks)
        menu = await session.offer(query.query, [before.query] if before else [])
        tokens = cost(menu)
        if asks:
            await ask(session, menu, chooser, query.query)
            menu = await session.offer(query.query)
            tokens += cost(menu)
        choice, _ = chooser.choose(query.query, menu.tools)
        row.add(query, menu.tools, choice, len(menu), tokens)
    return row


async def ask(session: MenuSession, menu: Menu, chooser: Chooser, text: str) -> None:
    """Request tools for the steps of a text, without knowledge of the needed tools."""
    category = {one.tool.id: one.reason.category for one in menu.offered}
    for step in steps(text):
        choice, sure = chooser.choose(step, menu.tools)
        if sure < SURE:
            await session.handle(name="request_tool", arguments={"name_or_description": step})
        if choice is not None:
            arguments = {"categories": [category[choice.id]], "reason": step}
            await session.handle(name="request_more_tools", arguments=arguments)


def cost(menu: Menu) -> int:
    return menu.cost.tokens + (estimate(menu.prompt) if menu.prompt else 0)


def by_code(catalog: Catalog, finder: Finder, queries: Sequence[LabelledQuery], chooser: Chooser) -> Row:
    """Measure code mode: two definitions, and the answer of one search with all steps."""
    row = Row()
    fixed = estimate(str(two_tools(catalog)))
    for query in queries:
        hits = finder.search(Query(tuple(steps(query.query))))
        tools = [hit.tool for hit in hits.hits]
        row.add(query, tools, chooser.choose(query.query, tools)[0], 2, fixed + estimate(render(hits)))
    return row


async def gym(folder: Path, search: dict[str, Any]) -> None:
    menu = yaml.safe_load(GYM.with_name("menu.yaml").read_text(encoding="utf-8"))
    source = {"location": str(GYM), "base_url": "http://127.0.0.1:9", "credentials": [{"kind": "none"}]}
    folders = {"state_folder": folder / "state", "cache_folder": folder / "cache"}
    async with CodeMode.from_settings(Settings.model_validate({"sources": {"gym": source}, **folders})) as service:
        queries = read_labelled(GYM.with_name("queries.yaml"), service.catalog)
        few = {**menu, "relations": "none", "max_tools": 8}
        features = {
            "keywords": menu,
            "keywords, direct": {**menu, "relations": "direct"},
            "keywords, the best 15": {**menu, "retrieval": 15},
            "8 slots": few,
            "8 slots, the best": {**few, "retrieval": 8},
        }
        if search:
            features["keywords else meaning"] = {**menu, "router": "embedding"}
        await measure("gym", service.catalog, queries, {**features, **LAYERS}, folder, search)
        finder = Finder(SearchSettings(), folder / "timed")
        finder.open(service.catalog, [""])
        selector = Selector(service.catalog, finder, MenuSettings.model_validate(menu))
        weighted = {**few, "scores": "weighted", "history": {**menu["history"], "decay": 0.5}}
        await by_weight(service.catalog, queries, {"binary": few, "weighted, decay .5": weighted}, finder)
        await by_follow_up(service.catalog, queries, finder)
        await by_usage(selector, queries, finder)
        await by_role(service.catalog, queries, menu, finder)
        await timed(selector)


async def by_weight(catalog: Catalog, queries: Sequence[LabelledQuery], menus: dict[str, Any], finder: Finder) -> None:
    """Measure menus of eight tools after a message on another topic."""
    earlier = random.Random(7).sample(list(queries), len(queries))  # noqa: S311
    print(f"\n8 slots, {len(queries)} queries that each follow another one")
    for label, menu in menus.items():
        selector = Selector(catalog, finder, MenuSettings.model_validate(menu))
        row = await by_menu(selector, queries, Chooser(catalog.tools), asks=False, earlier=earlier)
        print(f"{label:24}{row}")


async def by_follow_up(catalog: Catalog, queries: Sequence[LabelledQuery], finder: Finder) -> None:
    """Measure menus for a short answer to a question about each query."""
    print(f"\n+ retrieval, {len(queries)} queries that were answered by a question")
    selector = Selector(catalog, finder, MenuSettings.model_validate(LAYERS["+ retrieval"]))
    for answer in ("yes", "yes, delete it", "please do it now", "and send her the invoice by mail"):
        follow_ups = [replace(query, query=answer) for query in queries]
        row = await by_menu(selector, follow_ups, Chooser(catalog.tools), asks=False, earlier=queries)
        print(f"{answer:34}{row}")


async def by_usage(selector: Selector, queries: Sequence[LabelledQuery], finder: Finder) -> None:
    """Measure default categories learned from half of the queries without keywords, on the other half."""
    unmatched = [query for query in queries if not (await selector.select(Conversation.of(query.query))).activated]
    used = [
        ToolUse(sorted(right)[0], "not offered", unmatched=True) for query in unmatched[::2] for right in query.gold
    ]
    proposal = propose_menu(used, selector)
    if proposal is None:
        return
    other = selector.settings.model_copy(update={"defaults": proposal.defaults})
    print(f"\ndefaults, on {len(unmatched[1::2])} queries without a keyword; learned from {len(used)} other calls")
    for label, settings in (("by hand", selector.settings), ("from usage", other)):
        chooser = Chooser(selector.catalog.tools)
        row = await by_menu(Selector(selector.catalog, finder, settings), unmatched[1::2], chooser, asks=False)
        print(f"{label:24}{row}")


async def by_role(catalog: Catalog, queries: Sequence[LabelledQuery], menu: dict[str, Any], finder: Finder) -> None:
    """Measure the view of a role that may only read, on queries that only read."""
    readable = catalog.restricted(lambda tool: tool.effect is Effect.READ)
    reading = [query for query in queries if all(any(id_ in readable for id_ in right) for right in query.gold)]
    settings = MenuSettings.model_validate(menu)
    print(f"\na role that may only read, on {len(reading)} queries that do")
    for label, view in (("all tools", catalog), ("its view", readable)):
        own = finder if view is catalog else finder.narrowed(view)
        row = await by_menu(Selector(view, own, settings), reading, Chooser(view.tools), asks=False)
        print(f"{label:24}{row}")


async def timed(selector: Selector, rounds: int = 2_000) -> None:
    """Print the processor time of selections by keywords."""
    print("\nselection by keywords among 137 tools, µs of processor time")
    talk = [{"role": "user", "content": "show me all active clients"}, {"role": "assistant", "content": "here"}] * 4
    long = " ".join(selector.categories.by_name)
    for label, message, history in (
        ("one category", "what is pending salary?", []),
        ("defaults", "hello, how are you?", []),
        ("with a history", "freeze the first one", talk),
        ("all categories, cut", long, []),
    ):
        conversation = Conversation.of(message, history)
        took = []
        for _ in range(5):
            began = time.process_time()
            for _ in range(rounds):
                await selector.select(conversation)
            took.append((time.process_time() - began) / rounds * 1e6)
        print(f"{label:24}{min(took):8.0f}")


async def run(data: Path, sets: Sequence[str], search: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for each in sets:
            if not (data / each).is_dir():
                print(f"{each}: no such set in {data}")
                continue
            tools = tools_of(read_rows(data / each / "catalog.jsonl"))
            queries = labelled(data / each / "queries.jsonl", tools)
            await measure(each, Catalog(tools), queries, LAYERS, folder, search)
        await gym(folder, search)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", nargs="?", type=Path, default=SETS)
    parser.add_argument("--sets", nargs="*", default=["livemcp"])
    parser.add_argument("--embeddings", action="store_true", help="with the model of the extra `embeddings`")
    options = parser.parse_args()
    search = {"embeddings": {"kind": "local", "query_wait_ms": 10_000}} if options.embeddings else {}
    asyncio.run(run(options.data, options.sets, search))


if __name__ == "__main__":
    main()
