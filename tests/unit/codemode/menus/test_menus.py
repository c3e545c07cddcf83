"""Menus of a service: roles, mistakes in the settings, calls of what is not offered, files of their own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from codemode.errors import ConfigurationError
from codemode.gateway.caller import Caller
from codemode.service import CodeMode
from codemode.settings import Settings, load_settings

if TYPE_CHECKING:
    from pathlib import Path


def find_order(number: int) -> str:
    """Find an order."""
    return f"order {number}"


def cancel_order(number: int) -> str:
    """Cancel an order."""
    return f"cancelled {number}"


def print_invoice(number: int) -> str:
    """Print an invoice."""
    return f"invoice {number}"


SHOP = {"orders": [find_order, cancel_order], "invoices": [print_invoice]}
MENU: dict[str, Any] = {"categories": {"orders": {"keywords": ["order"]}, "invoices": {"keywords": ["invoice"]}}}
POLICY = {"roles": ["clerk", "guest"], "rules": [{"tools": "*.cancel_*", "roles": "guest", "decision": "deny"}]}


def settings(tmp_path: Path, menu: dict[str, Any]) -> Settings:
    folders = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"}
    return Settings.model_validate({"menu": menu, "policy": POLICY, **folders})


def service(tmp_path: Path, menu: dict[str, Any]) -> CodeMode:
    return CodeMode.from_settings(settings(tmp_path, menu), functions={"shop": SHOP})


async def test_a_role_has_the_menu_of_its_view_and_what_the_settings_say_of_it(tmp_path: Path) -> None:
    roles = {"clerk": {"core": ["print_invoice"], "categories": ["orders"], "defaults": ["orders"], "cap": 2}}
    async with service(tmp_path, {**MENU, "roles": roles}) as shop:
        everyone = await shop.select_menu("an order and an invoice")
        assert everyone.summary == "3/3 tools | activated: orders(keyword:1.00), invoices(keyword:1.00)"
        guest = await shop.select_menu("an order", caller=Caller("g", "guest"))
        assert guest.names == ("shop-orders-find_order",)
        clerk = await shop.select_menu("hello", caller=Caller("c", "clerk"))
        assert clerk.names == ("shop-invoices-print_invoice", "shop-orders-cancel_order")
        assert clerk.summary == "2/3 tools | nothing matched: defaults | cut: shop-orders-find_order"
        asked = await (await shop.menu_session(Caller("g", "guest"))).handle(
            name="request_tool", arguments={"name_or_description": "shop.orders.cancel_order"}
        )
        assert asked is not None
        assert "shop.orders.cancel_order" not in asked.loaded


async def test_a_call_of_an_earlier_turn_still_runs_whatever_is_offered_also_after_a_restart(tmp_path: Path) -> None:
    for _ in range(2):  # each time another service
        async with service(tmp_path, MENU) as shop:
            session = await shop.menu_session()
            menu = await session.offer("print the invoice", [{"role": "user", "content": "thanks"}])
            assert menu.names[2:] == ("shop-invoices-print_invoice",)
            tool = session.tool("shop-orders-find_order")
            assert tool is not None
            assert (await shop.execute(f"{tool.id}(number=7)")).value == "order 7"


async def test_what_the_settings_name_in_vain_is_a_mistake(tmp_path: Path) -> None:
    wrong = {**MENU, "core": ["find_ordre"], "defaults": ["order"]}
    with pytest.raises(ConfigurationError) as raised:
        async with service(tmp_path, wrong):
            pass
    assert str(raised.value).splitlines() == [
        "menu.core: there is no tool 'find_ordre'; did you mean 'shop.orders.find_order'?",
        "menu.defaults: there is no category 'order'; did you mean 'orders'?",
    ]


async def test_menus_change_with_a_reload(tmp_path: Path) -> None:
    async with service(tmp_path, MENU) as shop:
        assert len(await shop.select_menu("hello")) == 0
        await shop.reload(settings(tmp_path, {**MENU, "defaults": ["orders"]}))
        assert len(await shop.select_menu("hello")) == 2


KITS = [
    {"name": "base", "tier": "base", "tasks": ["now"], "instructions": "Times are in UTC."},
    {"name": "weather", "keywords": ["rain", "날씨"], "tasks": ["forecast"], "examples": ["will it rain in Seoul?"]},
    {"name": "mail", "keywords": ["letter"], "tasks": ["send_mail"], "instructions": "Sign with the user's name."},
]
CALLABLES = """
def now(): return "12:00"
def forecast(): return "rain"
def send_mail(): return "sent"
"""


async def test_toolkits_of_a_file_bring_keywords_base_tools_and_skills(tmp_path: Path) -> None:
    for kit in KITS:
        tasks = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in kit["tasks"]]
        (tmp_path / f"{kit['name']}.json").write_text(json.dumps(kit | {"tasks": tasks}), encoding="utf-8")
    (tmp_path / "tools.py").write_text(CALLABLES, encoding="utf-8")
    (tmp_path / "codemode.yaml").write_text(
        "sources:\n  app: {location: ., bind: tools.py, kind: toolkit, instructions: An assistant.}\n"
        f"state_folder: {tmp_path / 'state'}\ncache_folder: {tmp_path / 'cache'}\n",
        encoding="utf-8",
    )
    async with CodeMode.from_config(tmp_path / "codemode.yaml") as app:
        session = await app.menu_session()
        menu = await session.offer("오늘 날씨 어때?")
        assert menu.summary == "2/3 tools | activated: weather(keyword:1.00)"
        assert menu.names[2:] == ("app-base-now", "app-weather-forecast")
        assert menu.prompt.split("\n\n")[1:] == [
            "app: An assistant.",
            "base: Times are in UTC.",
            "weather, example: will it rain in Seoul?",
        ]
        answer = await session.handle(name="request_more_tools", arguments={"categories": ["mail"], "reason": "tell"})
        assert answer is not None
        assert answer.skills == "mail: Sign with the user's name."
        assert "mail: Sign with the user's name." in (await session.offer("오늘 날씨 어때?")).prompt
        ended = await app.execute("app.mail.send_mail()")
        assert ended.value == "sent", ended.failure


def test_a_menu_may_stand_in_a_file_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "codemode.yaml"
    file.write_text("sources: {shop: {location: shop.json}}\nmenu: menu.yaml\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"menu: cannot read .*menu.yaml: No such file"):
        load_settings(file)
    (tmp_path / "menu.yaml").write_text("cap: 20\nmatch: word\n", encoding="utf-8")
    assert (load_settings(file).menu.cap, load_settings(file).menu.match) == (20, "word")
    (tmp_path / "menu.yaml").write_text("cap: 129\nmatsch: word\n", encoding="utf-8")
    with pytest.raises(ConfigurationError) as raised:
        load_settings(file)
    assert "menu.cap: Input should be less than or equal to 128" in str(raised.value)
    assert "menu.matsch: unknown key; did you mean 'match'?" in str(raised.value)


def test_short_forms() -> None:
    menu = Settings.model_validate({"menu": {"router": "lexical", "retrieval": 5}}).menu
    assert (menu.router.kind, menu.retrieval.k) == ("lexical", 5)
    numbered = Settings.model_validate({"menu": {"categories": {"rooms": {"keywords": ["room", 101]}}}}).menu
    assert numbered.categories["rooms"].keywords == {"room": 1.0, "101": 1.0}
