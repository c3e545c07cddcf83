"""The categories and keywords of the gym give the numbers of tools that are known of it."""

from __future__ import annotations

from typing import Any

import pytest

from api_specs.gym.document import PATH, load, read_yaml

MENU = read_yaml(PATH.with_name("menu.yaml"))
LONG = (
    "show clients attendance revenue salary staff trainers plans offers leads referrals documents goals photos notes "
    "classes appointments guests products campaigns equipment engagement gamification loyalty wearables surveys diet "
    "facilities"
)


def matched(*messages: str) -> set[str]:
    """Categories with a keyword in one of the last human messages."""
    text = " ".join(messages[-MENU["history"]["human_messages"] :]).lower()
    return {name for name, item in MENU["categories"].items() if any(keyword in text for keyword in item["keywords"])}


def offered(message: str) -> tuple[list[str], int]:
    """The tools for a message in order, within the cap, and how many there were before it."""
    categories = matched(message)
    waiting = list(categories)
    while waiting:
        for related in MENU["categories"][waiting.pop()].get("related", ()):
            if related not in categories:
                categories.add(related)
                waiting.append(related)
    chosen = categories or set(MENU["defaults"])
    tools = [tool for name in MENU["categories"] if name in chosen for tool in operations()[name]]
    everything = [*MENU["core"], *tools]
    return everything[: MENU["cap"]], len(everything)


def operations() -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for path in load().contents["paths"].values():
        for operation in path.values():
            grouped.setdefault(operation["tags"][0], []).append(operation["operationId"])
    return grouped


@pytest.mark.parametrize(
    ("message", "tools", "before_the_cap"),
    [
        ("show me all clients", 32, 32),
        ("what is pending salary?", 19, 19),
        ("hello, how are you?", 44, 44),
        ("show me revenue and attendance stats", 16, 16),
        ("book appointment for client", 43, 43),
        ("book an appointment for a client with a trainer", 43, 43),
        ("show me dashboard", 44, 44),
        (LONG, 128, 135),
    ],
)
def test_a_message_is_offered_so_many_tools(message: str, tools: int, before_the_cap: int) -> None:
    names, total = offered(message)
    assert (len(names), total) == (tools, before_the_cap)
    assert names[:8] == MENU["core"]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("messages", "categories"),
    [
        (["who came today?"], {"attendance", "clients"}),
        (["show me all yoga classes this week"], {"classes"}),
        (["show me pending salary"], {"salary"}),
        (["book an appointment for a client with a trainer"], {"appointments", "clients", "trainers"}),
        (["show me all active clients", "freeze the first one"], {"clients", "memberships"}),
    ],
)
def test_a_conversation_matches_these_categories(messages: list[str], categories: set[str]) -> None:
    assert matched(*messages) == categories


def test_categories_are_the_tags_of_the_document_and_each_can_be_matched() -> None:
    assert ["core", *MENU["categories"]] == [tag["name"] for tag in load().contents["tags"]]
    assert set(MENU["core"]) == set(operations()["core"])
    assert all(item["keywords"] for item in MENU["categories"].values())
    related = {name for item in MENU["categories"].values() for name in item.get("related", ())}
    assert related | set(MENU["defaults"]) <= MENU["categories"].keys()


def test_the_facts_of_the_gym_hold(shared_data: Any) -> None:
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
        assert len(offered(fact["message"])[0]) == fact["tools"], fact["message"]
    for fact in facts["messages"]:
        assert matched(*fact.get("turns", [fact.get("message", "")])) == set(fact["categories"])
    parameters = {operation.id: {p.name for p in operation.parameters} for operation in load().operations.values()}
    for name, arguments in facts["parameters"].items():
        assert arguments.keys() <= parameters[name]
