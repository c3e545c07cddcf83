"""The assistants of docs/how-to/menus.md: each configuration gives the numbers that stand beside it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from api_specs.gym.document import PATH as GYM
from codemode.catalog.catalog import Catalog
from codemode.menus.session import MenuSession
from codemode.service import CodeMode
from codemode.settings import Settings
from codemode.testing import make_tool
from tests.unit.codemode.menus.conftest import menu_for, tools_in
from tests.unit.codemode.search.embeddings_service import EmbeddingsService

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.menus.menu import Menu
    from codemode.menus.selection import Selector
    from tests.unit.codemode.menus.conftest import Made

PAGE = (Path(__file__).parents[4] / "docs" / "how-to" / "menus.md").read_text(encoding="utf-8")
LONG = (
    "show clients attendance revenue salary staff trainers plans offers leads referrals documents goals photos notes "
    "classes appointments guests products campaigns equipment engagement gamification loyalty wearables surveys diet "
    "facilities"
)


def section(title: str, number: int = 0) -> dict[str, Any]:
    """The configuration that stands under a heading."""
    text = PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
    found: dict[str, Any] = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)[number])
    return found


def group_counts(menu: Menu) -> dict[str, int]:
    found: dict[str, int] = {}
    for tool in menu.tools:
        group = tool.id.split(".")[1]
        found[group] = found.get(group, 0) + 1
    return found


#: Messages, and what they are offered and why; the last four need categories that only the file has.
OF_THE_GYM = [
    (["show me all clients"], 32, {"clients"}),
    (["what is pending salary?"], 19, {"salary"}),
    (["hello, how are you?"], 44, set()),
    (["show me revenue and attendance stats"], 16, {"revenue", "attendance"}),
    (["show me dashboard"], 44, set()),
    (["who came today?"], 32, {"attendance", "clients"}),
    (["show me pending salary"], 19, {"salary"}),
    (["show me all active clients", "freeze the first one"], 32, {"clients", "memberships"}),
    (["show me all yoga classes this week"], 36, {"classes"}),
    (["book appointment for client"], 43, {"appointments", "clients"}),
    (["book an appointment for a client with a trainer"], 43, {"appointments", "clients", "trainers"}),
    ([LONG], 128, None),
]


@pytest.mark.parametrize("where", ["page", "file"])
async def test_the_gym_is_offered_so_many_tools(tmp_path: Path, where: str) -> None:
    menu = section("An assistant of 137 tools")["menu"]
    if where == "file":
        menu = yaml.safe_load(GYM.with_name("menu.yaml").read_text(encoding="utf-8"))
    source = {"location": str(GYM), "base_url": "http://127.0.0.1:9", "credentials": [{"kind": "none"}]}
    folders = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"}
    settings = Settings.model_validate({"sources": {"gym": source}, "menu": menu, **folders})
    async with CodeMode.from_settings(settings) as gym:
        core = [gym.catalog.find(name).id for name in menu["core"]]
        for messages, tools, activated in OF_THE_GYM if where == "file" else OF_THE_GYM[:8]:
            history = [{"role": "user", "content": message} for message in messages[:-1]]
            found = await gym.select_menu(messages[-1], history)
            assert len(found.openai_tools()) == tools, messages
            assert activated is None or {reason.category for reason in found.activated} == activated, messages
            assert [tool.id for tool in found.tools[:8]] == core
            assert len(found.cut) == (7 if messages == [LONG] else 0)


async def test_a_budget_of_eight_tools(make_selector: Made) -> None:
    menu = section("A budget of eight tools, and a way to ask for more")["menu"]
    names = ("mail", "calendar", "files", "contacts", "tasks")
    selector = make_selector(tools_in(dict.fromkeys(names, 10)), menu)
    all_five = "a mail with the file for my contact about the meeting and the task"
    for message, expected in (
        ("my inbox", [8]),
        ("a mail about the meeting", [4, 4]),
        (all_five, [2, 2, 2, 2]),
    ):
        found = await menu_for(selector, message, meta=selector.meta(answered=False))
        assert list(group_counts(found).values()) == expected
        assert found.names[0] == "request_more_tools"
    balanced = make_selector(tools_in(dict.fromkeys(names, 10)), {**menu, "strategy": "balanced"})
    assert list(group_counts(await menu_for(balanced, all_five)).values()) == [2, 2, 2, 1, 1]


async def test_more_tools_are_asked_for_and_the_switch_takes_it_away(make_selector: Made) -> None:
    menu = section("A budget of eight tools, and a way to ask for more")["menu"]
    names = ("mail", "calendar", "files", "contacts", "tasks")
    tools = tools_in(dict.fromkeys(names, 3))
    session = session_over(make_selector(tools, menu))
    offered = await session.offer("my inbox")
    schema = offered.openai_tools()[0]["function"]["parameters"]
    assert schema["properties"]["categories"]["items"]["enum"] == sorted(names)
    assert schema["required"] == ["categories", "reason"]
    assert "request_more_tools" in offered.prompt
    answer = await session.handle(name="request_more_tools", arguments={"categories": ["files"], "reason": "attach"})
    assert answer is not None
    assert answer.text == "Loaded 3 tools: app-files-do_000, app-files-do_001, app-files-do_002."
    off = await session_over(make_selector(tools, {**menu, "request_more_tools": False})).offer("my inbox")
    assert "request_more_tools" not in (*off.names, off.prompt)


def session_over(selector: Selector) -> MenuSession:
    async def of() -> Selector:
        return selector

    return MenuSession(of)


TOOLKITS = {"weather": 2, "calendar": 3, "git": 5, "chrome": 4, "music": 2, "notes": 2, "terminal": 2, "translate": 2}
MEANINGS = {"calendar": 0, "commit": 1, "version control": 1, "browser": 2, "music": 3, "rain": 4, "forecast": 4}
OUTDOORS = "If it rains tomorrow, plan an indoor workout and add it to my calendar"


class Meanings(EmbeddingsService):
    """Texts that share a meaning are alike."""

    def vector(self, text: str) -> list[float]:
        numbers = [0.0] * self.size
        numbers[5 + len(text) % 190] = 0.5  # what it says besides
        for words, place in MEANINGS.items():
            numbers[place] += words in text.lower()
        return numbers


def toolkit_catalog() -> Catalog:
    base = [make_tool(f"assistant.base.tool_{number}") for number in range(13)]
    kits = [make_tool(f"assistant.{name}.tool_{at}") for name, count in TOOLKITS.items() for at in range(count)]
    return Catalog([*base, *kits])


@pytest.mark.parametrize(
    ("message", "tools", "activated"),
    [
        (OUTDOORS, 18, ["weather(keyword:1.00)", "calendar(embed:"]),
        ("Commit my code", 18, ["git(keyword:1.00)"]),
        ("크롬을 열어줘", 17, ["chrome(keyword:1.00)"]),
        ("Good morning", 13, []),
    ],
)
async def test_base_tools_and_toolkits(make_selector: Made, message: str, tools: int, activated: Sequence[str]) -> None:
    service = Meanings(size=200)
    try:
        menu = await menu_for(toolkit_selector(make_selector, service), message)
    finally:
        service.close()
    assert menu.summary.startswith(f"{tools}/35 tools")
    told = [reason.short for reason in menu.activated]
    assert [one[: len(start)] for one, start in zip(told, activated, strict=True)] == list(activated)


def toolkit_selector(make_selector: Made, service: EmbeddingsService) -> Selector:
    page = section("Base tools and toolkits")
    search = page["search"]
    search["embeddings"] |= {"base_url": service.base_url}
    router = {"kind": page["menu"]["router"], "wait_s": 60}  # a slow machine needs long to import the client
    return make_selector(toolkit_catalog(), page["menu"] | {"router": router}, search)


async def test_a_dead_embeddings_server_leaves_keywords_working_and_says_so(make_selector: Made) -> None:
    service = Meanings(size=200)
    service.close()
    menu = await menu_for(toolkit_selector(make_selector, service), OUTDOORS)
    assert menu.summary == (
        "15/35 tools | activated: weather(keyword:1.00) | the embeddings service cannot be reached: by keywords alone"
    )


async def test_namespaces_retrieval_and_tools_on_request(make_selector: Made) -> None:
    title = "Namespaces, retrieval, and tools on request"
    names = ("mail", "calendar", "files", "contacts", "tasks", "music", "maps", "notes", "news")
    tools = tools_in(dict.fromkeys(names, 30))
    session = session_over(make_selector(tools, section(title)["menu"]))
    menu = await session.offer("mail number 3")
    assert len(menu.tools) == 15
    assert menu.names[:2] == ("request_more_tools", "request_tool")
    assert "app.mail.do_003" in {tool.id for tool in menu.tools}
    assert "- app.news (30 tools)" in menu.prompt
    answer = await session.handle(name="request_tool", arguments={"name_or_description": "app-news-do_029"})
    assert answer is not None
    assert answer.loaded == ("app.news.do_029",)
    routed = section(title, 1)["menu"]["router"]
    assert routed["kind"] == "model"
