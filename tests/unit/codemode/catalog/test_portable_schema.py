from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from codemode.catalog.catalog import Catalog
from codemode.catalog.definitions import native, two_tools
from codemode.catalog.portable_schema import MOST_SCHEMAS, portable
from codemode.catalog.schema import Graph, Schema
from codemode.catalog.tool import Effect, Location, Parameter, Tool
from codemode.service import CodeMode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_TYPES = frozenset(("string", "number", "integer", "boolean", "array", "object", "null"))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True)
class Subset:
    """What one provider accepts as the parameters of a function, as far as its documentation says."""

    keywords: frozenset[str]
    source: str
    property_names: str = r"(?s).*"
    enum_is: Callable[[Any], bool] = lambda _: True
    needs_type: bool = False
    any_of_is_alone: bool = False
    is_enum_typed: bool = False


#: Facts with their sources. Where a provider has a strict and a loose form, the loose one: definitions are not strict.
SUBSETS = {
    # Structured outputs, "Supported schemas": types String, Number, Boolean, Integer, Object, Array, Enum, anyOf;
    # string: pattern, format; number: multipleOf, minimum, maximum, exclusive…; array: minItems, maxItems. "Root
    # objects must not be anyOf"; allOf, not, dependentRequired, dependentSchemas, if, then, else are not supported.
    # minLength and maxLength: rejected by fine-tuned models in strict mode only.
    "openai": Subset(
        _words(
            "type description title enum properties required additionalProperties items anyOf pattern format "
            "multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems minLength "
            "maxLength"
        ),
        "https://platform.openai.com/docs/guides/structured-outputs#supported-schemas",
    ),
    # Messages API, `tools[].input_schema`: JSON Schema draft 2020-12 with `type: object`. The API answers 400:
    # "input_schema does not support oneOf, allOf, or anyOf at the top level", and
    # "properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'".
    "anthropic": Subset(
        _words(
            "type description title enum const default properties required additionalProperties items "
            "prefixItems anyOf oneOf allOf not format pattern minimum maximum minItems maxItems minLength "
            "maxLength"
        ),
        "https://docs.claude.com/en/api/messages#body-tools-input-schema",
        property_names=r"[a-zA-Z0-9_.-]{1,64}",
    ),
    # `Schema` of `FunctionDeclaration.parameters`, "a select subset of an OpenAPI 3.0 schema object": `type` is
    # required, `enum` is a list of strings "of primitive type with enum format" and empty ones are rejected; in Vertex
    # AI `anyOf` "must be the only field set". No $ref, $defs, const, oneOf, allOf, additionalProperties, prefixItems.
    "gemini": Subset(
        _words(
            "type format title description nullable enum maxItems minItems properties required minProperties "
            "maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum "
            "maximum"
        ),
        "https://ai.google.dev/api/caching#Schema",
        enum_is=lambda value: isinstance(value, str) and value != "",
        needs_type=True,
        any_of_is_alone=True,
        is_enum_typed=True,
    ),
}


def parts(schema: Any, at: str = "parameters") -> Iterator[tuple[str, Any]]:
    """Yield a schema and all schemas in it, with their places."""
    yield at, schema
    for name, inner in schema.get("properties", {}).items():
        yield from parts(inner, f"{at}.{name}")
    if "items" in schema:
        yield from parts(schema["items"], f"{at}[]")
    for number, inner in enumerate(schema.get("anyOf", ())):
        yield from parts(inner, f"{at}|{number}")


def problems(parameters: dict[str, Any], subset: Subset) -> list[str]:
    """Return what the provider would reject."""
    found = [] if parameters.get("type") == "object" and "anyOf" not in parameters else ["the top is not an object"]
    names = parameters["properties"]
    found += [f"the name {name!r}" for name in names if not re.fullmatch(subset.property_names, name)]
    for at, schema in parts(parameters):
        found += [f"{at}: {word}" for word in schema.keys() - subset.keywords]
        if subset.any_of_is_alone and "anyOf" in schema and len(schema) > 1:
            found.append(f"{at}: {sorted(schema)} beside anyOf")
        if subset.needs_type and "anyOf" not in schema and schema.get("type") not in _TYPES:
            found.append(f"{at}: the type {schema.get('type')!r}")
        if schema.get("type") == "array" and not isinstance(schema.get("items"), dict):
            found.append(f"{at}: an array without items")
        values = schema.get("enum", ["x"])
        if not values or not all(map(subset.enum_is, values)):
            found.append(f"{at}: the enum {values}")
        if subset.is_enum_typed and "enum" in schema and schema.get("type") != "string":
            found.append(f"{at}: an enum of another type than string")
        found += [f"{at}: requires {name}" for name in schema.get("required", ()) if name not in schema["properties"]]
    return found


def parameters_of(schema: Any, document: Any = None) -> dict[str, Any]:
    """Return the parameters of a tool with one parameter `it`."""
    parameter = Parameter("it", "it", Location.BODY, required=True, schema=Schema(schema, Graph.of(document or {})))
    tool = Tool(
        id="api.make",
        source="api",
        summary="Make it",
        description="Make it.",
        parameters=(parameter,),
        effect=Effect.WRITE,
        invocation=None,
    )
    parameters: dict[str, Any] = native(tool)["function"]["parameters"]
    return parameters


def it(schema: Any, document: Any = None) -> Any:
    return parameters_of(schema, document)["properties"]["it"]


TREE = {
    "components": {
        "schemas": {
            "Tree": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string"},
                    "parent": {"$ref": "#/components/schemas/Tree"},
                    "children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
                },
            },
            "Either": {"oneOf": [{"$ref": "#/components/schemas/Tree"}, {"$ref": "#/components/schemas/Either"}]},
            "Loop": {"$ref": "#/components/schemas/Loop"},
        }
    }
}

#: Schemas as documents have them, and what models get.
CASES: dict[str, tuple[Any, Any]] = {
    "a type list": ({"type": ["string", "null"]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
    "nullable": ({"type": "string", "nullable": True}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
    "a constant": ({"const": "only"}, {"type": "string", "enum": ["only"]}),
    "a constant number": ({"const": 3}, {"type": "integer", "description": "(one of 3)"}),
    "numbers to choose from": (
        {"type": "integer", "enum": [1, 2]},
        {"type": "integer", "description": "(one of 1, 2)"},
    ),
    "an empty choice": (
        {"type": "string", "enum": ["", "a"], "description": "A sort."},
        {"type": "string", "description": 'A sort. (one of "", "a")'},
    ),
    "a choice with null": (
        {"enum": ["a", None]},
        {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null", "description": "(one of null)"}]},
    ),
    "a tuple": (
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2},
        {"type": "array", "minItems": 2, "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]}},
    ),
    "alternatives": (
        {"oneOf": [{"type": "string"}, {"type": "integer"}], "description": "An id."},
        {"anyOf": [{"type": "string", "description": "An id."}, {"type": "integer"}]},
    ),
    "parts": (
        {
            "allOf": [
                {"properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"properties": {"b": {"type": "null"}}},
            ]
        },
        {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "null"}}, "required": ["a"]},
    ),
    "one of the fields": (
        {
            "type": "object",
            "properties": {"a": {"type": "string"}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        {"type": "object", "properties": {"a": {"type": "string"}}},
    ),
    "a map": (
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object", "description": "(any field names; values: integer)"},
    ),
    "facts": (
        {"type": "string", "format": "date", "pattern": "^2", "default": "2026-01-01", "maxLength": 10},
        {"type": "string", "maxLength": 10, "description": '(format: date; pattern: ^2; default: "2026-01-01")'},
    ),
    "a field that is null when it is left out": (
        {"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}}},
        {"type": "object", "properties": {"a": {"type": "string"}}},
    ),
    "a tree": (
        {"$ref": "#/components/schemas/Tree"},
        {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "parent": {"type": "object", "description": "(fields: name, parent, children)"},
                "children": {
                    "type": "array",
                    "items": {"type": "object", "description": "(fields: name, parent, children)"},
                },
            },
            "required": ["name"],
        },
    ),
}


@pytest.mark.parametrize(("schema", "expected"), CASES.values(), ids=CASES)
def test_a_schema_keeps_its_meaning_in_the_words_that_all_providers_know(schema: Any, expected: Any) -> None:
    assert it(schema, TREE) == expected


ODD: dict[str, Any] = {
    "anything": {},
    "true": True,
    "false": False,
    "an array of anything": {"type": "array"},
    "an old tuple": {"type": "array", "items": [{"type": "string"}, {}]},
    "itself": {"$ref": "#/components/schemas/Loop"},
    "itself among others": {"$ref": "#/components/schemas/Either"},
    "nothing there": {"$ref": "#/nowhere"},
    "a type that is none": {"type": "file"},
    "mixed values": {"enum": [1, "a", None, True, 1.5, [], {}]},
    "a list of types with their keywords": {"type": ["array", "integer", "null"], "items": {"const": 1}, "minimum": 1},
    "conditions": {"type": "object", "if": {}, "then": {}, "not": {}, "patternProperties": {"^x": {}}},
    "names that are no names": {"type": "object", "required": ["b", 3], "properties": {"a b": {"type": "string"}}},
    "broken": {"type": "object", "properties": [], "required": "x", "anyOf": {}, "enum": 3, "minimum": "a"},
}


@pytest.mark.parametrize("schema", [*(one for one, _ in CASES.values()), *ODD.values()], ids=[*CASES, *ODD])
def test_every_definition_is_in_the_subset_of_each_provider(schema: Any) -> None:
    parameters = parameters_of(schema, TREE)
    Draft202012Validator.check_schema(parameters)
    every = {provider: problems(parameters, subset) for provider, subset in SUBSETS.items()}
    assert every == {provider: [] for provider in SUBSETS}


@pytest.mark.parametrize("provider", SUBSETS)
def test_search_and_execute_are_in_the_subset_of_each_provider(provider: str) -> None:
    for definition in two_tools(Catalog(())):
        assert problems(definition["function"]["parameters"], SUBSETS[provider]) == []


_VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=3), st.lists, max_leaves=3)
_WORDS = st.dictionaries(
    st.sampled_from(["description", "format", "default", "const", "minimum", "minItems", "nullable", "pattern"]),
    _VALUES,
) | st.fixed_dictionaries({"type": st.sampled_from(sorted(_TYPES)) | st.lists(st.sampled_from(sorted(_TYPES)))})


def _around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, max_size=3)
    fields = st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array", "string"]),
            "properties": fields,
            "required": st.lists(st.sampled_from("abcd")),
            "items": inner | several,
            "prefixItems": several,
            "anyOf": several,
            "oneOf": several,
            "allOf": several,
            "additionalProperties": inner | st.booleans(),
            "enum": st.lists(_VALUES, max_size=3),
            "$ref": st.sampled_from([f"#/components/schemas/{name}" for name in ("Tree", "Either", "Loop", "None")]),
        },
    )


@given(st.recursive(_WORDS | st.booleans(), _around, max_leaves=8))
def test_no_schema_leads_out_of_the_subsets(schema: Any) -> None:
    parameters = parameters_of(schema, TREE)
    assert [problems(parameters, subset) for subset in SUBSETS.values()] == [[], [], []]


def test_a_large_definition_is_cut_where_it_is_deepest() -> None:
    """Each level has ten fields of the next one: ten levels are ten thousand million schemas."""
    definitions: dict[str, Any] = {
        f"L{level}": {"type": "object", "properties": {f"f{n}": {"$ref": f"#/$defs/L{level + 1}"} for n in range(10)}}
        for level in range(10)
    }
    made = portable({"it": {"$ref": "#/$defs/L0"}}, definitions)
    assert len(list(parts({"properties": made}))) <= MOST_SCHEMAS + 1
    names = ", ".join(f"f{n}" for n in range(10))
    assert made["it"]["properties"]["f0"]["properties"]["f0"] == {"type": "object", "description": f"(fields: {names})"}


async def test_what_python_functions_take_is_in_the_subsets() -> None:
    def order(
        items: list[str], pair: tuple[int, str], extra: dict[str, Any] | None = None, anything: Any = None
    ) -> int:
        """Order items."""
        return len(items) + len(pair) + len(extra or {}) + bool(anything)

    async with CodeMode.from_functions(desk=[order]) as service:
        for tool in (await service.view()).catalog:
            parameters = native(tool)["function"]["parameters"]
            assert [problems(parameters, subset) for subset in SUBSETS.values()] == [[], [], []]
