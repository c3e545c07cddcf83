"""Confidence flags searches that may have no fitting tool, and never removes a hit."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from codemode.catalog.catalog import Catalog
from codemode.search.index.index import Index
from codemode.search.query import Query
from codemode.search.ranking.confidence import confidence
from codemode.search.render import render
from codemode.sources.documents.parse import parse_document
from codemode.sources.openapi.document import load_openapi
from codemode.testing import make_tool


@pytest.fixture(scope="module")
def gym() -> Index:
    document = parse_document(
        Path(str(files("api_specs.gym") / "openapi.yaml")).read_text(encoding="utf-8"), location=""
    )
    return Index.build(Catalog(load_openapi(document, name="gym").tools))


@pytest.mark.parametrize(
    "query", ["create a client", "freeze membership", "list payments", "members", "book a class", "get_clients_list"]
)
def test_answerable_queries_are_not_flagged(gym: Index, query: str) -> None:
    assert gym.search(query).unsure == ()


@pytest.mark.parametrize(
    "query",
    [
        "xq zzyzx brumf add",
        "brokel wunt sorfing blomb",
        "resize the virtual machine of a kubernetes node",
        "mean orbital eccentricity of an asteroid",
    ],
)
def test_unanswerable_queries_are_flagged_and_keep_their_hits(gym: Index, query: str) -> None:
    answer = gym.search(query)
    assert answer.unsure == (0,)
    assert answer.hits


def test_each_search_has_its_own_flag(gym: Index) -> None:
    answer = gym.search(Query(("freeze membership", "resize the virtual machine of a kubernetes node")))
    assert answer.unsure == (1,)
    assert answer.confidence[0] > answer.confidence[1]


def test_an_exact_name_is_certain(gym: Index) -> None:
    assert gym.search("gym.clients.delete_client").confidence == (1.0,)


def test_confidence_falls_without_the_right_tool(gym: Index) -> None:
    others = Index.build([tool for tool in gym.tools if "freeze" not in tool.id])
    assert others.search("freeze membership").confidence < gym.search("freeze membership").confidence


def test_unknown_words_beside_known_ones_lower_confidence(gym: Index) -> None:
    whole, some, few = (
        gym.search(query).confidence[0]
        for query in ("freeze membership", "freeze membership astronaut", "freeze astronaut skyscraper")
    )
    assert some < whole - 0.05
    assert few < some / 2


def test_a_query_in_another_language_has_the_evidence_of_its_english_reading(gym: Index) -> None:
    query = "Mitgliedschaft einfrieren"
    english = gym.in_english(query)
    assert english != query
    assert gym.evidence(query) == gym.evidence(english)


def test_the_evidence_for_fitting_is_that_of_the_search(gym: Index) -> None:
    query = "kündige die Mitgliedschaft eines Kunden"
    assert confidence(gym.evidence(query)) == gym.search(query).confidence[0]


@pytest.mark.parametrize("query", ["book flight", "book a flight to Rome", "unpaid invoices of members", "order pizza"])
def test_things_that_no_tool_has_are_flagged_and_named(gym: Index, query: str) -> None:
    answer = gym.search(query)
    assert answer.unsure == (0,)
    assert answer.unknown[0]
    assert set(answer.unknown[0]) <= set(query.split())
    assert f"no tool has {answer.unknown[0][0]!r}" in render(answer).splitlines()[0]


@pytest.mark.parametrize("query", ["who am I", "what time is it"])
def test_a_query_that_stands_for_one_operation_is_named_as_it_was_asked(gym: Index, query: str) -> None:
    assert gym.search(query).unknown == ((query,),)


@pytest.mark.parametrize("query", ["freeze the membership of Ada", "message Ada", "freze membrship", "client 4711"])
def test_names_numbers_and_spelling_mistakes_are_no_unknown_things(gym: Index, query: str) -> None:
    assert gym.search(query).unknown == ((),)


def test_one_of_many_words_that_no_tool_has_is_no_reason_to_doubt(gym: Index) -> None:
    answer = gym.search("freeze the membership of a client until his skiing holidays are over")
    assert answer.unknown == (("skiing",),)
    assert answer.unsure == ()


def test_an_unasked_word_that_distinguishes_siblings_lowers_confidence() -> None:
    names = ["get_random_cat", "find_cat_by_tag", "find_cat_with_text"]
    index = Index.build(make_tool(f"cats.{name}", summary="A picture of a cat") for name in names)
    others = Index.build(make_tool(f"cats.{name}", summary="A picture of a cat") for name in names[1:])
    assert others.search("get random cat").confidence < index.search("get random cat").confidence
    asked, unasked = (index.search(query).confidence[0] for query in ("find cat by tag", "find cat"))
    assert unasked < asked


@pytest.mark.parametrize(
    ("name", "unasked"), [("find_cat_with_text", 1.0), ("find_basic_cat", 0.5), ("find_the_cat", 0)]
)
def test_unasked_words_count_by_significance(name: str, unasked: float) -> None:
    features = Index.build([make_tool(f"cats.{name}", summary="A cat")]).evidence("find cat")
    assert features["unasked"] == unasked


def test_with_a_filter_the_words_of_its_tools_count_alone() -> None:
    tools = [
        make_tool("gym.classes.book_class", summary="Book a class"),
        make_tool("git.checks.run_flight", summary="Run a flight check"),
    ]
    index = Index.build(Catalog(tools))
    assert index.search(Query(("book a flight",))).unknown == ((),)
    assert index.search(Query(("book a flight",), namespace="gym")).unknown == (("flight",),)
