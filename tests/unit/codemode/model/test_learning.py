"""Fields of undocumented results, learned on the operator's request from reads alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import codemode
from codemode import Caller, CodeMode
from codemode.errors import ConfigurationError
from codemode.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

ANN = Caller("ann")


def functions(made: list[str]) -> list[Any]:
    @codemode.tool(effect="read")
    def list_orders(limit: int = 100) -> list[Any]:
        """List orders."""
        made.append(f"list_orders {limit}")
        return [{"number": 7, "state": "open"}]

    @codemode.tool(effect="read", examples=["shop.find_order(number=7)"])
    def find_order(number: int) -> Any:
        """Find an order."""
        made.append(f"find_order {number}")
        return {"number": number, "customer": "Ann"}

    @codemode.tool(effect="read")
    def find_client(name: str) -> Any:
        """Find a client."""
        made.append("find_client")

    @codemode.tool(effect="read")
    def read_secrets() -> Any:
        """Read what a person has to allow."""
        made.append("read_secrets")

    @codemode.tool(effect="read")
    def count_orders() -> int:
        """Count orders."""
        made.append("count_orders")
        return 1

    @codemode.tool(effect="write")
    def close_shop() -> Any:
        """Close the shop."""
        made.append("close_shop")
        return {"closed": True}

    return [list_orders, find_order, find_client, read_secrets, count_orders, close_shop]


def service(folder: Path, made: list[str]) -> CodeMode:
    rules = [{"tools": "shop.read_secrets", "decision": "ask"}]
    settings = {"state_folder": folder / "state", "cache_folder": folder / "cache", "policy": {"rules": rules}}
    return CodeMode.from_settings(Settings.model_validate(settings), functions={"shop": functions(made)})


async def test_only_undocumented_reads_are_called_and_every_caller_sees_their_fields(tmp_path: Path) -> None:
    made: list[str] = []
    async with service(tmp_path, made) as cm:
        learned = {one.tool: one.signature or one.problem for one in await cm.discovery.learn("shop")}
        assert sorted(one.partition(" ")[0] for one in made) == ["find_order", "list_orders"]
        assert learned["shop.find_client"] == "it needs arguments, and no example is known"
        assert '-> {"number": int, "customer": str}' in learned["shop.find_order"]
        assert set(learned) == {"shop.list_orders", "shop.find_order", "shop.find_client"}
        answer = await cm.search("find order", caller=ANN)
        assert '-> {"number": int, "customer": str}' in answer.text
    async with service(tmp_path, made) as again:
        assert '-> list[{"number": int, "state": str}]' in (await again.search("list orders", caller=ANN)).text


async def test_the_shape_of_the_first_answer_is_in_the_next_search_of_the_conversation(tmp_path: Path) -> None:
    async with service(tmp_path, []) as cm:
        tools = cm.tools(ANN, "chat")
        assert "-> Any" in (await tools.call("search", {"queries": ["find order"]})).text
        await tools.call("execute", {"code": "shop.find_order(number=7)"})
        assert '-> {"number": int, "customer": str}' in (await tools.call("search", {"queries": ["find order"]})).text


async def test_another_source_is_not_learned(tmp_path: Path) -> None:
    async with service(tmp_path, []) as cm:
        with pytest.raises(ConfigurationError, match="there is no source 'shp' with tools; did you mean 'shop'"):
            await cm.discovery.learn("shp")
