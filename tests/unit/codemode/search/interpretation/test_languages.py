"""Other languages: queries of ten languages are read as English, and English queries stay as they are."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import yaml

from benchmarks.languages import QUERIES
from benchmarks.search import gym
from codemode.search.analysis.words import lines
from codemode.search.evaluation.evaluation import TOP, LabelledQuery, evaluate, with_typos
from codemode.search.index.index import Index
from codemode.search.interpretation.languages import LANGUAGES, in_english
from codemode.search.query import Query


@dataclass(frozen=True)
class Catalog:
    """The words of an invented catalog."""

    named: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()

    def is_named(self, surface: str) -> bool:
        return surface in self.named

    def is_known(self, surface: str) -> bool:
        return surface in self.named | self.known


NOTHING = Catalog()


@pytest.mark.parametrize(
    ("query", "english"),
    [
        ("Rechnungen auflisten", "list invoice"),
        ("crear un nuevo cliente", "create new client"),
        ("supprimer l'utilisateur 12", "delete user 12"),
        ("elencare le fatture", "list invoice"),
        ("lijst van klanten tonen", "list client show"),
        ("listar as faturas", "list invoice"),
        ("удали клиента", "delete client"),
        ("請求書の一覧を表示", "list invoice show"),
        ("고객 목록을 보여줘", "client list show"),
        ("删除用户", "delete user"),
    ],
)
def test_a_query_of_each_language_becomes_english_with_its_action_first(query: str, english: str) -> None:
    assert in_english(query, NOTHING).split() == english.split()


def test_the_table_has_a_cell_for_each_language_on_each_line() -> None:
    table = lines("translations.txt")
    assert {line.count("|") for line in table} == {len(LANGUAGES) - 1}
    assert all(cell.strip() for line in table for cell in line.partition(":")[2].split("|"))


def test_function_words_are_those_of_known_languages() -> None:
    assert {line.partition(":")[0] for line in lines("function_words.txt")} == set(LANGUAGES)


def test_a_compound_becomes_the_words_of_its_parts() -> None:
    assert in_english("Kundenliste", NOTHING) == "list client"


def test_a_word_without_accents_is_the_same_word() -> None:
    assert in_english("telefono de un cliente, estadisticas", NOTHING) == "phone client , statistics"


def test_a_name_stays_as_it_is() -> None:
    assert in_english("удали клиента Иван", NOTHING) == "delete client Иван"


def test_a_word_of_a_tool_name_is_no_word_of_another_language() -> None:
    assert in_english("kunden", Catalog(named=frozenset({"kunden"}))) == "kunden"


def test_a_word_of_the_documents_is_searched_for_as_well() -> None:
    assert in_english("kunden suchen", Catalog(known=frozenset({"kunden"}))) == "search kunden client"


def test_of_two_english_words_the_one_that_the_tools_have_is_taken() -> None:
    assert in_english("kunden", Catalog(known=frozenset({"customer"}))) == "customer"


def test_letters_of_the_documents_are_left_alone() -> None:
    assert in_english("請求書", Catalog(known=frozenset({"請求", "求書"}))) == "請求書"


def test_a_single_character_within_another_word_is_no_word() -> None:
    assert "week" not in in_english("해 주세요", NOTHING)
    assert "day" not in in_english("日本", NOTHING)


def test_english_queries_stay_as_they_are_with_and_without_typos() -> None:
    tools, labelled = gym()
    catalog = Index.build(tools)._interpreter
    queries = [each.query for each in labelled]
    assert [query for query in queries if in_english(query, catalog) != query] == []
    mistyped = [with_typos(query) for query in queries]
    assert [query for query in mistyped if in_english(query, catalog) != query] == []


def test_other_languages_reach_six_tenths_of_english() -> None:
    tools, labelled = gym()
    gold = {each.query: each.gold for each in labelled}
    index = Index.build(tools)
    rows = yaml.safe_load(QUERIES.read_text(encoding="utf-8"))

    def ndcg(language: str) -> float:
        queries = [LabelledQuery(row[language], gold[row["en"]]) for row in rows]
        return evaluate(
            lambda text: [hit.tool.id for hit in index.search(Query((text,), limit=TOP)).hits], queries
        ).ndcg_10

    english = ndcg("en")
    shares = {language: ndcg(language) / english for language in rows[0]}
    assert min(shares.values()) > 0.6, shares
