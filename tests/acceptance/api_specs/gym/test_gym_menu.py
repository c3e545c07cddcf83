"""The menu that comes with the gym has the numbers of tools that are known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from api_specs.gym.document import PATH, load, read_yaml
from codemode.catalog.catalog import Catalog
from codemode.menus.conversation import Conversation
from codemode.menus.selection import Selector
from codemode.search.finder import Finder
from codemode.settings import MenuSettings, SearchSettings
from codemode.testing import make_tool

if TYPE_CHECKING:
    from pathlib import Path

    from codemode.menus.menu import Menu

MENU = read_yaml(PATH.with_name("menu.yaml"))


def operations() -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for path in load().contents["paths"].values():
        for operation in path.values():
            grouped.setdefault(operation["tags"][0], []).append(operation["operationId"])
    return grouped


@pytest.fixture
def selector(tmp_path: Path) -> Selector:
    tools = [make_tool(f"gym.{tag}.{name}") for tag, names in operations().items() for name in names]
    return Selector(Catalog(tools), Finder(SearchSettings(), tmp_path), MenuSettings.model_validate(MENU))


async def offered(selector: Selector, *messages: str) -> Menu:
    return await selector.select(Conversation.of(messages[-1], messages[:-1]))


def test_categories_are_the_tags_of_the_document_and_each_can_be_matched() -> None:
    assert ["core", *MENU["categories"]] == [tag["name"] for tag in load().contents["tags"]]
    assert set(MENU["core"]) == set(operations()["core"])
    assert all(item["keywords"] for item in MENU["categories"].values())
    related = {name for item in MENU["categories"].values() for name in item.get("related", ())}
    assert related | set(MENU["defaults"]) <= MENU["categories"].keys()


async def test_the_facts_of_the_gym_hold(shared_data: Any, selector: Selector) -> None:
    facts = read_yaml(shared_data("gym") / "gym.yaml")
    assert MENU["core"] == facts["core"]
    assert (MENU["cap"], MENU["defaults"], MENU["history"]) == (facts["cap"], facts["defaults"], facts["history"])
    by_tag = operations()
    for name, fact in facts["categories"].items():
        assert len(by_tag[name]) == fact["count"], name
        assert set(fact["named"]) <= set(by_tag[name]), name
        assert MENU["categories"][name]["keywords"] == fact.get("keywords", MENU["categories"][name]["keywords"]), name
        assert MENU["categories"][name].get("related", []) == facts["related"].get(name, []), name
    for fact in facts["offered"]:
        menu = await offered(selector, fact["message"])
        assert len(menu.openai_tools()) == fact["tools"], fact["message"]
        assert [tool.path.partition(".")[2] for tool in menu.tools[:8]] == facts["core"]
    for fact in facts["messages"]:
        menu = await offered(selector, *fact.get("turns", [fact.get("message", "")]))
        assert {reason.category for reason in menu.activated} == set(fact["categories"])
        assert len(menu.openai_tools()) == fact.get("tools", len(menu.openai_tools()))
    parameters = {operation.id: {p.name for p in operation.parameters} for operation in load().operations.values()}
    for name, arguments in facts["parameters"].items():
        assert arguments.keys() <= parameters[name]
