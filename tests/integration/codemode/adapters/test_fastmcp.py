"""The FastMCP transform in a real server, with FastMCP's client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from codemode import Caller
from tests.integration.codemode.adapters.conftest import CLERK, MANAGER, REFUND

if TYPE_CHECKING:
    from tests.integration.codemode.adapters.conftest import Shop

pytest.importorskip("fastmcp", reason="fastmcp is not installed: make servers")

from fastmcp import Client, FastMCP
from fastmcp.client.elicitation import ElicitResult
from fastmcp.exceptions import ToolError

from codemode.adapters.fastmcp import CodeModeTransform


def server_of(shop: Shop, **options: Any) -> FastMCP:
    server = FastMCP("shop", transforms=[CodeModeTransform(shop.service, caller_of=lambda: CLERK, **options)])

    def own_tool() -> str:
        """A tool of the server itself."""
        return "own"

    server.tool(own_tool)
    return server


async def test_the_servers_tools_are_replaced_by_the_two(shop: Shop) -> None:
    async with Client(server_of(shop)) as client:
        assert [tool.name for tool in await client.list_tools()] == ["search", "execute"]
        found = await client.call_tool("search", {"queries": ["count the orders"]})
        assert "shop.count_orders(" in found.content[0].text
        counted = await client.call_tool("execute", {"code": "shop.count_orders()"})
        assert counted.content[0].text == "3"
        assert counted.structured_content["value"] == 3
        with pytest.raises(ToolError, match="own_tool"):
            await client.call_tool("own_tool", {})


async def test_a_failed_program_is_an_error(shop: Shop) -> None:
    async with Client(server_of(shop)) as client:
        failed = await client.call_tool("execute", {"code": "1 / 0"}, raise_on_error=False)
    assert failed.is_error
    assert "ZeroDivisionError" in failed.content[0].text


@pytest.mark.parametrize(("verdict", "said"), [(True, "order 7 is refunded"), (False, "rejected")])
async def test_a_pause_asks_the_user(shop: Shop, verdict: bool, said: str) -> None:
    asked: list[str] = []

    async def answers(message: str, kind: Any, params: Any, context: Any) -> Any:
        asked.append(message)
        return {"approve": verdict}

    async with Client(server_of(shop, approver=MANAGER), elicitation_handler=answers) as client:
        ended = await client.call_tool("execute", {"code": REFUND}, raise_on_error=False)
    assert said in ended.content[0].text
    assert "shop.refund(order=7)" in asked[0]
    assert shop.done == ["note asked", *(["refund 7"] if verdict else [])]


async def never(message: str, kind: Any, params: Any, context: Any) -> Any:
    raise AssertionError(message)


@pytest.mark.parametrize(
    "options", [{}, {"mode": "legacy", "elicitation_handler": never}], ids=["no handler", "legacy"]
)
async def test_a_client_that_cannot_be_asked_gets_what_the_program_waits_for(
    shop: Shop, options: dict[str, Any]
) -> None:
    async with Client(server_of(shop, approver=MANAGER), **options) as client:
        paused = await client.call_tool("execute", {"code": REFUND}, raise_on_error=False)
    assert "a person must decide on" in paused.content[0].text
    assert shop.done == ["note asked"]


async def test_a_cancelled_question_leaves_the_call_pending(shop: Shop) -> None:
    async def cancels(message: str, kind: Any, params: Any, context: Any) -> Any:
        return ElicitResult(action="cancel")

    async with Client(server_of(shop, approver=MANAGER), elicitation_handler=cancels) as client:
        paused = await client.call_tool("execute", {"code": REFUND}, raise_on_error=False)
    assert "a person must decide on" in paused.content[0].text
    assert shop.done == ["note asked"]


async def test_each_request_has_its_own_caller(shop: Shop) -> None:
    current = [CLERK]
    server = FastMCP("shop", transforms=[CodeModeTransform(shop.service, caller_of=lambda: current[0])])
    async with Client(server) as client:
        for name in ("ann", "ben"):
            current[0] = Caller(name)
            await client.call_tool("execute", {"code": "1"})
    owners = [stored.request.owner for stored in await shop.service.executions.list(MANAGER)]
    assert owners == ["ben", "ann"]
