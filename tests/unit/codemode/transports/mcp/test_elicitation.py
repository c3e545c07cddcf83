"""Which call a server's question belongs to, and which answer it gets."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp import MCPError
from mcp_types import INVALID_PARAMS, ElicitRequestFormParams, ElicitRequestURLParams, ElicitResult, ErrorData

from codemode.transports.mcp.elicitation import Exchanges, question_in
from codemode.transports.questions import question_key

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"project": {"type": "string"}}}
FORM = ElicitRequestFormParams(message="Which project?", requested_schema=SCHEMA)
ASKS = {"mode": "form", "message": "Which project?", "requestedSchema": SCHEMA}
ANSWERS = {question_key(ASKS): {"action": "accept", "content": {"project": "roof"}}}


async def test_an_answered_question_gets_its_answer_and_another_one_does_not() -> None:
    exchanges = Exchanges()
    async with exchanges.under_way(ANSWERS) as call:
        assert await exchanges.asked(None, FORM) == ElicitResult(action="accept", content={"project": "roof"})
        assert call.asks is None
        other = await exchanges.asked(None, FORM.model_copy(update={"message": "Which wall?"}))
    assert isinstance(other, ErrorData)
    assert call.asks == {**ASKS, "message": "Which wall?"}
    assert question_in(MCPError.from_error_data(other)) == call.asks


async def test_a_link_is_kept_as_a_link() -> None:
    exchanges = Exchanges()
    async with exchanges.under_way({}) as call:
        await exchanges.asked(
            None, ElicitRequestURLParams(message="Log in", url="https://example.org", elicitation_id="1")
        )
    assert call.asks == {"mode": "url", "message": "Log in", "url": "https://example.org"}


async def test_a_question_beside_several_calls_is_given_to_none_of_them() -> None:
    exchanges = Exchanges()
    async with exchanges.under_way({}) as first, exchanges.under_way({}) as second:
        answer = await exchanges.asked(None, FORM)
    assert "make this call alone" in answer.message
    assert first.asks is second.asks is None


async def test_a_call_with_answers_is_alone() -> None:
    exchanges = Exchanges()
    order: list[str] = []
    held, entered = asyncio.Event(), asyncio.Event()

    async def call(name: str, answers: dict[str, Any]) -> None:
        async with exchanges.under_way(answers):
            order.append(f"{name} begins")
            entered.set()
            await held.wait()
            order.append(f"{name} ends")

    first = asyncio.create_task(call("plain", {}))
    await entered.wait()
    answered = asyncio.create_task(call("answered", ANSWERS))
    await asyncio.sleep(0)
    entered.clear()
    held.set()
    await asyncio.gather(first, answered)
    assert order == ["plain begins", "plain ends", "answered begins", "answered ends"]


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "vscode://x.y/z",
        "https:///no-host",
        "//example.org/x",
        "https://exa mple.org",
        "https://example.org/\u202egro.live",
        "",
    ],
)
async def test_a_question_that_opens_anything_but_a_web_page_is_refused(url: str) -> None:
    exchanges = Exchanges()
    params = ElicitRequestURLParams(message="Log in", url=url, elicitation_id="1")
    async with exchanges.under_way({}) as exchange:
        answer = await exchanges.asked(None, params)
    assert (answer.code, exchange.asks) == (INVALID_PARAMS, None)
    assert answer.message == "a question may send a person to a page at https:// or http:// only"


async def test_a_question_with_a_web_page_waits_for_a_person() -> None:
    exchanges = Exchanges()
    params = ElicitRequestURLParams(message="Log in", url="https://example.org/x?y=1", elicitation_id="1")
    async with exchanges.under_way({}) as exchange:
        await exchanges.asked(None, params)
    assert exchange.asks == {"mode": "url", "message": "Log in", "url": "https://example.org/x?y=1"}
