"""Routers: by a list, by words, by meaning, by a model, and what becomes of a message where one of them fails."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import pytest

from codemode.errors import ConfigurationError
from codemode.testing import make_tool
from codemode.testing.model_server import ModelServer, Reply
from tests.unit.codemode.menus.conftest import menu_for, tools_in
from tests.unit.codemode.search.embeddings_service import EmbeddingsService

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codemode.testing.model_server import ModelRequest
    from tests.unit.codemode.menus.conftest import Made

TOOLS = [
    make_tool("app.cars.rent", summary="Rent a vehicle"),
    make_tool("app.fruit.buy", summary="Buy a banana"),
    make_tool("app.water.swim", summary="Swim in a river"),
]


@pytest.fixture
def service() -> Iterator[EmbeddingsService]:
    started = EmbeddingsService()
    yield started
    started.close()


def embeddings(service: EmbeddingsService, model: str = "topics", **more: Any) -> dict[str, Any]:
    settings = {"kind": "openai", "model": model, "base_url": service.base_url, "query_wait_ms": 5000}
    return {"embeddings": settings | more}


def named(**keywords: list[str]) -> dict[str, Any]:
    """A category for each, and those of the tools without keywords."""
    return {name: {"keywords": keywords.get(name, [])} for name in ("cars", "fruit", "water")}


async def test_few_categories_are_all_taken_and_the_best_tools_of_them(make_selector: Made) -> None:
    few = make_selector(tools_in({"a": 20, "b": 20}), {})
    menu = await menu_for(few, "a number 7")
    assert menu.summary == "15/40 tools | activated: app.a(list:1.00), app.b(list:1.00)"
    assert "app.a.do_007" in {tool.id for tool in menu.tools}
    whole = make_selector(tools_in({"a": 20, "b": 20}), {"router": "list"})
    assert len(await menu_for(whole, "a number 7")) == 40


async def test_many_categories_are_searched_by_words(make_selector: Made) -> None:
    groups = ("letters", "files", "rooms", "plans", "visits", "clients", "offers", "shops", "goals")
    selector = make_selector(tools_in(dict.fromkeys(groups, 2)), {"router": {"kind": "auto", "top": 1}})
    menu = await menu_for(selector, "rooms, please")
    assert {tool.id for tool in menu.tools} == {"app.rooms.do_000", "app.rooms.do_001"}
    assert menu.activated[0].kind == "lexical"


async def test_categories_with_keywords_are_left_to_these(make_selector: Made) -> None:
    selector = make_selector(TOOLS, {"categories": named(cars=["car"])})
    menu = await menu_for(selector, "swim in a river")
    assert not menu.tools
    assert menu.notes[0].startswith("no keyword occurs in the messages; set menu.defaults")


async def test_a_short_answer_is_searched_with_the_messages_before_it(make_selector: Made) -> None:
    groups = ("letters", "files", "rooms", "plans", "visits", "clients", "offers", "shops", "goals")
    selector = make_selector(tools_in(dict.fromkeys(groups, 2)), {"router": {"kind": "lexical", "top": 1}})
    history = ["show the files", "and the clients", {"role": "assistant", "content": "Shall I?"}]
    assert {reason.category for reason in (await menu_for(selector, "yes", history)).activated} == {"app.clients"}
    changed = await menu_for(selector, "now tell me about all of my old rooms", history)
    assert {reason.category for reason in changed.activated} == {"app.rooms"}


async def test_scores_by_words_are_probabilities(make_selector: Made) -> None:
    tools = tools_in(dict.fromkeys(("letters", "files", "rooms"), 2))
    menu = await menu_for(make_selector(tools, {"router": "lexical"}), "rooms")
    scores = [reason.score for reason in menu.activated]
    assert 1 >= max(scores) == scores[0] > 0
    assert not menu.notes


async def test_a_menu_for_what_no_tool_does_says_so(make_selector: Made) -> None:
    tools = tools_in(dict.fromkeys(("letters", "files", "rooms"), 20))
    menu = await menu_for(make_selector(tools, {"router": "lexical"}), "a number of xylophones in a harpsichord")
    assert menu.notes == ("not sure: no tool fits the messages well",)
    empty = await menu_for(make_selector(tools, {"router": "lexical"}), "xylophone")
    assert empty.notes == ("nothing fits the messages; set menu.defaults to offer tools to such messages",)


async def test_keyword_first_else_meaning(make_selector: Made, service: EmbeddingsService) -> None:
    categories = named(cars=["drive"], fruit=["apple"])
    menu: dict[str, Any] = {"categories": categories, "router": {"kind": "embedding", "threshold": 0.6, "wait_s": 60}}
    selector = make_selector(TOOLS, menu, embeddings(service))
    found = await menu_for(selector, "drive by the river")
    assert [str(reason) for reason in found.activated] == ["cars: keyword 'drive'", "water: embed"]
    assert found.summary.startswith("2/3 tools | activated: cars(keyword:1.00), water(embed:")
    assert {tool.id for tool in (await menu_for(selector, "a velomobile")).tools} == {"app.cars.rent"}
    assert len(await menu_for(selector, "nothing of all this")) == 0


@pytest.mark.parametrize(
    ("model", "router", "count"),
    [
        ("topics", {}, 1),
        ("BAAI/bge-m3:latest", {"thresholds": {"bge-m3": 0.999999}}, 0),
        ("bge-m3", {"thresholds": {"topics": 0.999999}}, 1),
        ("topics", {"threshold": -1}, 3),
        ("topics", {"threshold": -1, "top": 2}, 2),
    ],
)
async def test_the_threshold_is_that_of_the_model(
    make_selector: Made, service: EmbeddingsService, model: str, router: dict[str, Any], count: int
) -> None:
    selector = make_selector(
        TOOLS,
        {"categories": named(), "router": {"kind": "embedding", "wait_s": 60, **router}},
        embeddings(service, model),
    )
    assert len(await menu_for(selector, "a fruit in a car by the river" if count > 1 else "a fruit")) == count


async def test_a_dead_embeddings_server_leaves_keywords_working_and_says_so(
    make_selector: Made, service: EmbeddingsService
) -> None:
    service.close()
    menu: dict[str, Any] = {"categories": named(cars=["car"], fruit=["f"], water=["w"]), "router": "embedding"}
    found = await menu_for(make_selector(TOOLS, menu, embeddings(service)), "a car on a river")
    assert {tool.id for tool in found.tools} == {"app.cars.rent"}
    assert found.summary == (
        "1/3 tools | activated: cars(keyword:1.00) | the embeddings service cannot be reached: by keywords alone"
    )
    unkeyed = make_selector(TOOLS, {**menu, "categories": named()}, embeddings(service))
    assert {tool.id for tool in (await menu_for(unkeyed, "swim")).tools} == {"app.water.swim"}


async def test_without_a_service_the_router_says_what_is_missing(make_selector: Made) -> None:
    selector = make_selector(TOOLS, {"categories": named(cars=["car"]), "router": "embedding"})
    assert (await menu_for(selector, "a car")).notes == ("search.embeddings is not configured: by keywords alone",)


def routed(server: ModelServer, **more: Any) -> dict[str, Any]:
    asked = {"model": "small", "base_url": server.base_url, "api_key": {"command": ["echo", server.key]}}
    return {"categories": named(fruit=["apple"]), "router": {"kind": "model", "model": asked, "wait_s": 60, **more}}


async def test_a_model_names_categories_and_nothing_else(make_selector: Made) -> None:
    def choose(seen: ModelRequest) -> Reply:
        return Reply(calls=[("choose_categories", {"categories": ["water", "cars"]})])

    async with ModelServer(choose) as server:
        selector = make_selector(TOOLS, routed(server))
        talk = [{"role": "user", "content": "about travel"}]
        menu = await menu_for(selector, "I have an apple", talk)
    assert menu.summary == "3/3 tools | activated: fruit(keyword:1.00), water(model:1.00), cars(model:1.00)"
    body = server.seen[0].body
    assert body["tools"][0]["function"]["parameters"]["properties"]["categories"]["items"]["enum"] == ["cars", "water"]
    assert body["tool_choice"] == {"type": "function", "function": {"name": "choose_categories"}}
    assert server.seen[0].message == "about travel\nI have an apple"
    assert "- cars: Rent a vehicle" in server.seen[0].system


@pytest.mark.parametrize(
    ("say", "note"),
    [
        (Reply("I do not know"), "the router's model named no categories"),
        (Reply(calls=[("choose_categories", "{")]), "the router's model named no categories"),
        (Reply(calls=[("choose_categories", {"categories": ["boats"]})]), "named an unknown category ('boats')"),
    ],
)
async def test_a_model_that_names_nothing_is_done_without(make_selector: Made, say: Reply, note: str) -> None:
    async with ModelServer(lambda _: say) as server:
        menu = await menu_for(make_selector(TOOLS, routed(server)), "swim")
    assert {tool.id for tool in menu.tools} == {"app.water.swim"}
    assert note in menu.summary
    assert menu.summary.endswith(": by words instead")


async def test_a_model_that_refuses_or_is_away_is_done_without(make_selector: Made, service: EmbeddingsService) -> None:
    async with ModelServer(lambda _: Reply()) as server:
        wrong = routed(server)
        wrong["router"]["model"]["api_key"] = None
        menu = await menu_for(make_selector(TOOLS, wrong, embeddings(service)), "a river")
        assert menu.notes == ("the router's model answered 401: by meaning instead",)
        assert [reason.kind for reason in menu.activated] == ["embed"]
        url = server.base_url
    gone: dict[str, Any] = {
        "categories": named(),
        "router": {"kind": "model", "model": {"model": "m", "base_url": url}, "wait_s": 60},
    }
    menu = await menu_for(make_selector(TOOLS, gone), "swim")
    assert menu.notes == ("the router's model cannot be reached: by words instead",)


async def test_a_model_has_only_so_much_time(make_selector: Made) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        asked = {"model": "slow", "base_url": f"http://127.0.0.1:{silent.getsockname()[1]}/v1"}
        menu = {"categories": named(), "router": {"kind": "model", "model": asked, "wait_s": 1}}
        found = await menu_for(make_selector(TOOLS, menu), "swim")
    assert found.notes == ("the router's model gave no answer within 1 s: by words instead",)
    assert [reason.kind for reason in found.activated] == ["lexical"]


def test_a_router_by_model_needs_one(make_selector: Made) -> None:
    with pytest.raises(ConfigurationError, match=r"menu.router.model: name the model"):
        make_selector(TOOLS, {"router": "model"})
