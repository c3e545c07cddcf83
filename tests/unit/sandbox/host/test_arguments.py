from __future__ import annotations

import logging
from typing import Any

import pytest

from sandbox import Call, Limits, Sandbox
from sandbox.host.arguments import check_inputs

SETTINGS: list[tuple[dict[str, Any], str]] = [
    ({"running": 0}, "running=0: expected an integer of at least 1"),
    ({"workers": -1}, "workers=-1: expected an integer of at least 0"),
    ({"workers": "2"}, "workers='2': expected an integer"),
    ({"limits": 5}, "limits=5: expected sandbox.Limits"),
    ({"limits": {}}, "limits={}: expected sandbox.Limits"),
    (
        {"require": "seccomp"},
        r"require='seccomp' is one string, expected a collection, as in require=\(\"seccomp\",\)",
    ),
]
ARGUMENTS: list[tuple[dict[str, Any], str]] = [
    ({"names": "shop"}, r"names='shop' is one string, expected a collection, as in names=\(\"shop\",\)"),
    ({"seed": b"1"}, "seed is 1 bytes, expected 32 bytes"),
    ({"seed": 7}, "seed is int, expected 32 bytes"),
    ({"inputs": {"a b": 1}}, "inputs: 'a b' is not an identifier"),
    ({"call": 5}, "call=5: expected an async function"),
    ({"limits": {"wall_s": 1}}, "expected sandbox.Limits"),
]


@pytest.mark.parametrize(("settings", "message"), SETTINGS)
def test_settings_that_fit_nothing_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        Sandbox(**settings)


@pytest.mark.parametrize(("arguments", "message"), ARGUMENTS)
async def test_arguments_that_fit_nothing_are_named_before_anything_is_started(
    arguments: dict[str, Any], message: str
) -> None:
    sandbox = Sandbox()
    with pytest.raises((TypeError, ValueError), match=message):
        await sandbox.run("1 + 1", **arguments)
    assert sandbox.isolation == {}


async def test_a_program_is_text() -> None:
    code: Any = b"1 + 1"
    with pytest.raises(TypeError, match="code is a bytes, expected str"):
        await Sandbox().run(code)


async def test_a_handler_that_is_no_async_function_failed_and_the_log_says_why(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def answer(call: Call) -> dict[str, Any]:
        return call.arguments

    handler: Any = answer
    program = "try:\n    shop.price(n=1)\nexcept ToolError as error:\n    kind = error.kind\nkind"
    async with Sandbox(limits=Limits(), workers=1) as sandbox:
        with caplog.at_level(logging.ERROR):
            outcome = await sandbox.run(program, names=("shop",), call=handler)
    assert outcome.value == "internal_error"
    assert "can't be used in 'await' expression" in caplog.text or "can't be awaited" in caplog.text


def test_inputs_that_no_program_can_get_are_rejected() -> None:
    deep: list[Any] = []
    for _ in range(2_000):
        deep = [deep]
    check_inputs({"rows": [1, {"id": "a"}]})
    with pytest.raises(TypeError):
        check_inputs({"rows": {1, 2}})
    with pytest.raises(ValueError, match="nested"):
        check_inputs({"rows": deep})
