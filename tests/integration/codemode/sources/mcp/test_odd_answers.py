"""Answers of MCP servers that break a schema reach the program: a write has happened, and a note says what is odd."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from codemode import CodeMode
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SERVER = Path(__file__).with_name("odd_server.py")

#: The value of each tool's answer, and what its note says ("" if there is none).
ANSWERS: dict[str, tuple[Any, str]] = {
    "unstructured": ("order 7 placed", "odd.unstructured"),
    "mismatched": ({"id": "seven", "more": 1}, "odd.mismatched"),
    "dangling": ({"id": 7}, ""),
    "untyped": ({"id": 7}, ""),
    "listed": ([{"id": 7}], "odd.listed"),
    "number": (7, ""),
    "bare": ({"id": 7}, ""),
    "text": ("order 7 placed", ""),
    "blocks": (["order", '{"id": 7}', '{"type": "odd", "x": 1}', "y"], ""),
    "no_schema": ({"id": 7}, ""),
}


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[CodeMode]:
    settings = {
        "sources": {"odd": {"command": [sys.executable, str(SERVER)], "timeout_s": 200}},
        "state_folder": tmp_path / "state",
        "cache_folder": tmp_path / "cache",
    }
    async with CodeMode.from_settings(Settings.model_validate(settings)) as service:
        yield service


async def test_odd_answers_reach_the_program_with_one_note(service: CodeMode) -> None:
    ended = {tool: await service.execute(f"odd.{tool}()") for tool in ANSWERS}
    assert {tool: each.value for tool, each in ended.items()} == {tool: value for tool, (value, _) in ANSWERS.items()}
    assert {call.state for each in ended.values() for call in each.calls} == {"committed"}
    assert {tool for tool, each in ended.items() if each.notes} == {tool for tool, (_, note) in ANSWERS.items() if note}
    for tool, (_, note) in ANSWERS.items():
        assert [note in each for each in ended[tool].notes] == [True] * bool(note)


async def test_the_text_of_an_error_comes_before_its_structured_content(service: CodeMode) -> None:
    for tool in ("failed", "failed_without_text"):
        ended = await service.execute(f"try:\n    odd.{tool}()\nexcept ToolError as e:\n    print(e, '|', e.body)")
        message, _, body = ended.output.partition("|")
        assert "out of paper" in message
        assert body.strip().startswith("{")
    (defined,) = (tool for tool in service.catalog if tool.path == "mismatched")
    assert defined.returns is not None
    assert defined.returns.value["required"] == ["id"]  # the SDK has not seen the schema
