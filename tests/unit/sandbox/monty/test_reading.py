"""What a source shows before it runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic_monty import Monty, MontyError

from sandbox.monty.reading import ASYNCIO, MODULES, read

PAGE = Path(__file__).parents[4] / "docs" / "limitations" / "monty.md"


def reading(code: str) -> dict[str, Any]:
    return read(code=code, names=["gym", "search"], values={"last": "load"}, limit_bytes=10_000, limit_depth=100)


def parallel(code: str) -> list[str]:
    found = reading(code)
    text = found["text"].encode()
    return [text[start:end].decode() for start, end in found["parallel"]]


def test_calls_whose_value_is_only_awaited_are_found_by_their_place() -> None:
    assert parallel("x = gym.a(n=1)\nawait gym.b(n=2)") == ["gym.b(n=2)"]
    assert parallel("name = '\u20ac'; await gym.b(\n    n='\u00e9')") == ["gym.b(\n    n='\u00e9')"]
    assert {"gym.a()", "gym.b()"} < {*parallel("import asyncio\r\nawait asyncio.gather(gym.a(), gym.b())")}


def test_a_value_is_loaded_where_its_name_is_read_and_not_bound() -> None:
    assert reading("x = [last, 'last']")["text"] == "x = [load(\"last\"), 'last']"
    assert reading("last = 1\nlast")["text"] == "last = 1\nlast"


@pytest.mark.parametrize(
    ("code", "returns"),
    [("1", True), ("x = 1", False), ("if x:\n    return 1", True), ("def f():\n    return 1", False), ("", False)],
)
def test_a_program_returns_its_last_expression_or_by_return(code: str, returns: bool) -> None:
    assert (reading(code)["returns"], reading(code)["text"]) == (returns, code)


@pytest.mark.parametrize("code", ["result = 1", "result: int = 1", "x = 1\nresult += x"])
def test_a_last_assignment_to_result_is_the_result(code: str) -> None:
    assert (reading(code)["returns"], reading(code)["text"]) == (True, f"{code}\nresult")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import statistics", "this engine has no module statistics"),
        ("from collections.abc import Mapping", "this engine has no module collections.abc"),
        ("import gym", "this engine does not import gym, which is bound already"),
        ("import asyncio\nasyncio.wait_for", "this engine has no asyncio.wait_for"),
        ("from asyncio import Queue", "this engine has no asyncio.Queue"),
        ("try:\n    1\nexcept (ToolError, ValueError) as e:\n    e.kind", "in this engine, a ToolError has no .kind"),
        (
            "import asyncio\nx = 1; asyncio.gather(x, return_exceptions=True)",
            "in this engine, asyncio.gather takes no keyword arguments",
        ),
        ("next(gym.a(n=n) for n in [1])", "in this engine, a generator expression makes all of its calls at once"),
        ("any(gym.a(n=n) for n in [1])", "in this engine, a generator expression makes all of its calls at once"),
        ("g = (n for n in [1] if gym.a(n=n))", "in this engine, a generator expression makes all of its calls at once"),
        ("import datetime\ndatetime.datetime.fromtimestamp(1)", "this engine has no .fromtimestamp"),
        ("ToolRejected", "this engine has no ToolRejected: a rejected call raises ToolError"),
    ],
)
def test_what_monty_does_not_have_is_refused_with_its_line(code: str, message: str) -> None:
    (refusal,) = reading(code)["refusals"]
    assert refusal["message"] == message
    assert refusal["line"] == code.count("\n") + 1
    assert refusal["hint"]


def test_other_names_of_the_same_form_are_not_refused() -> None:
    code = "try:\n    1\nexcept ValueError as e:\n    e.status\nx.kind\nimport asyncio\nasyncio.gather\nmy.asyncio.wait"
    assert reading(code)["refusals"] == []


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("next(x for x in y)", "next(iter(x for x in y))"),
        ("next((x for x in '\u20ac'), None)", "next(iter(x for x in '\u20ac'), None)"),
        ("next((x for x in y))", "next(iter(x for x in y))"),
        ("next(\n    x for x in next(z for z in y)\n)", "next(iter(\n    x for x in next(iter(z for z in y))\n))"),
        ("next(iter(y))", "next(iter(y))"),
    ],
)
def test_next_is_given_an_iterator(code: str, text: str) -> None:
    assert reading(code)["text"] == text


@pytest.mark.parametrize(
    "code", ["sum(gym.a(n=n) for n in x)", "asyncio.gather(*(gym.a(n=n) for n in x))", "any(n > 1 for n in gym.a())"]
)
def test_generator_expressions_that_are_read_to_their_end_are_not_refused(code: str) -> None:
    assert reading(code)["refusals"] == []


def test_a_source_that_is_no_program_has_a_failure() -> None:
    failure = reading("x = (\n")["failure"]
    assert (failure["type"], failure["message"]) == ("SyntaxError", "line 1: '(' was never closed")
    assert "bytes" in reading("x" * 10_001)["failure"]["message"]
    assert "nested" in reading("-" * 5000 + "1")["failure"]["message"]


def test_the_modules_are_those_of_the_installed_version() -> None:
    with Monty() as pool, pool.checkout() as session:
        for module in MODULES:
            session.feed_run(f"import {module}")
        for name in ("create_task", "TaskGroup", "wait_for", "wait", "Semaphore"):
            with pytest.raises(MontyError, match=name):
                session.feed_run(f"import asyncio\nasyncio.{name}")
        for name in ASYNCIO:
            session.feed_run(f"asyncio.{name}")


def test_the_page_lists_the_modules() -> None:
    row = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| modules besides"))
    assert tuple(re.findall(r"`(\w+)`", row)) == MODULES
