from __future__ import annotations

import re

from jsonschema import Draft202012Validator

from codemode.catalog.catalog import Catalog
from codemode.catalog.definitions import NAME_CHARACTERS, native, two_tools
from codemode.catalog.schema import Graph, Schema
from codemode.catalog.tool import Effect, Location, Parameter, Tool
from codemode.testing import make_tool

DOCUMENT = {
    "components": {
        "schemas": {
            "Node": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string"},
                    "parent": {"$ref": "#/components/schemas/Node"},
                    "kind": {"$ref": "#/components/schemas/Kind"},
                },
            },
            "Kind": {"enum": ["leaf", "inner"]},
        }
    }
}


def tool_with(schema: Schema) -> Tool:
    return Tool(
        id="api.nodes.create",
        source="api",
        summary="Create a node",
        description="Create a node.",
        parameters=(Parameter("node", "node", Location.BODY, required=True, schema=schema),),
        effect=Effect.WRITE,
        invocation=None,
    )


def test_references_come_along_each_once_even_in_a_cycle() -> None:
    graph = Graph.of(DOCUMENT)
    parameters = native(tool_with(Schema({"$ref": "#/components/schemas/Node"}, graph)))["function"]["parameters"]
    assert sorted(parameters["$defs"]) == ["Kind", "Node"]
    validator = Draft202012Validator(parameters)
    Draft202012Validator.check_schema(parameters)
    assert validator.is_valid({"node": {"name": "a", "parent": {"name": "b", "kind": "leaf"}}})
    assert not validator.is_valid({"node": {"name": "a", "parent": {"name": "b", "kind": "other"}}})


def test_two_schemas_of_one_name_are_kept_apart() -> None:
    document = {"a": {"Node": {"type": "string"}}, "b": {"Node": {"type": "integer"}}}
    schema = Schema({"anyOf": [{"$ref": "#/a/Node"}, {"$ref": "#/b/Node"}]}, Graph.of(document))
    parameters = native(tool_with(schema))["function"]["parameters"]
    assert parameters["$defs"] == {"Node": {"type": "string"}, "Node_2": {"type": "integer"}}


def test_a_name_is_one_that_chat_completions_accept() -> None:
    name = native(make_tool("api." + "very_long_group." * 4 + "create"))["function"]["name"]
    assert re.fullmatch(rf"[a-zA-Z0-9_-]{{1,{NAME_CHARACTERS}}}", name)


def test_the_directory_names_the_largest_domains_and_counts_the_rest() -> None:
    tools = [make_tool(f"n{n:02}.g.t{i}") for n in range(20) for i in range(n + 1)]
    text = two_tools(Catalog(tools))[0]["function"]["description"]
    assert "Domains: n19, n18, " in text
    assert text.endswith("… and 8 more")
