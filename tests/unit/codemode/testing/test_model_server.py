from __future__ import annotations

from typing import TYPE_CHECKING, Any

import openai
import pytest

from codemode.testing.model_server import ModelRequest, ModelServer, Reply

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

USER = {"role": "user", "content": "hello"}
CALL = {"id": "call_a", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def function(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}


@pytest.fixture
async def client() -> AsyncIterator[openai.AsyncOpenAI]:
    async with (
        ModelServer(lambda seen: Reply(f"you said {seen.message}")) as server,
        openai.AsyncOpenAI(base_url=server.base_url, api_key=server.key, max_retries=0) as client,
    ):
        yield client


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (
            {"messages": [USER], "tools": [function(f"f{number}") for number in range(129)]},
            r"Invalid 'tools': array too long\. Expected an array with maximum length 128, "
            r"but got an array with length 129 instead\.",
        ),
        (
            {"messages": [USER], "tools": [function("shop.find")]},
            r"Invalid 'tools\[0\]\.function\.name': string does not",
        ),
        ({"messages": [USER], "tools": [function("f" * 65)]}, r"maximum length 64, but got a string with length 65"),
        ({"messages": [USER], "tools": [function("f"), function("f")]}, r"given to more than one function"),
        ({"messages": [USER], "tools": []}, r"Invalid 'tools': empty array"),
        ({"messages": []}, r"Invalid 'messages': empty array"),
        ({"messages": [USER], "tool_choice": "auto"}, r"'tool_choice' is only allowed when 'tools' are specified"),
        (
            {
                "messages": [USER],
                "tools": [function("f")],
                "tool_choice": {"type": "function", "function": {"name": "g"}},
            },
            r"Tool choice 'g' not found",
        ),
        (
            {"messages": [USER, {"role": "assistant", "tool_calls": [CALL]}, USER]},
            r"must be followed by tool messages responding to each 'tool_call_id'\..* call_a",
        ),
        ({"messages": [USER, {"role": "tool", "tool_call_id": "call_b", "content": ""}]}, r"must be a response to"),
    ],
)
async def test_what_the_real_service_refuses_is_refused(
    client: openai.AsyncOpenAI, request_: dict[str, Any], said: str
) -> None:
    with pytest.raises(openai.BadRequestError, match=said):
        await client.chat.completions.create(model="m", **request_)


async def test_what_it_accepts_is_answered(client: openai.AsyncOpenAI) -> None:
    messages: Any = [
        USER,
        {"role": "assistant", "tool_calls": [CALL]},
        {**USER, "role": "tool", "tool_call_id": "call_a"},
    ]
    tools: Any = [function("f" * 64)] + [function(f"f{number}") for number in range(127)]
    answer = await client.chat.completions.create(model="m", messages=messages, tools=tools)
    assert answer.choices[0].message.content == "you said hello"


async def test_an_answer_to_no_call_is_refused_by_responses_too(client: openai.AsyncOpenAI) -> None:
    output: Any = [{"type": "function_call_output", "call_id": "call_a", "output": "1"}]
    with pytest.raises(openai.BadRequestError, match="No tool call found for function call output with call_id call_a"):
        await client.responses.create(model="m", input=output)
    call: Any = [{"type": "function_call", "call_id": "call_a", "name": "f", "arguments": "{}"}]
    with pytest.raises(openai.BadRequestError, match="No tool output found for function call call_a"):
        await client.responses.create(model="m", input=call)


async def test_another_key_is_refused() -> None:
    async with ModelServer(lambda _: Reply("x")) as server:
        async with openai.AsyncOpenAI(base_url=server.base_url, api_key="wrong", max_retries=0) as client:
            with pytest.raises(openai.AuthenticationError):
                await client.responses.create(model="m", input="hello")
        assert server.seen == []


async def test_no_tool_is_called_against_the_choice() -> None:
    async with (
        ModelServer(lambda _: Reply("text", calls=[("f", {}), ("f", {"a": 1})])) as server,
        openai.AsyncOpenAI(base_url=server.base_url, api_key=server.key, max_retries=0) as client,
    ):
        given: Any = {"model": "m", "messages": [USER], "tools": [function("f")]}
        none = await client.chat.completions.create(**given, tool_choice="none")
        assert none.choices[0].message.tool_calls is None
        one = await client.chat.completions.create(**given, parallel_tool_calls=False)
        assert len(one.choices[0].message.tool_calls or ()) == 1


async def test_what_a_script_raises_comes_out() -> None:
    def script(seen: ModelRequest) -> Reply:
        raise LookupError(seen.message)

    with pytest.raises(LookupError, match="hello"):
        async with (
            ModelServer(script) as server,
            openai.AsyncOpenAI(base_url=server.base_url, api_key=server.key, max_retries=0) as client,
        ):
            with pytest.raises(openai.InternalServerError, match="the script raised LookupError"):
                await client.responses.create(model="m", input="hello")
