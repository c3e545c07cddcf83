"""What a search finds: names, words, typos, synonyms, filters, several searches at once."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from codemode.catalog.catalog import Catalog
from codemode.catalog.tool import Effect
from codemode.errors import SearchInvalid
from codemode.search.index.index import Index
from codemode.search.index.segment import read_segment
from codemode.search.query import Query
from codemode.testing import make_tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.catalog.tool import Tool
    from codemode.search.analysis.vocabulary import Reader
    from codemode.search.index.segment import Segment
    from tests.unit.codemode.search.conftest import ToolFactory


@pytest.fixture
def index(tool: ToolFactory) -> Index:
    return Index.build(
        Catalog(
            [
                tool("github.pulls.list", "Lists pull requests in a repository.", aliases=("pulls/list", "listPulls")),
                tool("github.pulls.create", "Creates a pull request.", effect=Effect.WRITE),
                tool("github.issues.list", "Lists issues of a repository.", tags=("issues",)),
                tool("github.pulls.merge", "Merges a pull request into the base branch."),
                tool("github.hooks.list_forks_of_pr", "PR forks."),
                tool("github.hooks.deliver_webhook", "Sends a delivery again."),
                tool("athena.list_work_groups", "Lists what queries run in."),
                tool("custom.fields.list", "Lists custom fields."),
                tool("stripe.customers.list", "Returns customers."),
                tool("github.repos.get", "Get a repository."),
                tool("stripe.customers.delete", "Permanently deletes a customer.", effect=Effect.DESTRUCTIVE),
                tool("stripe.customers.create", "Creates a new customer object.", effect=Effect.WRITE),
                tool("stripe.invoices.list", "Returns a list of invoices."),
                tool("weather.forecast.get", "Weather for the next days.", parameters={"city": {"type": "string"}}),
                tool("kalender.termine.list", "予約一覧を取得する"),
            ]
        )
    )


def found(index: Index, *queries: str, **filters: object) -> list[str]:
    return [hit.tool.id for hit in index.search(Query(queries, **filters)).hits]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("listPullRequests", "github.pulls.list"),
        ("list pull requests", "github.pulls.list"),
        ("pull_request.list", "github.pulls.list"),
        ("PRs", "github.pulls.list"),
        ("list PRs", "github.pulls.list"),
        ("remove customer", "stripe.customers.delete"),
        ("delte custmer", "stripe.customers.delete"),
        ("wheather", "weather.forecast.get"),
        ("予約", "kalender.termine.list"),
        ("github.repos.get", "github.repos.get"),
        ("pulls/list", "github.pulls.list"),
        ("LISTPULLS", "github.pulls.list"),
        ("please call github.issues.list for the pull requests", "github.issues.list"),
        ("merge a PR of a fork", "github.pulls.merge"),
        ("deliver to a web hook", "github.hooks.deliver_webhook"),
        ("workgroups", "athena.list_work_groups"),
        ("customers", "stripe.customers.list"),
    ],
)
def test_a_search_finds_the_tool_first(index: Index, query: str, first: str) -> None:
    assert found(index, query)[0] == first


def test_several_searches_are_merged_in_turn_without_repetition(index: Index) -> None:
    ids = found(index, "list pull requests", "delete customer", "list pull requests")
    assert ids[:2] == ["github.pulls.list", "stripe.customers.delete"]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        ({"namespace": "stripe"}, {"stripe.customers.delete", "stripe.customers.create"}),
        ({"namespace": "stripe.customers"}, {"stripe.customers.delete", "stripe.customers.create"}),
        ({"source": "github"}, {"github.pulls.create"}),
        ({"effect": Effect.WRITE}, {"github.pulls.create", "stripe.customers.create"}),
        ({"effect": Effect.DESTRUCTIVE}, {"stripe.customers.delete"}),
        ({"tag": "Issues"}, set()),
    ],
)
def test_filters_hold_for_all_hits(index: Index, filters: dict[str, object], ids: set[str]) -> None:
    everything = set(found(index, "create delete customer", limit=50, **filters))
    assert ids <= everything
    unfiltered = index.search(Query(("create delete customer",), limit=50)).hits
    assert everything <= {hit.tool.id for hit in unfiltered}


def test_a_tag_narrows_to_its_tools(index: Index) -> None:
    assert found(index, "list", tag="ISSUES") == ["github.issues.list"]


def test_a_name_of_words_that_a_query_leaves_out_is_found_by_its_other_texts() -> None:
    index = Index.build([make_tool("a.the"), make_tool("b.of_the", summary="Open the door")])
    assert index.search("open the door").hits[0].tool.id == "b.of_the"


def test_pages_follow_each_other_and_know_the_total(index: Index) -> None:
    whole = index.search(Query(("list repository",), limit=50))
    first = index.search(Query(("list repository",), limit=2))
    second = index.search(Query(("list repository",), limit=2, offset=2))
    assert first.total == second.total == whole.total == len(whole.hits)
    assert [*first.hits, *second.hits] == list(whole.hits[:4])


def test_nothing_found_names_the_nearest_ids(index: Index) -> None:
    hits = index.search("githb.repo.gt")
    nothing = index.search("zzzzqqqq")
    assert hits.hits[0].tool.id == "github.repos.get"
    assert nothing.hits == ()
    assert nothing.total == 0
    assert nothing.empty == (0,)


@pytest.mark.parametrize(
    ("kind", "value", "hint"),
    [
        ("namespace", "gitub", "nearest: github"),
        ("source", "strype", "nearest: stripe"),
        ("effect", "reed", "nearest: read"),
        ("tag", "zzz", "there are: issues"),
    ],
)
def test_a_filter_by_what_no_tool_has_names_the_nearest_value(index: Index, kind: str, value: str, hint: str) -> None:
    with pytest.raises(SearchInvalid, match=f"no tool has the {kind} '{value}'; {hint}"):
        index.search(Query(("list",), **{kind: value}))  # type: ignore[arg-type]


def test_a_valid_filter_that_fits_nothing_else_asked_for_is_no_mistake(index: Index) -> None:
    assert index.search(Query(("list",), namespace="weather", effect=Effect.DESTRUCTIVE)).total == 0


@pytest.mark.parametrize("page", [{"offset": -1}, {"limit": -1}])
def test_a_page_before_the_first_is_refused(page: dict[str, int]) -> None:
    with pytest.raises(SearchInvalid, match="must be 0 or more"):
        Query(("list",), **page)  # type: ignore[arg-type]


def test_pages_are_of_one_list_far_behind_what_is_looked_at_closely(tool: ToolFactory) -> None:
    many = Index.build(
        Catalog([tool(f"shop.orders.list_{place}", "Lists orders. " * place) for place in range(1, 251)])
    )
    whole = many.search(Query(("list orders",), limit=1_000))
    pages = [many.search(Query(("list orders",), limit=10, offset=start)) for start in range(0, 220, 10)]
    assert {page.total for page in pages} == {whole.total} == {200}
    assert [(hit.tool.id, hit.score) for page in pages for hit in page.hits] == [
        (hit.tool.id, hit.score) for hit in whole.hits
    ]


@pytest.mark.parametrize("other", ["ns.__", "ns.list_clients", "a.list_clients"])
def test_tools_without_a_word_in_their_names_are_found_by_what_they_do(other: str, tool: ToolFactory) -> None:
    index = Index.build(Catalog([tool("ns.___", "Freezes a membership."), tool(other, "Lists clients.")]))
    assert found(index, "freeze the membership") == ["ns.___"]


def test_a_query_that_asks_for_function_words_finds_where_they_stand(tool: ToolFactory) -> None:
    index = Index.build(Catalog([tool("ns.one", "Whatever is over there."), tool("ns.two", "Lists clients.")]))
    (hit,) = index.search("over there").hits
    assert (hit.tool.id, hit.matched) == ("ns.one", ("over (summary)", "there (summary)"))


def test_an_exact_name_may_have_spaces(tool: ToolFactory) -> None:
    index = Index.build(
        Catalog([tool("ns.one", "Lists clients.", aliases=("List All Pulls",)), tool("ns.two", "List.")])
    )
    (first, *_) = index.search("list all PULLS ").hits
    assert (first.tool.id, first.exact) == ("ns.one", True)


def test_a_page_beyond_the_last_is_empty_and_knows_the_total(index: Index) -> None:
    whole = index.search(Query(("repos",)))
    beyond = index.search(Query(("repos",), offset=10**12, limit=10**12))
    assert beyond.hits == ()
    assert beyond.total == whole.total > 0


def test_an_index_of_nothing_finds_nothing() -> None:
    assert Index.build(Catalog()).search("anything").hits == ()


def test_a_word_of_a_thousand_letters_does_no_harm(index: Index) -> None:
    assert found(index, "wheather " + "x" * 1_000)[0] == "weather.forecast.get"


def test_a_search_without_words_finds_nothing(index: Index) -> None:
    assert index.search("").hits == ()
    assert index.search(Query(())).hits == ()


def test_a_changed_source_is_read_again_and_the_others_are_kept(index: Index, tool: ToolFactory) -> None:
    kept = [one for one in index.tools if one.source != "weather"]
    changed = Index.build(Catalog([*kept, tool("weather.tides.get", "High and low tides.")]), previous=index)
    assert found(changed, "tides")[0] == "weather.tides.get"
    assert "weather.forecast.get" not in found(changed, "weather forecast")
    assert found(changed, "remove customer") == found(Index.build(changed.tools), "remove customer")
    assert found(index, "forecast")[0] == "weather.forecast.get"


def test_an_index_that_was_updated_source_by_source_answers_as_one_built_from_nothing(
    tool: ToolFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(7)  # noqa: S311
    starts, ends = ("mem", "cla", "inv", "rep", "cus"), ("ber", "ssic", "oice", "ort", "tomer")
    words = [start + end for start in starts for end in ends]

    def made(source: str, count: int) -> list[Tool]:
        return [
            tool(f"{source}.{chance.choice(words)}_{number}.list", " ".join(chance.choices(words, k=9)), source=source)
            for number in range(count)
        ]

    sources = {name: made(name, 40) for name in ("one", "two", "three", "four")}
    index = Index.build(Catalog(each for tools in sources.values() for each in tools))
    read: list[int] = []

    def counted(tools: Sequence[Tool], reader: Reader) -> Segment:
        read.append(len(tools))
        return read_segment(tools, reader)

    monkeypatch.setattr("codemode.search.index.index.read_segment", counted)
    for name, count in (("two", 55), ("four", 0), ("five", 30), ("one", 12)):
        sources[name] = made(name, count)
        words.append(f"{name}special")
        index = Index.build(Catalog(each for tools in sources.values() for each in tools), previous=index)
    assert read == [55, 30, 12]
    anew = Index.build(Catalog(each for tools in sources.values() for each in tools))
    for query in (*words, "list membr clasic", "twospecal report", " ".join(words[:6])):
        updated, fresh = index.search(Query((query,), limit=200)), anew.search(Query((query,), limit=200))
        assert [(hit.tool.id, round(hit.score, 4)) for hit in updated.hits] == [
            (hit.tool.id, round(hit.score, 4)) for hit in fresh.hits
        ]
        assert updated.confidence == pytest.approx(fresh.confidence, abs=1e-4)


def test_a_text_with_the_inner_break_mark_does_no_harm(tool: ToolFactory) -> None:
    index = Index.build([tool("a.one", "first ꙮꙮ thing"), tool("b.two", "second")])
    assert found(index, "second") == ["b.two"]
