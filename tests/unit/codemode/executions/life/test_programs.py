"""Inputs of programs are checked before anything runs."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.errors import WrongArgument
from codemode.executions.life.programs import Request, require_inputs
from codemode.gateway.caller import Caller


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


def test_inputs_may_be_nested_as_deeply_as_a_program_can_get_them() -> None:
    require_inputs({"x": nested(199)})
    for depth in (200, 900, 5_000):
        with pytest.raises(WrongArgument, match="inputs: the values must be JSON data"):
            require_inputs({"x": nested(depth)})


def test_numbers_that_json_lacks_are_no_inputs() -> None:
    with pytest.raises(WrongArgument, match="Out of range float values"):
        require_inputs({"x": float("nan")})


KEY = "cm_a-key-of-forty-characters-or-so"
CALLER = Caller("key:1", secrets=(KEY, "demo"))


def test_a_callers_own_secrets_are_taken_out_of_its_request() -> None:
    request = Request(
        f"send(token={KEY!r}, to='demo', other='an upstream token')",
        {"X-Token": "an upstream token"},
        inputs={"a": [KEY]},
    )
    clean = request.without_secrets(CALLER)
    assert clean.code == "send(token='[redacted]', to='demo', other='[redacted]')"
    assert clean.inputs == {"a": ["[redacted]"]}
    assert clean.had_secrets
    assert clean.without_secrets(CALLER) is clean
    assert clean.settings(CALLER)["had_secrets"] is True


def test_a_request_without_secrets_is_unchanged() -> None:
    request = Request("send(to='demo')", inputs={"a": 1})
    assert request.without_secrets(CALLER) is request
    assert "had_secrets" not in request.settings(CALLER)
