"""Tools as text: callable as printed, and never over budget."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import pytest

from codemode.catalog import stubs
from codemode.catalog.schema import Schema
from codemode.catalog.shapes import Shapes
from codemode.catalog.tokens import estimate
from codemode.catalog.tool import Effect, Location, Parameter, Tool
from tests.documents import SMALL, as_definition, check_stubs, published

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


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
        "gym.clients.list(*, branch: int, search: str = None, limit: int = 50) -> list[Client]"
        "  # Get a list of clients",
        "# Client = {a, b, c, d: str}",
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


def test_the_best_hit_says_how_bytes_are_given() -> None:
    tool = _tool({"file": {"type": "string", "format": "binary"}}, required=("file",))
    assert stubs.stub(tool).endswith('file: text, {"$base64": ...}, or what a download gave')


def test_the_best_hit_says_how_dates_are_written_shows_an_example_and_what_it_destroys() -> None:
    tool = _tool(
        {
            "id": {"type": "integer", "example": 7},
            "since": {"type": "string", "format": "date", "example": "2026-01-31"},
        },
        required=("id", "since"),
        summary="Is this it? Delete \\ old clients.",
        effect=Effect.DESTRUCTIVE,
    )
    assert stubs.stub(tool).splitlines() == [
        'gym.clients.list(*, id: int, since: "YYYY-MM-DD") -> Any  # destructive; Delete \\ old clients',
    ]
    assert "example" not in stubs.stub(
        _tool({"id": {"example": 7}, "name": {"type": "string"}}, required=("id", "name"))
    )
    assert '# example: say("x")' in stubs.stub(_tool({}, examples=('say("x")',)))


def test_an_example_is_shown_where_a_type_says_little() -> None:
    schemas: dict[str, Any] = {"id": {"type": "integer", "example": 7}, "name": {"type": "string", "example": "Ana"}}
    assert stubs.stub(_tool(schemas, required=("id", "name"))).splitlines()[1:] == [
        '# example: gym.clients.list(id=7, name="Ana")'
    ]


@pytest.mark.parametrize(
    ("example", "is_shown"),
    [
        ('gym.clients.list(status="active")', True),
        ('gym.clients.list(status="asleep")', False),
        ("gym.clients.list(state='active')", False),
        ("sorted(gym.clients.list(status=state))", True),
        ("list all active clients", True),
    ],
)
def test_an_example_that_a_call_would_refuse_is_not_shown(example: str, is_shown: bool) -> None:
    tool = _tool({"status": {"enum": ["active", "frozen"]}}, examples=(example,))
    assert (f"# example: {example}" in stubs.stub(tool)) is is_shown
    assert (f"example: {example}" in stubs.full(tool)) is is_shown


def test_types_are_defined_once_in_several_stubs() -> None:
    shapes = Shapes(compact=True)
    first, second = (stubs.stub(CLIENTS, shapes=shapes) for _ in range(2))
    assert "# Client = " in first
    assert "# Client = " not in second


def test_a_brief_stub_has_fewer_optional_parameters_and_no_example() -> None:
    tool = _tool({f"parameter_{n}": {"type": "string"} for n in range(30)}, examples=("gym.clients.list()",))
    brief = stubs.stub(tool, head_tokens=45)
    assert estimate(brief) < estimate(stubs.stub(tool)) / 2
    assert "example" not in brief
    assert "optional: parameter_" in brief


ODD_DEFAULTS = {
    "quote": 'say "hi"',
    "path": "C:\\new",
    "line": "a\nb",
    "null": None,
    "list": [1, 2],
    "long": "x" * 99,
    "float": 1e-9,
    "no": False,
    "bidi": "a\u202eb",
}


def test_odd_defaults_are_python() -> None:
    text = stubs.signature(_tool({name: {"default": value} for name, value in ODD_DEFAULTS.items()}))
    parsed = ast.parse(as_definition("gym.clients.list", text)).body[0]
    assert isinstance(parsed, ast.FunctionDef)
    shown = {
        argument.arg: ast.literal_eval(default)
        for argument, default in zip(parsed.args.kwonlyargs, parsed.args.kw_defaults, strict=True)
        if default is not None
    }
    assert shown == {**ODD_DEFAULTS, "list": None, "long": None}


@pytest.mark.parametrize("name", SMALL)
def test_every_stub_of_a_published_document_is_python_within_its_budget(
    name: str, shared_data: Callable[[str], Path]
) -> None:
    check_stubs(published(shared_data, name), name)


def test_names_of_values_are_shown_with_the_type_and_in_definitions() -> None:
    color = {"enum": [1, 2], "x-enumNames": ["Orange", "Sky"]}
    fields = {name: {"type": "integer"} for name in "abc"}
    tool = _tool(
        {"color": color, "theme": {"title": "Theme", "type": "object", "properties": {"tone": color, **fields}}}
    )

    assert "color: 1 = Orange, 2 = Sky" in stubs.stub(tool)
    assert "  color: Literal[1, 2], optional, 1 = Orange, 2 = Sky" in stubs.full(tool)
    assert "tone: 1 = Orange, 2 = Sky" in stubs.full(tool)


def test_the_services_own_name_is_shown_if_the_id_does_not_have_its_letters() -> None:
    assert "  named 获取用户 by the service" in stubs.full(_tool({}, aliases=("获取用户",)))
    assert "by the service" not in stubs.full(_tool({}, aliases=("getUser",)))
