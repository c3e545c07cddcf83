"""`describe` of namespaces, groups and tools within a budget, and `describe` and `search` in a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from codemode import CodeMode, ToolNotFound
from codemode.catalog import tokens
from codemode.catalog.catalog import Catalog
from codemode.catalog.toolkit import Toolkit
from codemode.gateway.caller import Caller
from codemode.search.describe import describe
from codemode.testing import make_tool

if TYPE_CHECKING:
    from tests.conftest import Gym

CATALOG = Catalog(
    [
        *(make_tool(f"shop.orders.order_{number}", summary="Do something with orders") for number in range(60)),
        make_tool("shop.items.find", {"name": {"type": "string"}}, required=("name",), summary="Find an item"),
        make_tool("mail.send", summary="Send mail"),
    ]
)


def text(name: str = "", budget_tokens: int = 400) -> str:
    return describe(name, CATALOG, budget_tokens=budget_tokens, introductions={"shop": "Prices are in euro.\n"})


def test_without_a_name_the_namespaces_are_listed() -> None:
    assert text() == "mail  # 1 tools\nshop  # 61 tools"


def test_a_tool_is_described_by_an_alias_too() -> None:
    tool = make_tool("mail.send", summary="Send mail", aliases=("send_mail",))
    described = [
        describe(name, Catalog([tool]), budget_tokens=400, introductions={}) for name in ("mail.send", "send_mail")
    ]
    assert described[0].startswith("mail.send()")
    assert described[1] == described[0]


def test_a_namespace_has_instructions_and_groups() -> None:
    assert text("shop") == "Prices are in euro.\nshop.items  # 1 tools\nshop.orders  # 60 tools"
    assert text("mail") == "mail.send() -> Any  # Send mail"


def test_a_group_lists_the_tools_that_fit() -> None:
    described = text("shop.orders")
    assert described.startswith("shop.orders.order_0() -> Any")
    assert described.endswith("more: describe a group, or search")
    assert tokens.estimate(described) <= 400


def test_a_tool_is_described_in_full() -> None:
    assert text("shop.items.find").startswith("shop.items.find(*, name: str) -> Any")


def test_an_unknown_name_is_rejected_with_the_nearest() -> None:
    with pytest.raises(ToolNotFound, match=r"shop\.items\.find"):
        text("shop.item.find")


def test_a_toolkit_begins_with_its_instructions_and_examples() -> None:
    tool = make_tool("shop.items.find", source="shop")
    examples = ("shop.items.find(name='x')",)
    toolkit = Toolkit("Items", "shop", frozenset({tool.key}), instructions="Names are exact.", examples=examples)
    described = describe("shop.items", Catalog([tool], [toolkit]), budget_tokens=400, introductions={})
    assert described.splitlines()[:2] == ["Names are exact.", "example: shop.items.find(name='x')"]


async def test_a_program_searches_the_view_of_its_caller(gym: Gym) -> None:
    rules = [{"tools": "gym.memberships.*", "roles": ["guest"], "decision": "deny"}]
    settings = gym.settings(policy={"roles": ["guest"], "rules": rules})
    code = """
answers = []
asks = [lambda: describe("gym.memberships"), lambda: search("freeze a membership"), lambda: search(query="x")]
for ask in [*asks, lambda: describe(5), lambda: search({"a": 1}), lambda: search("x", detail="all")]:
    try:
        answers.append(ask())
    except Exception as error:
        answers.append(f"{type(error).__name__}: {error}")
[*answers, "gym" in await describe()]
"""
    async with CodeMode.from_settings(settings) as service:
        described, searched, *mistakes, whole = (await service.execute(code)).value
        assert "gym.memberships.freeze_membership(*, clientId: int" in described
        assert searched.startswith("gym.memberships.freeze_membership(")
        assert mistakes[0] == ("ToolError: search(): queries: required argument is missing; query: unknown argument")
        assert mistakes[1] == "ToolError: describe(): name: Input should be a valid string"
        assert mistakes[2] == "ToolError: search(): queries.0: Input should be a valid string"
        assert mistakes[3] == "ToolError: search(): detail: Input should be 'auto' or 'full', got 'all'"
        assert whole is True
        guest = await service.execute(code, caller=Caller("guest", "guest"))
        assert guest.calls == ()
        described, searched, *_ = guest.value
        assert described.startswith("ToolError: there is no tool 'gym.memberships'")
        assert "gym.memberships." not in searched


_FIELDS: dict[str, Any] = {name: {"type": "array", "items": {"type": "object"}} for name in "abcd"}
_ZONE = {"title": "Zone", "type": "object", "properties": _FIELDS}
_ITEM = {"title": "Item", "type": "object", "properties": {**_FIELDS, "zone": _ZONE}}
_ZONES = [f"Region/City{number}" for number in range(200)]
_ADD = make_tool(
    "shop.orders.add", {"item": _ITEM, "zone": {"enum": _ZONES, "description": "Where. " * 60}}, summary="Add an order"
)


def _described(name: str, budget_tokens: int = 1500) -> str:
    return describe(name, Catalog([_ADD]), budget_tokens=budget_tokens, introductions={})


def test_one_parameter_is_described_with_all_its_values() -> None:
    described = _described("shop.orders.add.zone", 4000)
    assert described.startswith("zone: Literal[")
    assert "Region/City199" in described
    assert described.endswith("Where.")


def test_one_type_is_described_however_deep_it_is() -> None:
    assert _described("shop.orders.add.Zone").startswith('Zone = {"a": list[dict]')
    assert _described("Zone") == _described("shop.orders.add.Zone")
    assert _described("shop.orders.add.Item").splitlines()[1] == _described("shop.orders.add.Zone")


def test_a_part_that_is_none_is_rejected_with_the_nearest() -> None:
    with pytest.raises(
        ToolNotFound, match=r"there is no tool 'shop\.orders\.add\.Itm'; nearest: shop\.orders\.add\.item, shop"
    ):
        _described("shop.orders.add.Itm")
    with pytest.raises(ToolNotFound, match="there is no tool 'Nothing'"):
        _described("Nothing")


def test_what_a_full_description_leaves_out_is_named_with_the_way_to_ask() -> None:
    assert "describe('shop.orders.add.Zone') shows one" in _described("shop.orders.add", 160)
