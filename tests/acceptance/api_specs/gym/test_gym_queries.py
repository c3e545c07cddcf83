"""The labelled queries name operations of the document, and together all of them."""

from __future__ import annotations

from collections import Counter

from api_specs.gym.document import PATH, load, read_yaml

QUERIES = read_yaml(PATH.with_name("queries.yaml"))["queries"]


def test_every_label_is_an_operation() -> None:
    for query in QUERIES:
        alternatives = query.get("alternatives", {})
        named = {*query["gold"], *(name for names in alternatives.values() for name in names)}
        assert named <= load().operations.keys(), query
        assert alternatives.keys() <= set(query["gold"]), query


def test_every_operation_is_asked_for() -> None:
    assert {name for query in QUERIES for name in query["gold"]} == load().operations.keys()


def test_queries_are_of_every_kind_and_none_is_there_twice() -> None:
    assert len({query["query"].lower() for query in QUERIES}) == len(QUERIES) > 150
    kinds = Counter(query["tag"] for query in QUERIES)
    assert kinds.keys() == {"keywords", "paraphrase", "typo", "several"}
    assert min(kinds.values()) > 10
    assert all(len(query["gold"]) > 1 for query in QUERIES if query["tag"] == "several")
