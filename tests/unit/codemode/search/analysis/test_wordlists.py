"""Word lists: the table of WordNet stands behind the own one, and carries its licence."""

from __future__ import annotations

from importlib.resources import files

from codemode.search.analysis import wordlists
from codemode.search.analysis.text import term
from codemode.search.analysis.words import lines

LARGEST_BYTES = 300_000


def test_words_that_the_own_list_lacks_have_those_of_wordnet() -> None:
    own = {term(word) for line in lines("synonyms.txt") for word in line.partition(">")[0].split()}
    for line in lines("wordnet.txt"):
        word, _, others = line.partition(" > ")
        assert term(word) not in own, word
        assert set(map(term, others.split())) <= set(wordlists.synonyms()[term(word)]), word


def test_words_of_wordnet_make_no_name_of_a_source_common() -> None:
    assert not {term("jilt"), term("cafe")} & wordlists.meanings()
    assert term("restaurant") in wordlists.meanings()


def test_the_table_of_wordnet_is_small_and_has_its_licence() -> None:
    table = files("codemode.search.analysis.words").joinpath("wordnet.txt").read_bytes()
    assert len(table) < LARGEST_BYTES
    assert b"Copyright 2006 by Princeton University" in table
