"""Tools as text: callable as printed, and never over budget."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from codemode.catalog import stubs
from codemode.catalog.schema import Schema
from codemode.catalog.tokens import estimate
from codemode.catalog.tool import Effect, Location, Parameter, Tool


def _tool(schemas: dict[str, Any], required: tuple[str, ...] = (), returns: Any = None, **facts: Any) -> Tool:
    parameters = tuple(
        Parameter(name, name, Location.QUERY, required=name in required, schema=Schema.of(schema))
        for name, schema in schemas.items()
    )
    facts = {"summary": "Get a list of clients. They are many.", "effect": Effect.READ, **facts}
    return Tool(
        "gym.clients.list",
        source="gym",
        parameters=tuple(sorted(parameters, key=lambda parameter: not parameter.required)),
        returns=None if returns is None else Schema.of(returns),
        **facts,
    )


CLIENTS = _tool(
    {"search": {"type": "string"}, "limit": {"type": "integer", "default": 50}, "branch": {"type": "integer"}},
    required=("branch",),
    returns={"type": "array", "items": {"title": "Client", "properties": {key: {"type": "string"} for key in "abcd"}}},
)


def test_a_signature_has_types_defaults_the_result_and_the_first_sentence() -> None:
    assert stubs.signature(CLIENTS) == (
        "gym.clients.list(*, branch: int, search: str | None = None, limit: int = 50) -> list[dict]"
        "  # Get a list of clients"
    )


def test_a_stub_defines_the_types_it_names() -> None:
    assert stubs.stub(CLIENTS).splitlines() == [
        "gym.clients.list(*, branch: int, search: str | None = None, limit: int = 50) -> list[Client]"
        "  # Get a list of clients",
        'Client = {"a": str, "b": str, "c": str, "d": str}',
    ]


def test_full_documents_every_parameter() -> None:
    text = stubs.full(CLIENTS)
    assert "  branch: int, required" in text
    assert "  limit: int, optional, default 50" in text
    assert "  effect: read" in text
    assert 'Client = {"a": str' in text


def test_a_tool_without_parameters_and_result_is_callable_too() -> None:
    tool = _tool({}, returns={"type": "null"}, summary="")
    assert stubs.signature(tool) == "gym.clients.list() -> None"


MANY = _tool(
    {f"parameter_number_{n}": {"type": "string", "enum": ["one", "two", "three"]} for n in range(60)},
    required=("parameter_number_7",),
)


@pytest.mark.parametrize("budget", [40, 60, 120, 300])
def test_a_signature_keeps_its_budget_and_its_required_parameters(budget: int) -> None:
    text = stubs.signature(MANY, budget_tokens=budget)
    assert estimate(text) <= budget + 40  # required parameters and the count of what is left out always stay
    assert 'parameter_number_7: Literal["one", "two", "three"]' in text
    assert "optional" in text


@pytest.mark.parametrize("budget", [150, 400, 1500])
def test_full_keeps_its_budget(budget: int) -> None:
    assert estimate(stubs.full(MANY, budget_tokens=budget)) <= budget * 1.1


def test_a_signature_is_python() -> None:
    head = stubs.signature(CLIENTS).partition("  #")[0].replace("gym.clients.list", "f")
    parsed = ast.parse(f"def {head}: ...").body[0]
    assert isinstance(parsed, ast.FunctionDef)
    assert [argument.arg for argument in parsed.args.kwonlyargs] == ["branch", "search", "limit"]
