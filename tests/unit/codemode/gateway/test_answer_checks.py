"""Checks of answers against their schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from codemode.catalog.catalog import Catalog
from codemode.catalog.schema import Schema
from codemode.catalog.tool import Effect, Tool
from codemode.gateway.answer_checks import AnswerChecks, Differences
from codemode.gateway.call import CallState, ToolCall
from codemode.gateway.gateway import Gateway
from codemode.shared.files import FileValue
from codemode.testing import RecordingTransport

if TYPE_CHECKING:
    from pathlib import Path

RETURNS = Schema.of({"type": "object", "properties": {"total": {"type": "integer"}}})
TOOL = Tool("gym.count", source="fake", effect=Effect.READ, returns=RETURNS)
UNDECLARED = Tool("gym.guess", source="fake", effect=Effect.READ)
LAST = "returned a field `total` of type str where the document says integer"


async def test_an_answer_that_differs_is_answered_with_a_note_and_counted() -> None:
    checks = AnswerChecks()
    transport = RecordingTransport(lambda _, __: {"total": "7"})
    gateway = Gateway(Catalog((TOOL,)), {"fake": transport}, checks=checks)
    outcome = await gateway.call(ToolCall("ex_1", "1", "gym.count", {}))
    assert (outcome.state, outcome.value) == (CallState.READ, {"total": "7"})
    assert outcome.note == f"gym.count {LAST}"
    assert checks.differences == {"gym.count": Differences(1, LAST)}


def checks_in(path: Path) -> AnswerChecks:
    checks = AnswerChecks(FileValue(path))
    checks.load()
    return checks


def test_two_servers_count_in_one_file(tmp_path: Path) -> None:
    ours, theirs = checks_in(tmp_path / "answers.json"), checks_in(tmp_path / "answers.json")
    for checks, number in ((ours, 2), (theirs, 1), (ours, 1)):
        for _ in range(number):
            checks.check(TOOL, {"total": "7"}, None)
        checks.save()
    assert checks_in(tmp_path / "answers.json").differences == {"gym.count": Differences(4, LAST)}


async def test_an_undeclared_result_is_compared_once_its_schema_is_steady() -> None:
    answers = iter([*[{"total": 7}] * 17, {"total": "7"}])
    transport = RecordingTransport(lambda _, __: next(answers))
    gateway = Gateway(Catalog((UNDECLARED,)), {"fake": transport})
    notes = [(await gateway.call(ToolCall("ex_1", str(n), "gym.guess", {}))).note for n in range(18)]
    told = "gym.guess returned a field `total` of type str where earlier answers had integer or null"
    assert notes == [*[""] * 17, told]


@pytest.mark.parametrize("answer", [None, {"$content": "c_1", "media_type": "image/png"}])
def test_an_empty_answer_and_binary_content_do_not_differ(answer: Any) -> None:
    assert AnswerChecks().check(TOOL, answer, None) == ""


def test_counts_are_stored_and_an_unreadable_file_counts_nothing(tmp_path: Path) -> None:
    path = tmp_path / "learned" / "answers.json"
    checks = checks_in(path)
    unsaved = []
    for _ in range(5):
        checks.check(TOOL, {"total": "7"}, None)
        unsaved.append(checks.is_unsaved)
        checks.save()
    assert unsaved == [True, True, False, True, False]
    assert checks_in(path).differences == {"gym.count": Differences(5, LAST)}
    path.write_text('{"format": 1, "differences": [1]}')
    assert checks_in(path).differences == {}
