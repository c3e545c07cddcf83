"""The steps from a message to the tools that are offered for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codemode.catalog.tool import Effect
from codemode.errors import ConfigurationError
from codemode.menus.menu import Reason
from codemode.testing import make_tool
from tests.unit.codemode.menus.conftest import menu_for, tools_in

if TYPE_CHECKING:
    from tests.unit.codemode.menus.conftest import Made


def counts(menu: Any) -> dict[str, int]:
    """How many tools of each group are offered, in the order in which they come."""
    found: dict[str, int] = {}
    for tool in menu.tools:
        group = tool.id.split(".")[1]
        found[group] = found.get(group, 0) + 1
    return found


TEN = {"categories": {name: {"keywords": [name]} for name in ("a1", "b2", "c3", "d4", "e5")}}


@pytest.mark.parametrize(
    ("message", "strategy", "expected"),
    [
        ("a1", "balanced", {"a1": 8}),
        ("a1 and b2", "balanced", {"a1": 4, "b2": 4}),
        ("a1 b2 c3 d4 e5", "balanced", {"a1": 2, "b2": 2, "c3": 2, "d4": 1, "e5": 1}),
        ("a1", "proportional", {"a1": 8}),
        ("b2 and a1", "proportional", {"a1": 4, "b2": 4}),
        ("a1 b2 c3 d4 e5", "proportional", {"a1": 2, "b2": 2, "c3": 2, "d4": 2}),
    ],
)
async def test_eight_slots(make_selector: Made, message: str, strategy: str, expected: dict[str, int]) -> None:
    tools = tools_in(dict.fromkeys(("a1", "b2", "c3", "d4", "e5"), 10))
    selector = make_selector(tools, {**TEN, "strategy": strategy, "max_tools": 8})
    assert counts(await menu_for(selector, message)) == expected


async def test_core_is_first_and_never_cut_and_the_summary_names_what_is(make_selector: Made) -> None:
    tools = tools_in({"core": 3, "mail": 4})
    selector = make_selector(tools, {"core": ["app.core.*"], "cap": 5, "categories": {"mail": {"keywords": ["mail"]}}})
    menu = await menu_for(selector, "a mail")
    assert [tool.id for tool in menu.tools] == [
        *(f"app.core.do_00{number}" for number in range(3)),
        "app.mail.do_000",
        "app.mail.do_001",
    ]
    assert menu.cut == ("app-mail-do_002", "app-mail-do_003")
    assert menu.summary == "5/7 tools | activated: mail(keyword:1.00) | cut: app-mail-do_002, app-mail-do_003"


async def test_meta_tools_come_first_and_count(make_selector: Made) -> None:
    tools = tools_in({"core": 1, "mail": 9})
    selector = make_selector(tools, {"core": ["do_000"], "cap": 6, "categories": {"mail": {"keywords": ["mail"]}}})
    menu = await menu_for(selector, "mail", meta=selector.meta(answered=True))
    assert menu.names[:4] == ("request_more_tools", "request_tool", "app-core-do_000", "app-mail-do_000")
    assert len(menu.openai_tools()) == len(menu) == 6


@pytest.mark.parametrize(
    ("setting", "answered", "alone"),
    [(None, True, False), (True, True, True), (False, False, False)],
)
def test_one_switch_for_each_meta_tool(make_selector: Made, setting: bool | None, answered: bool, alone: bool) -> None:
    selector = make_selector(tools_in({"mail": 1}), {"request_more_tools": setting, "request_tool": False})
    assert ("request_more_tools" in selector.meta(answered=True)) == answered
    assert ("request_more_tools" in selector.meta(answered=False)) == alone


async def test_no_meta_tool_takes_the_place_of_core(make_selector: Made) -> None:
    selector = make_selector(tools_in({"core": 3}), {"core": ["do_*"], "cap": 3})
    assert selector.meta(answered=True) == ()
    with pytest.raises(ConfigurationError, match=r"menu.core: 3 tools are always offered, and menu.cap is 2"):
        make_selector(tools_in({"core": 3}), {"core": ["do_*"], "cap": 2})


RELATED = {
    "defaults": ["plans"],
    "categories": {
        "clients": {"keywords": ["client"], "related": ["visits"]},
        "visits": {"related": ["rooms"]},
        "rooms": {},
        "plans": {"keywords": ["plan"], "related": ["rooms"]},
    },
}


@pytest.mark.parametrize(
    ("relations", "groups", "summary"),
    [
        ("transitive", ["clients", "rooms", "visits"], "visits, rooms"),
        ("direct", ["clients", "visits"], "visits"),
        ("none", ["clients"], ""),
    ],
)
async def test_relations(make_selector: Made, relations: str, groups: list[str], summary: str) -> None:
    tools = tools_in({"clients": 1, "visits": 1, "rooms": 1, "plans": 1})
    selector = make_selector(tools, {**RELATED, "relations": relations})
    menu = await menu_for(selector, "a client")
    assert sorted(counts(menu)) == groups
    assert ("| related: " + summary in menu.summary) == bool(summary)


async def test_defaults_are_not_expanded_and_only_where_nothing_matches(make_selector: Made) -> None:
    tools = tools_in({"clients": 1, "visits": 1, "rooms": 1, "plans": 2})
    selector = make_selector(tools, RELATED)
    menu = await menu_for(selector, "hello")
    assert counts(menu) == {"plans": 2}
    assert menu.summary == "2/5 tools | nothing matched: defaults"
    assert counts(await menu_for(selector, "a plan")) == {"plans": 2, "rooms": 1}


async def test_earlier_messages_count_within_the_window(make_selector: Made) -> None:
    tools = tools_in({"clients": 1, "visits": 1, "rooms": 1, "plans": 1})
    menu: dict[str, Any] = {**RELATED, "relations": "none"}
    talk = [{"role": "user", "content": "a client"}, {"role": "assistant", "content": "here"}]
    selector = make_selector(tools, menu)
    assert counts(await menu_for(selector, "and the plan", talk)) == {"clients": 1, "plans": 1}
    far = [*talk, *({"role": "user", "content": "so?"} for _ in range(3))]
    assert counts(await menu_for(selector, "and the plan", far)) == {"plans": 1}
    short = make_selector(tools, {**menu, "history": {"human_messages": 1, "messages_scanned": 8}})
    assert counts(await menu_for(short, "and the plan", talk)) == {"plans": 1}


async def test_a_category_over_the_cap_is_split_by_effect_so_that_none_is_starved(make_selector: Made) -> None:
    tools = [make_tool(f"app.mail.a_read_{number}") for number in range(20)]
    tools += [make_tool(f"app.mail.b_write_{number}", effect=Effect.WRITE) for number in range(3)]
    tools += [make_tool(f"app.mail.c_destroy_{number}", effect=Effect.DESTRUCTIVE) for number in range(2)]
    selector = make_selector(tools, {"cap": 10, "categories": {"mail": {"keywords": ["mail"]}}})
    menu = await menu_for(selector, "mail")
    assert [tool.effect for tool in menu.tools] == ["read"] * 5 + ["write"] * 3 + ["destructive"] * 2
    assert menu.summary.startswith("10/25 tools | activated: mail:read(keyword:1.00), mail:write(keyword:1.00)")


async def test_weighted_scores_order_and_threshold(make_selector: Made) -> None:
    categories = {"mail": {"keywords": {"send": 0.4, "mail": 1}}, "files": {"keywords": {"send": 0.4, "file": 1}}}
    tools = tools_in({"mail": 3, "files": 3})
    menu: dict[str, Any] = {"categories": categories, "scores": "weighted", "max_tools": 3}
    found = await menu_for(make_selector(tools, menu), "send the file")
    assert found.summary.startswith("3/6 tools | activated: files(keyword:1.40), mail(keyword:0.40)")
    assert counts(found) == {"mail": 1, "files": 2}
    assert counts(await menu_for(make_selector(tools, {**menu, "threshold": 1}), "send the file")) == {"files": 3}


async def test_retrieval_takes_what_fits_best_of_the_categories_that_were_found(make_selector: Made) -> None:
    tools = [
        make_tool("app.mail.send", summary="Send a letter"),
        make_tool("app.mail.move", summary="Move a letter to a folder"),
        make_tool("app.mail.print", summary="Print a letter on paper"),
        make_tool("app.files.print", summary="Print a file on paper"),
    ]
    menu = {"categories": {"mail": {"keywords": ["mail"]}, "files": {"keywords": ["file"]}}}
    selector = make_selector(tools, {**menu, "retrieval": 1})
    assert [tool.id for tool in (await menu_for(selector, "print the mail")).tools] == ["app.mail.print"]
    calls = [{"role": "assistant", "tool_calls": [{"function": {"name": "app-mail-move", "arguments": "{}"}}]}]
    again = await menu_for(selector, "print the mail", calls)
    assert [tool.id for tool in again.tools] == ["app.mail.move", "app.mail.print"]  # what fits the message stays
    whole = make_selector(tools, {**menu, "retrieval": {"k": 0}})
    assert len(await menu_for(whole, "print the mail")) == 3


async def test_each_tool_says_why_it_is_there(make_selector: Made) -> None:
    tools = tools_in({"core": 1, "clients": 1, "visits": 1, "rooms": 1, "plans": 1})
    selector = make_selector(tools, {**RELATED, "core": ["app.core.*"]})
    requested = {"app.plans.do_000": Reason("requested", "plans", 9.0)}
    menu = await menu_for(selector, "a client", requested=requested)
    assert menu.explain().splitlines()[2:] == [
        "app.core.do_000  # core",
        "app.clients.do_000  # clients: keyword 'client'",
        "app.visits.do_000  # visits: related to clients",
        "app.rooms.do_000  # rooms: related to visits",
        "app.plans.do_000  # plans: requested",
    ]


async def test_a_tool_of_two_categories_is_offered_once(make_selector: Made) -> None:
    categories = {name: {"keywords": ["x"], "tools": ["do_*"]} for name in ("one", "two")}
    menu = await menu_for(make_selector(tools_in({"mail": 3}), {"categories": categories}), "x")
    assert len(menu) == 3
    assert menu.cut == ()


async def test_what_is_requested_takes_the_place_of_the_least_relevant(make_selector: Made) -> None:
    tools = tools_in({"core": 1, "clients": 3, "visits": 2, "rooms": 2, "plans": 2})
    selector = make_selector(tools, {**RELATED, "core": ["app.core.*"], "cap": 8})
    assert counts(await menu_for(selector, "a client")) == {"core": 1, "clients": 3, "visits": 2, "rooms": 2}
    requested = {f"app.plans.do_00{number}": Reason("requested", "plans", 9.0) for number in range(2)}
    menu = await menu_for(selector, "a client", requested=requested)
    assert counts(menu) == {"core": 1, "clients": 3, "visits": 2, "plans": 2}
    assert menu.cut == ("app-rooms-do_000", "app-rooms-do_001")
    many = {f"app.rooms.do_00{number}": Reason("requested", "rooms", 9.0) for number in range(2)} | requested
    small = make_selector(tools, {**RELATED, "core": ["app.core.*"], "cap": 4})
    assert [tool.id for tool in (await menu_for(small, "a client", requested=many)).tools] == [
        "app.core.do_000",
        "app.rooms.do_001",
        "app.plans.do_000",
        "app.plans.do_001",
    ]


GROUPS = "abcdefgh"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sizes=st.lists(st.integers(1, 30), min_size=8, max_size=8),
    core=st.integers(0, 5),
    cap=st.integers(8, 128),
    slots=st.none() | st.integers(1, 40),
    strategy=st.sampled_from(["balanced", "proportional"]),
    message=st.text(GROUPS, max_size=8),
    wanted=st.lists(st.sampled_from(GROUPS), max_size=3),
    answered=st.booleans(),
)
async def test_whatever_is_asked_for_the_cap_holds_and_core_is_first(
    make_selector: Made, sizes: list[int], wanted: list[str], message: str, *, answered: bool, **menu: Any
) -> None:
    core, slots = menu.pop("core"), menu.pop("slots")
    tools = tools_in({"core": core, **{f"g{name}": size for name, size in zip(GROUPS, sizes, strict=True)}})
    categories = {f"g{name}": {"keywords": [name], "related": [f"g{GROUPS[0]}"]} for name in GROUPS}
    patterns = ["app.core.*"] if core else []
    selector = make_selector(tools, {**menu, "core": patterns, "max_tools": slots, "categories": categories})
    requested = {
        tool.id: Reason("requested", f"g{name}", 9.0)
        for name in wanted
        for part in selector.categories.of(f"g{name}")
        for tool in selector.categories.by_name[part].tools
    }
    meta = selector.meta(answered=answered)
    found = await menu_for(selector, message, requested=requested, meta=meta)
    ids = [tool.id for tool in found.tools]
    assert len(found.openai_tools()) == len(set(found.names)) <= menu["cap"]
    assert found.names[: len(meta)] == meta
    assert [id_.split(".")[1] for id_ in ids[:core]] == ["core"] * core
    room = menu["cap"] - len(meta) - core
    assert set(list(requested)[max(0, len(requested) - room) :]) <= set(ids)
    assert not set(found.cut) & set(found.names)


async def test_every_tool_of_the_view_is_found_by_name_whatever_is_offered(make_selector: Made) -> None:
    selector = make_selector(
        [make_tool("app.mail.send", aliases=("sendMail",))], {"categories": {"mail": {"keywords": ["x"]}}}
    )
    assert len(await menu_for(selector, "hello")) == 0
    for name in ("app-mail-send", "app.mail.send", "app.sendMail"):
        tool = selector.tool(name)
        assert tool is not None
        assert tool.id == "app.mail.send"
    assert [selector.tool(name) for name in ("app-mail-sent", "sendMail")] == [None, None]


async def test_the_same_bytes_for_the_same_catalog(make_selector: Made) -> None:
    selector = make_selector(tools_in({"mail": 2}), {})
    first, second = [(await menu_for(selector, "mail number 1")).openai_tools() for _ in range(2)]
    assert first == second
    assert all(one is other for one, other in zip(first, second, strict=True))


async def test_every_tool_has_a_function_name_of_its_own(make_selector: Made) -> None:
    long = "x" * 60
    selector = make_selector([make_tool(f"{root}.{long}.send") for root in ("a", "b")], {"router": "list"})
    menu = await menu_for(selector, "send")
    assert [tool.id for tool in menu.tools] == [f"a.{long}.send", f"b.{long}.send"]
    assert [tool.id for tool in map(selector.tool, menu.names) if tool is not None] == [tool.id for tool in menu.tools]
