from __future__ import annotations

import json
from typing import Any

import pytest

from codemode.catalog.error_answers import reports_error, text_reports_error

ERRORS: tuple[Any, ...] = (
    {"error": "echo: cannot write to 'a.css': No such file"},
    {"error": {"code": 404, "message": "not found"}},
    {"errors": [{"message": "no such field"}], "data": None},
    {"success": False, "message": "Booking not found"},
    {"ok": False, "error": "channel_not_found"},
    {"status": "error", "message": "no such order", "data": {}},
    {"isError": True, "content": [{"type": "text", "text": "no such order"}]},
    {"Error": "no such order", "StatusCode": 404},
    {"error": "x" * 500},
    {"success": False, "message": "x" * 500},
    "Error: user not found",
    '{"error": "no such file"}',
    json.dumps({"error": "x" * 500}),
    "error: " + "x" * 500,
)

ANSWERS: tuple[Any, ...] = (
    {"error": None, "result": 3},
    {"error": "", "items": []},
    {"errors": [], "success": True},
    {"id": 7, "state": "failed", "error": "the disk was full"},  # a record of a job that failed
    {"jobs": [{"error": "the disk was full"}]},
    {"success": True},
    {"status": "failed", "order": 7},
    {"ok": 1},
    {},
    [],
    [{"error": "one of many"}],
    None,
    False,
    3,
    "Errors are rare",
    "No error: all is well",
)


@pytest.mark.parametrize("answer", ERRORS)
def test_an_answer_that_holds_an_error_alone_reports_one(answer: Any) -> None:
    assert reports_error(answer)
    assert text_reports_error(json.dumps(answer))
    assert text_reports_error(json.dumps(answer)[:120] + "…")


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_with_data_reports_none(answer: Any) -> None:
    assert not reports_error(answer)
    assert not text_reports_error(json.dumps(answer))
