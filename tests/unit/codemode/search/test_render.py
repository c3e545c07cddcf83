"""Rendered answers: callable signatures within a budget."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from codemode.catalog import tokens
from codemode.catalog.catalog import Catalog
from codemode.catalog.schema import Graph, Schema
from codemode.catalog.tool import Effect, Location, Parameter, Tool
from codemode.search.index.index import Index
from codemode.search.query import Query
from codemode.search.render import doubt, render
from codemode.testing import make_tool

if TYPE_CHECKING:
    from codemode.search.request import Detail
    from tests.unit.codemode.search.conftest import ToolFactory


@pytest.fixture
def index(tool: ToolFactory) -> Index:
    member = {"member_id": {"type": "integer", "description": "Which member is meant."}}
    return Index.build(
        Catalog(
            [
                tool(f"gym.members.{verb}", f"{verb.title()} a member.", parameters=member, required=("member_id",))
                for verb in ("freeze", "unfreeze", "delete", "get", "update")
            ]
            + [tool(f"gym.classes.{verb}", f"{verb.title()} a class of the timetable.") for verb in ("list", "create")]
            + [tool(f"gym.report_{n}.get", f"Report on member and class number {n}.") for n in range(60)]
        )
    )


def test_each_search_leads_with_its_first_hit(index: Index) -> None:
    lines = render(index.search(Query(("freeze member", "create class")))).splitlines()
    assert lines[0] == "# 'freeze member'"
    assert lines[1].startswith("gym.members.freeze(*, member_id: int)")
    assert lines[2] == "# 'create class'"
    assert lines[3].startswith("gym.classes.create()")


CLIENTS = [
    make_tool(f"gym.clients.{name}", effect=Effect.DESTRUCTIVE, summary=f"{name.capitalize()}.".replace("_", " "))
    for name in ("delete_client", "bulk_delete_clients", "delete_client_note")
]


@pytest.mark.parametrize(
    ("query", "guarded", "listed"),
    [
        ("delete client", True, False),
        ("delete client", False, True),
        ("bulk delete clients", True, True),
        ("delete all clients", True, True),
    ],
)
def test_tools_that_destroy_more_are_left_out_under_a_guarded_one(query: str, guarded: bool, listed: bool) -> None:
    answer = render(Index.build(Catalog(CLIENTS)).search(query), guarded=lambda tool: guarded)

    assert ("bulk_delete_clients" in answer) is listed
    assert ("# not listed: 1 tool that destroys more" in answer) is not listed
    assert "delete_client_note" in answer
    assert "next: offset" not in answer


def _cycle(length: int) -> Schema:
    """Return a schema whose objects refer to each other in a circle."""
    schemas = {
        f"Part{place}": {
            "type": "object",
            "description": "long " * 200,
            "properties": {f"next_{n}": {"$ref": f"#/Part{(place + n) % length}"} for n in (1, 7, 11)},
        }
        for place in range(length)
    }
    return Schema({"$ref": "#/Part0"}, Graph.of(schemas))


WORDS = st.sampled_from(
    ["member", "freeze", "会員を凍結する", "заморозить членство", "x" * 400, "a b " * 500, "\n\n# \t"]
)
SCHEMAS = st.sampled_from(
    [
        {"type": "string"},
        {"enum": [f"a value that is long {number}" for number in range(400)]},
        {"type": "string", "enum": ["会員" * 20, "x" * 900]},
        {"type": "object", "properties": {f"field_{number}": {"type": "object"} for number in range(300)}},
        {"type": "array", "items": {"anyOf": [{"type": kind} for kind in ("string", "integer", "boolean", "null")]}},
    ]
)


@st.composite
def _tools(draw: st.DrawFn) -> Tool:
    place = draw(st.integers(0, 10**6))
    count = draw(st.sampled_from([0, 1, 5, 300]))
    schema = draw(SCHEMAS)
    parameters = tuple(
        Parameter(f"parameter_{n}", "p", Location.QUERY, required=n % 2 == 0, schema=Schema.of(schema))
        for n in range(count)
    )
    return Tool(
        f"api.member_{draw(st.sampled_from(['get', 'list', 'x' * 150]))}_{place}",
        source="api",
        description=draw(WORDS),
        parameters=parameters,
        effect=draw(st.sampled_from(list(Effect))),
        returns=draw(st.sampled_from([None, _cycle(71), Schema.of({"type": "string"})])),
        examples=draw(st.sampled_from([(), ("call " * 300,)])),
    )


@settings(max_examples=40, deadline=None, derandomize=True, phases=[Phase.generate])
@given(
    tools=st.lists(_tools(), min_size=1, max_size=12, unique_by=lambda tool: tool.id),
    queries=st.lists(WORDS, min_size=1, max_size=6),
    budget=st.sampled_from([100, 300, 1200]),
    detail=st.sampled_from(["auto", "full"]),
)
def test_an_answer_stays_within_its_budget(tools: list[Tool], queries: list[str], budget: int, detail: Detail) -> None:
    hits = Index.build(Catalog(tools)).search(Query(tuple(queries), limit=100))
    answer = render(hits, budget_tokens=budget, detail=detail)
    assert tokens.count(answer) <= budget
    if hits.hits and budget > 100:
        assert hits.hits[0].tool.id in answer


def test_each_of_many_queries_has_its_best_hit(index: Index) -> None:
    queries = tuple(f"report on member and class number {number}" for number in range(20))
    hits = index.search(Query(queries))
    answer = render(hits)
    leads = {hit.query: hit.tool.id for hit in reversed(hits.hits)}
    assert len(leads) == 20
    assert all(f"{id_}(" in answer for id_ in leads.values())


def test_a_repeated_best_hit_is_referred_to(index: Index) -> None:
    hits = index.search(Query(("freeze a member", "gym.members.freeze", "create a class")))
    assert hits.best == ("gym.members.freeze", "gym.members.freeze", "gym.classes.create")
    lines = render(hits).splitlines()
    assert [line for line in lines if line.startswith("# '")] == [
        "# 'freeze a member'",
        "# 'create a class'",
        "# 'gym.members.freeze': gym.members.freeze, above",
    ]
    second = render(index.search(Query(("freeze a member", "gym.members.freeze"), offset=2, limit=4)))
    assert "above" not in second


def test_remaining_room_widens_the_next_hits(tool: ToolFactory) -> None:
    parameters = {f"parameter_number_{number}": {"type": "integer"} for number in range(15)}
    hits = Index.build([tool(f"gym.member_{name}.get", "A member.", parameters=parameters) for name in "abc"]).search(
        "member"
    )
    assert render(hits).count(") -> Any") == 3
    assert render(hits, budget_tokens=180).count(") -> Any") == 1
    assert "# (...): describe(name) gives the arguments" in render(hits, budget_tokens=180).splitlines()


def test_a_page_shows_the_results_of_close_hits_before_those_of_others(tool: ToolFactory) -> None:
    tools = [tool(f"gym.{name}", f"{name}.") for name in ("freeze_member", "freeze_member_card", "member_of_guests")]
    hits = Index.build(tools).search("freeze member")
    shown = [
        [line.partition("  #")[0] for line in render(hits, budget_tokens=budget).splitlines()[:3]]
        for budget in (130, 1200)
    ]
    assert shown == [
        ["gym.freeze_member() -> Any", "gym.freeze_member_card() -> Any", "gym.member_of_guests(...)"],
        ["gym.freeze_member() -> Any", "gym.freeze_member_card() -> Any", "gym.member_of_guests() -> Any"],
    ]


def test_each_look_up_is_shown_in_full_once(index: Index) -> None:
    hits = index.search(Query(("freeze a member", "delete a member")))
    assert "member_id from:" not in render(index.with_look_ups(hits))
    with_list = Index.build(
        Catalog([*index.tools, make_tool("gym.members.list", summary="List members.", source="gym")])
    )
    hits = with_list.search(Query(("freeze a member", "delete a member")))
    assert "member_id from:" not in render(hits)  # rendering searches for nothing
    lines = render(with_list.with_look_ups(hits)).splitlines()
    assert [line for line in lines if "member_id from:" in line] == ["#   member_id from: gym.members.list"] * 2
    assert [line for line in lines if line.startswith("gym.members.list(")] == [
        "gym.members.list() -> Any  # List members"
    ]
    first = render(with_list.with_look_ups(with_list.search(Query(("freeze a member",), limit=1)))).splitlines()
    assert first[1] == "#   member_id from: gym.members.list() -> Any  # List members"


def test_full_detail_on_an_exact_name_documents_the_parameters(index: Index) -> None:
    answer = render(index.search("gym.members.freeze"), detail="full")
    assert "Which member is meant." in answer
    assert "Which member is meant." not in render(index.search("gym.members.freeze"))


def test_the_answer_says_how_many_hits_there_are(index: Index) -> None:
    hits = index.search(Query(("report",), limit=5))
    assert render(hits).splitlines()[-1].startswith(f"# 5 of {hits.total} hits; next: offset=5")


def test_no_match_says_so_and_names_the_nearest(index: Index) -> None:
    assert render(index.search("xxqqyyww")).startswith("# no tool matches 'xxqqyyww'")
    destructive = Query(("xxqqyyww",), namespace="gym.members", effect=Effect.READ)
    assert "in namespace 'gym.members' in effect 'read'" in render(index.search(destructive))


def test_an_empty_catalog_does_not_suggest_other_words() -> None:
    for query in (Query(("freeze",)), Query(("freeze", "thaw"), namespace="gym"), Query(())):
        answer = render(Index.build(()).search(query))
        assert "there are no tools here: the operator has to add a source" in answer
        assert "other words" not in answer


def test_a_search_without_a_match_is_reported_beside_the_others(index: Index) -> None:
    answer = render(index.search(Query(("freeze member", "xxqqyyww"))))
    assert "# 'xxqqyyww': no tool matches" in answer.splitlines()


def test_a_page_after_the_last_says_so(index: Index) -> None:
    hits = index.search(Query(("freeze",), offset=500))
    assert render(hits) == f"# no more hits: {hits.total} in all, asked from 500"


@pytest.mark.parametrize(
    ("confidence", "lines"),
    [
        (0.5, ["gym.members.freeze(*, member_id: int) -> Any  # Freeze a member"]),
        (0.1, ["# not sure: nothing here may fit; nearest:", "gym.members.freeze(*, member_id: int) -> Any"]),
        (0.01, ["# nothing here fits; nearest:", "gym.members.freeze(...)  # Freeze a member"]),
    ],
)
def test_an_answer_says_how_likely_its_hits_fit(index: Index, confidence: float, lines: list[str]) -> None:
    hits = index.search(Query(("freeze",), limit=3))
    unsure = (0,) if confidence < 0.147 else ()
    shown = render(replace(hits, confidence=(confidence,), unsure=unsure)).splitlines()
    assert [line[: len(start)] for line, start in zip(shown, lines, strict=False)] == lines
    assert (") -> Any" in "\n".join(shown)) is (confidence > 0.07)


@pytest.mark.parametrize(
    ("query", "heading"),
    [
        ("freeze an igloo of a member", "# no tool has 'igloo'; nearest:"),
        ("freeze a member", ""),
        ("freezeMemberForever", "# no tool is named 'freezeMemberForever'; nearest:"),
        ("members.freeze_all", "# no tool is named 'members.freeze_all'; nearest:"),
        ("gym.members.freeze", ""),
        ("members-freeze", ""),
        ("freeze the member who said last week that she goes to her igloo", ""),  # much of it is no thing of tools
    ],
)
def test_a_word_that_no_tool_has_is_named_though_the_hit_may_fit(index: Index, query: str, heading: str) -> None:
    hits = replace(index.search(query), unsure=(), confidence=(0.5,))
    assert render(hits).startswith(heading or "gym.members.freeze(")
    assert doubt(hits) == heading.removeprefix("# ").removesuffix("; nearest:")


def names_and_signatures(answer: str) -> tuple[int, int]:
    lines = [line for line in answer.splitlines() if not line.startswith("#")]
    names = sum("(...)" in line for line in lines)
    return names, len(lines) - names


@pytest.mark.parametrize(
    ("queries", "signatures"), [(("report on member",), 4), (("report on member", "create a class", "freeze"), 6)]
)
def test_the_first_hit_of_each_query_and_three_more_have_signatures(
    index: Index, queries: tuple[str, ...], signatures: int
) -> None:
    assert names_and_signatures(render(index.search(Query(queries)))) == (10 - signatures, signatures)


def test_a_search_may_ask_for_another_number_of_signatures(index: Index) -> None:
    hits = index.search(Query(("report on member",), limit=6))
    assert names_and_signatures(render(hits, signatures=6)) == (0, 6)
    assert names_and_signatures(render(hits, signatures=1)) == (5, 1)


OPTIONS = {f"option_number_{number}": {"type": "string"} for number in range(60)}


@pytest.mark.parametrize("words", ["list orders by billing period", "orders of some billing periods"])
def test_a_parameter_that_a_query_names_is_never_folded_away(tool: ToolFactory, words: str) -> None:
    parameters = {**OPTIONS, "billing_period": {"type": "string"}}
    tools = [tool(f"shop.orders.{verb}_orders", f"{verb} orders.", parameters=parameters) for verb in ("list", "find")]
    answer = render(Index.build(Catalog(tools)).search(Query((words,))))
    assert answer.count("billing_period: str") == 2
    assert "option_number_59: str" not in answer


def test_full_detail_never_shows_less_than_auto(tool: ToolFactory) -> None:
    fields = {
        f"field_{number}": {"title": f"Part{number}", "properties": {key: {} for key in "abcd"}} for number in range(40)
    }
    parameters = {"only": {"type": "string", "description": "word " * 60}}
    for returns in (None, {"type": "object", "title": "Whole", "properties": fields}):
        for number in (1, 6, 12):
            described = tool(
                "shop.orders.list_orders", "List orders. " + "More is said here. " * 60, parameters=parameters,
                returns=None if returns is None else Schema.of(returns),
            )  # fmt: skip
            others = [tool(f"shop.q{place}.act", f"query {place}") for place in range(number)]
            index = Index.build(Catalog([described, *others]))
            queries = ("list orders", *(f"shop.q{place}.act" for place in range(number)))
            auto, full = (render(index.search(Query(queries)), detail=detail) for detail in ("auto", "full"))
            assert "only: str" in auto
            assert "only: str" in full
            assert full.count("List orders") == auto.count("List orders")
            assert all(f"{one.id}(" in full for one in others)


def test_the_hits_that_were_asked_for_are_shown_whole_before_others_are_named(tool: ToolFactory) -> None:
    fields = {f"field_{number}": {"type": "string", "description": "About it."} for number in range(55)}
    body = {"type": "object", "title": "Order", "properties": fields}
    tools = [tool(f"shop.orders.{verb}_order", f"{verb} an order.", parameters={"order": body}, required=("order",))
             for verb in ("create", "update", "find", "read", "sort", "sign")]  # fmt: skip
    answer = render(Index.build(Catalog(tools)).search(Query(("create order",))), detail="full")
    assert '"field_54": ' in answer
    assert "not shown for space" not in answer
