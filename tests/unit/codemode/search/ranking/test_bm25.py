"""BM25 of whole texts, and where it counts: in long requests."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from codemode.search.analysis import text
from codemode.search.index.index import Index
from codemode.search.query import Query
from codemode.search.ranking.bm25 import WholeTexts

if TYPE_CHECKING:
    from tests.unit.codemode.search.conftest import ToolFactory


@pytest.fixture
def index(tool: ToolFactory) -> Index:
    return Index.build(
        [
            tool("zoo.feed", "Feeds a zebra, another zebra and a lion."),
            tool("zoo.wash", "Washes a zebra."),
            tool("zoo.open", "Opens the gate in the morning."),
        ]
    )


def test_the_scores_are_those_of_the_formula(index: Index) -> None:
    texts = WholeTexts(index.documents, index.postings, index.vocabulary)
    lengths = index.documents.lengths.sum(axis=1)

    def score(document: int, count: int) -> float:
        rarity = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
        return float(rarity * count / (count + 1.5 * (1 - 0.75 + 0.75 * lengths[document] / lengths.mean())))

    shares = texts.shares([text.term("zebra")], np.arange(3))
    places = [next(at for at, one in enumerate(index.tools) if one.path == name) for name in ("feed", "wash", "open")]
    assert shares[places].tolist() == pytest.approx([1.0, score(places[1], 1) / score(places[0], 2), 0.0], rel=1e-5)


def test_a_word_counts_each_time_and_unknown_words_do_not(index: Index) -> None:
    texts = WholeTexts(index.documents, index.postings, index.vocabulary)
    zebra, gate = text.term("zebra"), text.term("gate")
    wash, opening = (next(at for at, one in enumerate(index.tools) if one.path == name) for name in ("wash", "open"))
    once = texts.shares([zebra, gate, "unicorn"], np.array([wash, opening]))
    thrice = texts.shares([zebra, zebra, zebra, gate], np.array([wash, opening]))
    assert once[0] < once[1]
    assert thrice[0] > thrice[1]
    assert not texts.shares(["unicorn"], np.array([wash])).any()
    assert len(texts.shares([zebra], np.zeros(0, np.intp))) == 0


def test_whole_texts_count_only_in_long_requests(index: Index) -> None:
    short, long = "feed the zebra", "feed the zebra " + " ".join(f"word{letter}" for letter in "abcdefghijklmnopqr")
    of_short, of_long = (index.candidate_features(Query((query,)))[1]["whole_text"] for query in (short, long))
    assert not of_short.any()
    assert of_long.max() == 1.0
