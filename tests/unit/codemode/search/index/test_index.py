"""Search results: names, words, typos, synonyms, filters, several searches."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from codemode.catalog.catalog import Catalog
from codemode.catalog.tool import Effect
from codemode.errors import SearchInvalid
from codemode.search.documents.segment import read_segment
from codemode.search.index.index import Index
from codemode.search.query import Query
from codemode.testing import make_tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.catalog.tool import Tool
    from codemode.search.analysis.vocabulary import Reader
    from codemode.search.documents.segment import Segment
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


def ids_of(index: Index, *queries: str, **filters: object) -> list[str]:
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
def test_the_right_tool_is_the_first_hit(index: Index, query: str, first: str) -> None:
    assert ids_of(index, query)[0] == first


def test_several_searches_are_merged_without_duplicates(index: Index) -> None:
    ids = ids_of(index, "list pull requests", "delete customer", "list pull requests")
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
def test_filters_apply_to_all_hits(index: Index, filters: dict[str, object], ids: set[str]) -> None:
    everything = set(ids_of(index, "create delete customer", limit=50, **filters))
    assert ids <= everything
    unfiltered = index.search(Query(("create delete customer",), limit=50)).hits
    assert everything <= {hit.tool.id for hit in unfiltered}


def test_each_clause_of_a_request_has_its_tool_among_the_first_hits(tool: ToolFactory) -> None:
    lists = [
        tool(f"shop.orders.list_{state}_orders", f"Lists {state} orders of a customer by date and country.")
        for state in ("open", "overdue", "paid", "late")
    ]
    index = Index.build(
        [*lists, tool("shop.invoices.pay", "Pays an invoice."), tool("shop.mail.send", "Sends a mail.")]
    )
    request = "list the open orders of a customer by date and country, pay the invoice and send a mail"
    assert ids_of(index, request)[:3] == ["shop.orders.list_open_orders", "shop.invoices.pay", "shop.mail.send"]


def test_a_clause_that_no_tool_covers_changes_nothing(index: Index) -> None:
    alone = ids_of(index, "list pull requests")
    assert ids_of(index, "list pull requests, then feed zebras")[: len(alone)] == alone


def test_a_tag_filter_ignores_case(index: Index) -> None:
    assert ids_of(index, "list", tag="ISSUES") == ["github.issues.list"]


def test_a_name_of_stop_words_is_found_by_its_description() -> None:
    index = Index.build([make_tool("a.the"), make_tool("b.of_the", summary="Open the door")])
    assert index.search("open the door").hits[0].tool.id == "b.of_the"


def test_pages_are_consecutive_and_report_the_total(index: Index) -> None:
    whole = index.search(Query(("list repository",), limit=50))
    first = index.search(Query(("list repository",), limit=2))
    second = index.search(Query(("list repository",), limit=2, offset=2))
    assert first.total == second.total == whole.total == len(whole.hits)
    assert [*first.hits, *second.hits] == list(whole.hits[:4])


def test_without_hits_the_nearest_ids_are_suggested(index: Index) -> None:
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
def test_an_unknown_filter_value_is_rejected_with_the_nearest(index: Index, kind: str, value: str, hint: str) -> None:
    with pytest.raises(SearchInvalid, match=f"no tool has the {kind} '{value}'; {hint}"):
        index.search(Query(("list",), **{kind: value}))  # type: ignore[arg-type]


def test_valid_filters_without_a_common_tool_are_accepted(index: Index) -> None:
    assert index.search(Query(("list",), namespace="weather", effect=Effect.DESTRUCTIVE)).total == 0


@pytest.mark.parametrize("page", [{"offset": -1}, {"limit": -1}])
def test_a_negative_offset_or_limit_is_rejected(page: dict[str, int]) -> None:
    with pytest.raises(SearchInvalid, match="must be 0 or more"):
        Query(("list",), **page)  # type: ignore[arg-type]


def test_pages_continue_beyond_the_reranked_candidates(tool: ToolFactory) -> None:
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
def test_tools_with_unreadable_names_are_found_by_description(other: str, tool: ToolFactory) -> None:
    index = Index.build(Catalog([tool("ns.___", "Freezes a membership."), tool(other, "Lists clients.")]))
    assert ids_of(index, "freeze the membership") == ["ns.___"]


def test_a_query_of_stop_words_matches_them(tool: ToolFactory) -> None:
    index = Index.build(Catalog([tool("ns.one", "Whatever is over there."), tool("ns.two", "Lists clients.")]))
    (hit,) = index.search("over there").hits
    assert (hit.tool.id, hit.matched) == ("ns.one", ("over (summary)", "there (summary)"))


def test_an_exact_name_may_have_spaces(tool: ToolFactory) -> None:
    index = Index.build(
        Catalog([tool("ns.one", "Lists clients.", aliases=("List All Pulls",)), tool("ns.two", "List.")])
    )
    (first, *_) = index.search("list all PULLS ").hits
    assert (first.tool.id, first.exact) == ("ns.one", True)


def test_a_page_beyond_the_last_is_empty_with_the_total(index: Index) -> None:
    whole = index.search(Query(("repos",)))
    beyond = index.search(Query(("repos",), offset=10**12, limit=10**12))
    assert beyond.hits == ()
    assert beyond.total == whole.total > 0


def test_an_empty_index_finds_nothing() -> None:
    assert Index.build(Catalog()).search("anything").hits == ()


def test_a_very_long_word_is_harmless(index: Index) -> None:
    assert ids_of(index, "wheather " + "x" * 1_000)[0] == "weather.forecast.get"


def test_a_search_without_words_finds_nothing(index: Index) -> None:
    assert index.search("").hits == ()
    assert index.search(Query(())).hits == ()


def test_only_a_changed_source_is_read_again(index: Index, tool: ToolFactory) -> None:
    kept = [one for one in index.tools if one.source != "weather"]
    changed = Index.build(Catalog([*kept, tool("weather.tides.get", "High and low tides.")]), previous=index)
    assert ids_of(changed, "tides")[0] == "weather.tides.get"
    assert "weather.forecast.get" not in ids_of(changed, "weather forecast")
    assert ids_of(changed, "remove customer") == ids_of(Index.build(changed.tools), "remove customer")
    assert ids_of(index, "forecast")[0] == "weather.forecast.get"


def test_an_updated_index_answers_like_a_new_one(tool: ToolFactory, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_text_with_the_internal_separator_is_harmless(tool: ToolFactory) -> None:
    index = Index.build([tool("a.one", "first ꙮꙮ thing"), tool("b.two", "second")])
    assert ids_of(index, "second") == ["b.two"]
