"""Calls are recorded, and written as programs."""

from __future__ import annotations

import ast

from codemode.bench.suite import ToolCall
from codemode.bench.tools import ReadingTool, SuiteTool, program_of, recorded
from codemode.catalog.tool import Effect
from codemode.sources.functions.tool_objects import tool_of


def test_a_program_makes_the_calls_in_order_with_nested_ones_inside() -> None:
    inner = ToolCall("find", {"name": "it's"})
    assert program_of([ToolCall("open", {"it": inner}), ToolCall("close", {})], "door") == (
        'door.open(it=door.find(name="it\'s"))\ndoor.close()'
    )


def test_a_program_goes_on_after_a_call_that_fails_by_intent() -> None:
    program = program_of([ToolCall("open", {}), ToolCall("close", {})], "door", failing={0})
    handled, last = ast.parse(program).body
    assert isinstance(handled, ast.Try)
    assert ast.unparse(last) == "door.close()"


def test_no_calls_are_a_program_too() -> None:
    assert program_of([], "door") == "None"


async def test_a_call_is_recorded_before_it_is_made() -> None:
    seen: list[ToolCall] = []

    def fail(**_: object) -> object:
        raise ValueError(len(seen))

    (tool,) = recorded([SuiteTool("fail", "", {}, fail)], seen.append)
    assert isinstance(tool, SuiteTool)
    try:
        await tool.run(a=1)
    except ValueError as error:
        assert error.args == (1,)
    assert seen == [ToolCall("fail", {"a": 1})]


async def test_results_are_json_data() -> None:
    tool = SuiteTool("set", "", {}, lambda: {"found": {1}, "odd": object})
    found = await tool.run()
    assert found["found"] == [1]
    assert isinstance(found["odd"], str)


def test_a_recorded_tool_stays_a_reading_one() -> None:
    (tool,) = recorded([ReadingTool("find", "", {}, lambda: 1)], lambda _: None)
    assert isinstance(tool, ReadingTool)
    assert tool_of(tool, "a.find", source="a").effect is Effect.READ
