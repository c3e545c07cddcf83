"""Search quality does not fall below the values measured when the weights last changed."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.retrieval import labelled, read_rows, tools_of
from codemode.catalog.catalog import Catalog
from codemode.search.evaluation.evaluation import LabelledQuery, Metrics, evaluate, mean, read_labelled, with_typos
from codemode.search.index.index import Index
from codemode.sources.documents.parse import parse_document
from codemode.sources.openapi.document import load_openapi
from codemode.testing import make_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SETS = ("apibank", "bfcl", "livemcp", "metatool", "restbench_tmdb", "seal_tools", "toolalpaca")
QUERIES = 60  # of each set: enough to detect a loss of .02


def metrics_of(index: Index, queries: Sequence[LabelledQuery]) -> tuple[Metrics, Metrics]:
    """Return the metrics without and with typos."""

    def search(query: str) -> list[str]:
        return [hit.tool.id for hit in index.search(query).hits]

    mistyped = [LabelledQuery(with_typos(each.query), each.gold) for each in queries]
    return evaluate(search, queries), evaluate(search, mistyped)


def test_the_gym_is_found() -> None:
    gym = Path(str(files("api_specs.gym")))
    document = parse_document((gym / "openapi.yaml").read_text(encoding="utf-8"), location="gym")
    catalog = Catalog(load_openapi(document, name="gym").tools)
    clean, typos = metrics_of(Index.build(catalog), read_labelled(gym / "queries.yaml", catalog))
    assert clean.ndcg_10 >= 0.80
    assert clean.recall_10 >= 0.91
    assert typos.ndcg_10 >= 0.76


def test_the_retrieval_sets_are_found(shared_data: Callable[[str], Path]) -> None:
    data = shared_data("retrieval")
    clean: list[Metrics] = []
    typos: list[Metrics] = []
    for name in SETS:
        tools = tools_of(read_rows(data / name / "catalog.jsonl"))
        queries = labelled(data / name / "queries.jsonl", tools, QUERIES)
        for collected, measured in zip((clean, typos), metrics_of(Index.build(tools), queries), strict=True):
            collected.append(measured)
    assert mean(clean).ndcg_10 >= 0.72
    assert mean(clean).recall_10 >= 0.83
    assert mean(typos).ndcg_10 >= 0.705


@pytest.mark.parametrize("query", ["remove customer", "delete a customer", "erase client"])
def test_synonyms_of_an_action_find_it(query: str) -> None:
    index = Index.build(
        [
            make_tool("shop.customers.delete", summary="Permanently deletes a customer"),
            make_tool("shop.customers.delete_discount", summary="Removes the discount of a customer"),
            make_tool("shop.customers.get", summary="Retrieves a customer"),
            make_tool("shop.payment_methods.detach", summary="Detaches a payment method from a customer"),
        ]
    )
    assert "shop.customers.delete" in [hit.tool.id for hit in index.search(query).hits[:2]]


def test_a_word_in_no_name_is_searched_by_topic() -> None:
    index = Index.build(
        [
            make_tool("tools.weather", summary="The latest conditions of a place"),
            make_tool("tools.bring", summary="Things to bring along, such as an umbrella, for a bag"),
            *(make_tool(f"tools.other_{number}", summary="Something else") for number in range(30)),
        ]
    )
    assert "tools.weather" in [hit.tool.id for hit in index.search("umbrella or not").hits]


def test_a_title_is_searched_beside_its_joined_namespace() -> None:
    index = Index.build(
        [
            make_tool("networkflowmonitor.list_monitors", summary="Lists what there is").changed(
                tags=("Network Flow Monitor",)
            ),
            make_tool("network_firewall.list_flow_operations", summary="Lists what there is"),
        ]
    )
    assert index.search("list monitors in Network Flow Monitor").hits[0].tool.namespace == "networkflowmonitor"


@pytest.mark.parametrize("word", ["in", "by"])
def test_stop_words_shared_by_name_and_query_are_no_penalty(word: str) -> None:
    index = Index.build(
        [
            make_tool("shop.list_shelves_in_room", summary="Lists shelves"),
            make_tool("shop.list_shelves_by_room", summary="Lists shelves"),
            *(make_tool(f"shop.get_{thing}", summary="Gets it") for thing in ("room", "bill", "lamp", "door", "key")),
        ]
    )
    assert index.search(f"list shelves {word} room").hits[0].tool.id == f"shop.list_shelves_{word}_room"


def test_a_plural_getter_counts_as_a_list() -> None:
    index = Index.build(
        [
            make_tool("shop.create_canary", summary="Canaries"),
            make_tool("shop.describe_canary", summary="Canaries"),
            make_tool("shop.describe_canaries", summary="Canaries"),
        ]
    )
    assert index.search("list canary").hits[0].tool.id == "shop.describe_canaries"
