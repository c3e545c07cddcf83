"""Tests of the sums that choose candidates."""

from __future__ import annotations

import numpy as np
import pytest

from codemode.search.documents.postings import Postings
from codemode.search.interpretation.expansion import Group
from codemode.search.ranking.candidates import best, summed


@pytest.fixture
def postings() -> Postings:
    """Three documents: the first has the terms 0 and 1, the second term 1, the third nothing; term 2 is in none."""
    return Postings(
        3,
        np.array([0, 1, 3, 3]),
        np.array([0, 0, 1], np.int32),
        np.array([2.0, 1.0, 1.0], np.float32),
        np.array([1.0, 3.0, 5.0], np.float32),
    )


def test_a_document_counts_its_best_alternative_once(postings: Postings) -> None:
    sums = summed(postings, [Group("word", ((0, 1.0), (1, 0.5), (2, 1.0)))])
    assert sums.tolist() == [2.0, 1.5, 0.0]


def test_two_alternatives_of_the_same_impact_count_once(postings: Postings) -> None:
    assert summed(postings, [Group("word", ((0, 1.5), (1, 1.0)))]).tolist() == [3.0, 3.0, 0.0]


def test_the_weights_of_groups_add_up(postings: Postings) -> None:
    groups = [Group("one", ((0, 1.0),), 0.5), Group("unknown", ()), Group("two", ((1, 1.0),), 2.0)]
    assert summed(postings, groups).tolist() == [7.0, 6.0, 0.0]


def test_only_allowed_documents_have_a_sum(postings: Postings) -> None:
    groups = [Group("one", ((0, 1.0), (1, 0.5))), Group("none", ((2, 1.0),)), Group("two", ((1, 1.0),), 2.0)]
    every = summed(postings, groups)
    for allowed in ([True, False, True], [False, True, False], [False, False, True]):
        assert summed(postings, groups, np.array(allowed)).tolist() == (every * allowed).tolist()


def test_without_groups_every_sum_is_zero(postings: Postings) -> None:
    assert summed(postings, []).tolist() == [0.0, 0.0, 0.0]


def test_the_best_documents_come_first_and_earlier_ones_win_ties() -> None:
    documents, sums = best(np.array([1.0, 3.0, 0.0, 3.0]), 2)
    assert (documents.tolist(), sums.tolist()) == ([1, 3], [3.0, 3.0])
