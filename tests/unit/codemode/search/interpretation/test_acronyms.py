"""Acronyms made from the words of tool names."""

from __future__ import annotations

import pytest

from codemode.search.index.index import Index
from codemode.testing import make_tool


@pytest.fixture(scope="module")
def index() -> Index:
    return Index.build(
        [
            make_tool("core.createPersistentVolumeClaim", summary="Makes room"),
            make_tool("core.create_volume", summary="Makes a disk"),
            make_tool("core.list_claims", summary="Lists claims"),
            make_tool("voices.text_to_speech", summary="Speaks"),
            make_tool("core.create_loan", summary="Makes a loan"),
            make_tool("core.list_odd_new_artists", summary="Lists them"),
        ]
    )


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("create PVC", "core.createPersistentVolumeClaim"),
        ("PVCs", "core.createPersistentVolumeClaim"),
        ("TTS", "voices.text_to_speech"),
        ("lona", "core.create_loan"),
    ],
)
def test_capitals_match_the_initials_of_a_name(index: Index, query: str, first: str) -> None:
    assert index.search(query).hits[0].tool.id == first


def test_unknown_capitals_find_nothing(index: Index) -> None:
    assert index.search("XQZ").hits == ()


def test_an_empty_index_has_no_acronyms() -> None:
    assert Index.build([]).search("PVC").hits == ()
