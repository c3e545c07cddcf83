"""Inputs of programs are checked before anything runs."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.errors import WrongArgument
from codemode.executions.programs import require_inputs


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
