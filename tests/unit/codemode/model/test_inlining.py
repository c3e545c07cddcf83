"""The signatures that a conversation is given: of its caller's view, the same for the whole conversation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import codemode
from codemode import Caller, CodeMode
from codemode.errors import ConfigurationError
from codemode.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

ANN, BEN = Caller("ann"), Caller("ben")
GUEST = Caller("guest", "guest")


@codemode.tool(effect="read")
def find(name: str) -> Any:
    """Find an order."""
    return {"number": 7, "customer": name}


@codemode.tool(effect="write")
def refund(order: int) -> int:
    """Refund an order."""
    return order


def many() -> dict[str, Any]:
    def tool(number: int) -> Any:
        def act() -> int:
            return number

        act.__name__ = f"step_{number:03}"
        return codemode.tool(effect="read")(act)

    return {"shop": [find, refund], "factory": [tool(number) for number in range(200)]}


def service(folder: Path, functions: dict[str, Any], **settings: Any) -> CodeMode:
    made = Settings.model_validate({"state_folder": folder / "state", "cache_folder": folder / "cache", **settings})
    return CodeMode.from_settings(made, functions=functions)


async def about_execute(cm: CodeMode, caller: Caller = ANN) -> str:
    (text,) = [
        one["function"]["description"] for one in await cm.definitions(caller) if one["function"]["name"] == "execute"
    ]
    return str(text)


async def test_the_tools_of_a_small_catalog_are_called_without_a_search(tmp_path: Path) -> None:
    async with service(tmp_path, {"shop": [find, refund]}) as cm:
        text = await about_execute(cm)
        assert "All tools:\nshop.find(*, name: str) -> Any" in text
        assert "shop.refund(*, order: int) -> int" in text


async def test_nothing_is_listed_that_the_caller_may_not_see(tmp_path: Path) -> None:
    policy = {"roles": ["guest"], "rules": [{"tools": "shop.refund", "roles": "guest", "decision": "deny"}]}
    async with service(tmp_path, {"shop": [find, refund]}, policy=policy) as cm:
        assert "refund" in await about_execute(cm, ANN)
        assert "refund" not in json.dumps(await cm.definitions(GUEST))


async def test_names_and_groups_of_the_settings_are_listed_if_not_all_tools_fit(tmp_path: Path) -> None:
    definitions = {"inline": ["shop", "factory.step_042"]}
    async with service(tmp_path, many(), definitions=definitions) as cm:
        text = await about_execute(cm)
        listed = [line.partition("(")[0] for line in text.partition("Some tools:\n")[2].splitlines()]
        assert listed == ["factory.step_042", "shop.find", "shop.refund"]


async def test_a_name_of_the_settings_that_is_no_tool_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"definitions\.inline.*'shop\.refnd'; did you mean 'shop\.refund'"):
        await service(tmp_path, many(), definitions={"inline": ["shop.refnd"]}).start()


async def test_a_role_gets_the_tools_that_it_used_most_in_its_next_conversations(tmp_path: Path) -> None:
    async with service(tmp_path, many()) as cm:
        tools = cm.tools(ANN, "chat")
        before = await tools.definitions()
        assert "Some tools" not in json.dumps(before)
        for _ in range(2):
            await tools.call("execute", {"code": "[factory.step_007() for _ in range(9)], shop.find(name='x')"})
        await tools.call("execute", {"code": "factory.step_008()"})
        assert await tools.definitions() == before
        text = await about_execute(cm, BEN)
        assert "factory.step_007()" in text
        assert "shop.find(" in text
        assert "factory.step_008" not in text
        assert "Some tools" not in await about_execute(cm, GUEST)
    async with service(tmp_path, many()) as again:
        assert await about_execute(again, BEN) == text


async def test_a_learned_shape_is_listed_in_the_next_conversation_and_for_its_caller_alone(tmp_path: Path) -> None:
    async with service(tmp_path, {"shop": [find, refund]}) as cm:
        tools = cm.tools(ANN, "chat")
        before = await tools.definitions()
        await tools.call("execute", {"code": "shop.find(name='Ann')"})
        assert await tools.definitions() == before
        assert '-> {"number": int, "customer": str}' in await about_execute(cm, ANN)
        assert "customer" not in await about_execute(cm, BEN)


async def test_conventions_are_given_once_in_the_definition_or_with_the_first_hits(tmp_path: Path) -> None:
    async with service(tmp_path, {"shop": [find, refund]}) as cm:
        cm.discovery.introductions = {"shop": "Amounts in cents."}
        tools = cm.tools(ANN, "chat")
        assert "Amounts in cents." in (await tools.call("search", {"queries": ["refund"]})).text
        offered = cm.tools(ANN, "other")
        assert "# shop: Amounts in cents." in json.dumps(await offered.definitions())
        assert "cents" not in (await offered.call("search", {"queries": ["refund"]})).text


async def test_conventions_belong_to_a_conversation_and_come_again_in_another(tmp_path: Path) -> None:
    async with service(tmp_path, {"shop": [find]}, definitions={"inline_tokens": 0}) as cm:
        cm.discovery.introductions = {"shop": "Amounts in cents."}

        async def said(conversation: str) -> bool:
            tools = cm.tools(ANN, conversation)  # made anew with each request
            return "Amounts in cents." in (await tools.call("search", {"queries": ["order"]})).text

        assert [await said(one) for one in ("a", "a", "b", "a", "b", "", "")] == [
            True, False, True, False, False, True, True,
        ]  # fmt: skip


async def test_the_definitions_of_a_named_conversation_stay_the_same(tmp_path: Path) -> None:
    async with service(tmp_path, {"shop": [find]}) as cm:
        before = await cm.tools(ANN, "chat").definitions()
        await cm.tools(ANN, "chat").call("execute", {"code": "shop.find(name='Ann')"})
        assert await cm.tools(ANN, "chat").definitions() == before
        assert await cm.tools(ANN, "other").definitions() != before


async def test_without_tokens_the_definition_lists_nothing(tmp_path: Path) -> None:
    async with service(tmp_path, {"shop": [find]}, definitions={"inline_tokens": 0}) as cm:
        assert "shop" not in await about_execute(cm)
