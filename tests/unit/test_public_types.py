"""The types of the public names, as a type checker infers them in code of a user. mypy is the test; nothing runs.

Where `make types` reports a line here, the public API has changed for everybody who checks types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, assert_type

import codemode
import sandbox
from codemode import (
    CodeMode,
    CodeModeError,
    ConfigurationError,
    ExecutionOutcome,
    Settings,
    SourceError,
    ToolNotFound,
    bind,
    tool,
)
from sandbox import (
    Call,
    CallFailed,
    Failure,
    JsonText,
    Limits,
    Outcome,
    ProgramRefused,
    Refusal,
    Sandbox,
    SandboxError,
    SandboxUnavailable,
    Status,
    Usage,
    value_of,
)


@tool(effect="read", tags=("orders",))
def find_order(number: int) -> dict[str, int]:
    """Return an order."""
    return {"number": number}


async def service(settings: Settings) -> None:
    assert_type(CodeMode.from_config("codemode.yaml"), CodeMode)
    assert_type(CodeMode.from_settings(settings, functions={"shop": [find_order]}), CodeMode)
    assert_type(CodeMode.from_functions(shop=bind([], to={})), CodeMode)
    assert_type(CodeMode.from_openapi("gym.json", base_url="http://127.0.0.1"), CodeMode)
    assert_type(CodeMode.from_mcp(["server"]), CodeMode)
    assert_type(await CodeMode(settings).start(), CodeMode)
    async with CodeMode(settings) as entered:
        assert_type(entered, CodeMode)
        assert_type((await entered.search("find an order")).text, str)
        assert_type(await entered.describe("shop"), str)
        assert_type(await entered.definitions(), list[dict[str, Any]])
        assert_type(entered.settings, Settings)
        assert_type(entered.is_ready, bool)
        outcome = await entered.execute("1 + 1")
        assert_type(outcome, ExecutionOutcome)
        assert_type(outcome.value, Any)
        assert_type(outcome.output, str)
        assert_type(outcome.ok, bool)
        assert_type(outcome.raise_for_status(), ExecutionOutcome)
        assert_type(outcome.failure, Failure | None)
        assert_type(outcome.usage, Usage)


def decorated() -> None:
    """A tool keeps the signature of its function."""
    assert_type(find_order(7), dict[str, int])
    positional: Callable[[int], dict[str, int]] = find_order
    assert positional is find_order


async def confined() -> None:
    async def answer(call: Call) -> Any:
        assert_type(call.arguments, dict[str, Any])
        raise CallFailed(call.tool)

    async with Sandbox(limits=Limits(wall_s=1.0)) as entered:
        assert_type(entered, Sandbox)
        assert_type(entered.isolation, Mapping[str, str])
        outcome = await entered.run("tool()", names=("tool",), call=answer)
        assert_type(outcome, Outcome)
        assert_type(outcome.status, Status)
        assert_type(outcome.value, Any)
        assert_type(outcome.limit, str | None)
        assert_type(value_of(JsonText(b"1")), Any)


def errors() -> None:
    """Errors have a base in each package, and carry what they are about."""
    of_codemode: list[type[CodeModeError]] = [ConfigurationError, SourceError, ToolNotFound]
    of_sandbox: list[type[SandboxError]] = [SandboxUnavailable, ProgramRefused, CallFailed]
    assert of_codemode
    assert of_sandbox
    assert_type(ProgramRefused(()).refusals, tuple[Refusal, ...])


def test_public_names_are_there() -> None:
    for package in (codemode, sandbox):
        for name in package.__all__:
            assert getattr(package, name) is not None
