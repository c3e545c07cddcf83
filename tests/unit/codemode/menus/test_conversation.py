"""Conversations in all the forms that there are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from openai.types.chat import ChatCompletionMessage

from codemode.menus.conversation import AskedCall, Conversation, Turn, read_call, read_turn

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "it"}'}}
LOOK = AskedCall("look", {"at": "it"}, "c1")
LOOKS = Turn("assistant", "", (LOOK,))
ITEM = {"type": "function_call", "name": "look", "arguments": '{"at": "it"}', "call_id": "c1"}
PARTS = [{"type": "text", "text": "a"}, {"type": "image_url"}, "b"]


@pytest.mark.parametrize(
    ("message", "turn"),
    [
        ({"role": "user", "content": "hi"}, Turn("human", "hi")),
        ({"role": "user", "content": PARTS}, Turn("human", "a\nb")),
        ({"role": "assistant", "content": None, "tool_calls": [CALL]}, LOOKS),
        ({"role": "tool", "content": "done", "tool_call_id": "c1"}, Turn("other", "done", answers="c1")),
        ({"role": "system", "content": "be good"}, Turn("other", "be good")),
        ({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}, Turn("human", "hi")),
        (ITEM, LOOKS),
        ({"type": "human", "content": "hi"}, Turn("human", "hi")),
        (SimpleNamespace(type="human", content="hi"), Turn("human", "hi")),
        (
            SimpleNamespace(type="ai", content="", tool_calls=[{"name": "look", "args": {"at": "it"}, "id": "c1"}]),
            LOOKS,
        ),
        (ChatCompletionMessage.model_validate({"role": "assistant", "tool_calls": [CALL]}), LOOKS),
        (("human", "hi"), Turn("human", "hi")),
        ("hi", Turn("human", "hi")),
    ],
)  # fmt: skip
def test_a_message_is_read(message: Any, turn: Turn) -> None:
    assert read_turn(message) == turn


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            "{",
            "the arguments are not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        ),
        ("[1]", "the arguments are not a JSON object"),
        pytest.param("[" * 200_000, "the arguments are nested too deeply", id="deep"),
        ("", ""),
        (None, ""),
    ],
)
def test_arguments_that_are_none_are_a_problem_of_the_call(arguments: Any, problem: str) -> None:
    assert read_call({"function": {"name": "look", "arguments": arguments}}) == AskedCall("look", {}, "", problem)


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def test_the_last_human_messages_of_the_last_messages_the_latest_first() -> None:
    history = [part for number in range(6) for part in (user(f"q{number}"), assistant(f"a{number}"))]
    conversation = Conversation.of("now", history)
    assert conversation.human(4, 8) == ["now", "q5", "q4", "q3"]
    assert conversation.human(4, 3) == ["now", "q5"]
    assert conversation.human(2, 8) == ["now", "q5"]
    assert conversation.human(4, 1) == ["now"]
    assert conversation.human(9, 99) == ["now", "q5", "q4", "q3", "q2", "q1", "q0"]


def test_the_message_is_not_counted_twice_and_what_its_answer_adds_moves_no_window() -> None:
    before = [user("first"), assistant("yes"), user("second")]
    after = [{"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "content": "x"}] * 5
    alone = Conversation.of("second", before[:2])
    under_way = Conversation.of("second", [*before, *after])
    assert alone.human(4, 8) == under_way.human(4, 8) == ["second", "first"]
    assert under_way.calls == (LOOK,) * 5
    assert Conversation.of("", before).human(4, 8) == ["second", "first"]
