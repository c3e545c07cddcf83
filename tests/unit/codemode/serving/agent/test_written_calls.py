from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest

from codemode.model.json_arguments import Malformed, read_text
from codemode.serving.agent.figures import without_source
from codemode.serving.agent.transcript import ModelAnswer
from codemode.serving.agent.written_calls import calls_of, programs, with_calls, written_calls

NAMES = ("search", "execute", "shop-find_order")

#: Characters of a long text. What took the square of it would take days.
LONG = 1_000_000
SEARCH = {"name": "search", "arguments": {"queries": ["list clients"]}}
SEARCHED = [("search", {"queries": ["list clients"]})]


def read(text: str, names: tuple[str, ...] = NAMES) -> list[tuple[str, Any]]:
    calls = with_calls(ModelAnswer(text), written_calls(text, names)).calls
    assert len({call.id for call in calls}) == len(calls)
    return [(call.name, json.loads(call.arguments, strict=False)) for call in calls]


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{json.dumps(SEARCH, indent=2)}\n```",
        f"I will search.\n\n```json\n{json.dumps(SEARCH)}\n```\nThen I go on.",
        f"```\n{json.dumps(SEARCH)}\n```",
        f"```json\n{json.dumps(SEARCH)}",
        json.dumps(SEARCH),
        f"To do this I need the tools.\n{json.dumps(SEARCH)}\n",
        json.dumps([SEARCH]),
        f"<tool_call>\n{json.dumps(SEARCH)}\n</tool_call>",
        f"<tool_call>{json.dumps(SEARCH)}",
        f"```xml\n<tool_call>\n{json.dumps(SEARCH)}\n</tool_call>\n```",
        f"<tools>\n{json.dumps(SEARCH)}\n</tools>",
        f"<function_call>{json.dumps(SEARCH)}</function_call>",
        f"[TOOL_CALLS] {json.dumps([SEARCH])}",
        f"[TOOL_CALLS]search[ARGS]{json.dumps(SEARCH['arguments'])}",
        f"<function=search>{json.dumps(SEARCH['arguments'])}</function>",
        '<|python_tag|>{"name": "search", "parameters": {"queries": ["list clients"]}}',
        'search({"queries": ["list clients"]})',
        '```json\nsearch({"queries": ["list clients"]})\n```',
        '```search\n{"queries": ["list clients"]}\n```',
        '```call search\n{"queries": ["list clients"]}\n```',
        'Thought: look.\nAction: search\nAction Input: {"queries": ["list clients"]}\nObservation: none',
        '{"tool": "search", "args": {"queries": ["list clients"]}}',
        '{"name": "functions.search", "arguments": {"queries": ["list clients"]}}',
        '{"name": "search", "arguments": "{\\"queries\\": [\\"list clients\\"]}"}',
        '{"name": "search", "queries": ["list clients"]}',
        '{"search": {"queries": ["list clients"]}}',
        '{"queries": ["list clients"]}',
        f'{{"type": "function", "function": {json.dumps(SEARCH)}}}',
        f'{{"tool_calls": [{{"id": "1", "type": "function", "function": {json.dumps(SEARCH)}}}]}}',
    ],
)
def test_a_call_is_read_from_text(text: str) -> None:
    assert read(text) == SEARCHED


def test_several_blocks_are_several_calls() -> None:
    execute = {"name": "execute", "arguments": {"code": "shop.find_order(number=3)"}}
    text = "\n".join(f"{number}.\n```json\n{json.dumps(one)}\n```" for number, one in enumerate((SEARCH, execute)))
    assert read(text) == [*SEARCHED, ("execute", {"code": "shop.find_order(number=3)"})]


@pytest.mark.parametrize("between", ["\n", ",\n", "\n\n", " "])
def test_several_objects_in_one_block_are_several_calls(between: str) -> None:
    assert read(f"```json\n{json.dumps(SEARCH)}{between}{json.dumps(SEARCH)}\n```") == SEARCHED * 2


@pytest.mark.parametrize("quotes", ['"""', "'''", "`"])
def test_python_strings_in_json_are_understood(quotes: str) -> None:
    code = 'order = shop.find_order(number=3)\nprint(order["total"])\n'
    text = f'```json\n{{"name": "execute", "arguments": {{"code": {quotes}{code}{quotes}}}}}\n```'
    assert read(text) == [("execute", {"code": code})]


def test_line_breaks_in_strings_are_understood() -> None:
    assert read('{"name": "execute", "arguments": {"code": "a = 1\na"}}') == [("execute", {"code": "a = 1\na"})]


def test_a_dotted_name_is_matched_with_the_function() -> None:
    text = '{"name": "shop.find_order", "arguments": {"number": 3}}'
    assert read(text) == [("shop-find_order", {"number": 3})]


def test_a_call_with_broken_arguments_stays_a_call() -> None:
    (call,) = written_calls('```json\n{"name": "execute", "arguments": {"code": "print("a")"}}\n```', NAMES)
    assert (call.name, call.arguments) == ("execute", '{"code": "print("a")"}')


@pytest.mark.parametrize(
    "text",
    [
        "There are 18 orders.",
        "",
        '```json\n{"name": "Ann", "arguments": {"age": 3}}\n```',
        '```json\n{"name": "send_mail", "arguments": {"to": "ann@example.com"}}\n```',
        '{"total": 18}',
        '{"code": "SUMMER15"}',
        '{"code": "SUMMER15", "title": "Summer (all)"}',
        '["a", "b"]',
        "```json\n[1, 2",
        "Write `search` with queries: [...] to find more.",
        'The tool search takes {"queries": ["list clients"]}.',
        "```python\nprint('hello')\n```",
        "{" * 5000,
        "[\n" * 5000,
    ],
)
def test_an_answer_without_a_known_tool_is_an_answer(text: str) -> None:
    assert read(text) == []


def test_a_runnable_program_is_a_call_of_execute() -> None:
    text = "```python\nshop.find_order(number=3)\n```"
    assert written_calls(text, NAMES) == []
    (call,) = written_calls(text, NAMES, programs(text))
    assert (call.name, json.loads(call.arguments)) == ("execute", {"code": "shop.find_order(number=3)\n"})


@pytest.mark.parametrize(
    ("code", "calls"),
    [
        ("shop.find_order(number=3)", True),
        ("[shop.find_order(number=n) for n in (1, 2)]", True),
        ("search(['clients'])", True),
        ("tools.shop.find_order(number=3)", True),
        ("re.search('a', 'b')", False),
        ("workshop.open()", False),
        ("print('hello')", False),
    ],
)
def test_a_program_that_calls_tools_is_recognised(code: str, calls: bool) -> None:
    assert bool(calls_of(["shop"]).search(code)) is calls


@pytest.mark.parametrize(
    "text",
    [" " * LONG, "```" + " " * LONG, "```\n" + "\n" * LONG, "<tool_call>{" + " " * LONG, "\n" * LONG],
    ids=("spaces", "fence and spaces", "fence and lines", "tag and spaces", "lines"),
)
def test_a_text_of_nothing_but_space_is_read(text: str) -> None:
    assert written_calls(text, NAMES) == []
    assert programs(text) == []
    with contextlib.suppress(Malformed):
        read_text("search", text)
    assert without_source(f"7\n{text}", ["8"], has_results=False) == ("7",)


@pytest.mark.parametrize(
    "piece", ["\nx{", "\n[TOOL_CALLS] x{", "\nx{`", '\nx{"a":"""', "\n{", "<tools>[", "```\n", "Action: x\n"]
)
def test_a_long_text_without_ends_is_read(piece: str) -> None:
    written_calls(piece * (LONG // 5 // len(piece)), {"x", "execute"})
