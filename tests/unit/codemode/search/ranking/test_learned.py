"""What calls after earlier queries add to the order of hits."""

from __future__ import annotations

import numpy as np
import pytest

from codemode.catalog.catalog import Catalog
from codemode.catalog.tool import Effect
from codemode.search.documents.weights import Weights
from codemode.search.index.index import Index
from codemode.search.query import Hits, Query
from codemode.search.ranking.learned import raised
from codemode.testing import make_tool

INDEX = Index.build(
    Catalog(
        [
            make_tool("social.post_status", summary="Publish a status", effect=Effect.WRITE),
            make_tool("social.delete_status", summary="Remove a status", effect=Effect.DESTRUCTIVE),
            make_tool("bank.transfer", summary="Send money to a person", effect=Effect.WRITE),
        ]
    )
)


def search(text: str, learned: dict[str, float], **filters: str) -> Hits:
    return INDEX.search(Query((text,), learned=lambda _: learned, **filters))  # type: ignore[arg-type]


def ids(hits: Hits) -> list[str]:
    return [hit.tool.id for hit in hits.hits]


def test_weak_evidence_counts_less_where_words_answer_with_certainty() -> None:
    documents = np.array([3, 5, 7])
    assert raised(documents, {3: 1.0, 5: 0.5}, certainty=0.0).tolist() == [1.0, 0.5, 0.0]
    assert raised(documents, {3: 1.0, 5: 0.5}, certainty=0.8).tolist() == pytest.approx([1.0, 0.3, 0.0])


def test_a_tool_that_no_word_finds_is_found() -> None:
    assert ids(search("toot", {})) == []
    hits = search("toot", {"social.post_status": 0.6})
    assert ids(hits) == ["social.post_status"]
    assert hits.total == 1
    assert hits.unsure == ()
    assert ids(search("money", {"social.post_status": 0.1})) == ["bank.transfer", "social.post_status"]


def test_words_that_no_tool_has_are_no_doubt_once_a_call_has_answered_them() -> None:
    assert search("toot", {"social.post_status": 0.4}).unknown == (("toot",),)
    assert search("toot", {"social.post_status": 0.4}).unsure == (0,)
    assert search("toot", {"social.post_status": 0.6}).unknown == ((),)


def test_tools_that_the_index_lacks_or_a_filter_leaves_out_are_not_added() -> None:
    assert ids(search("toot", {"secret.tool": 1.0})) == []
    assert ids(search("toot", {"social.post_status": 1.0}, namespace="bank")) == []


def test_a_tool_is_raised_by_a_bounded_amount() -> None:
    plain = {hit.tool.id: hit.score for hit in search("publish a status", {}).hits}
    raised = {hit.tool.id: hit.score for hit in search("publish a status", {"social.delete_status": 1.0}).hits}
    assert raised["social.delete_status"] - plain["social.delete_status"] == pytest.approx(Weights().learned)
    assert raised["social.post_status"] == pytest.approx(plain["social.post_status"])


def test_an_exact_name_stays_first() -> None:
    assert ids(search("social.post_status", {"bank.transfer": 1.0}))[0] == "social.post_status"
    assert ids(search("use social.post_status now", {"bank.transfer": 1.0}))[0] == "social.post_status"
