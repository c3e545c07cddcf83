"""What the operator changes, and what a look at a source says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from codemode.catalog.catalog import Catalog
from codemode.catalog.paging import paging_of
from codemode.catalog.tool import Effect, Paging
from codemode.errors import ConfigurationError
from codemode.sources.check import check_surface
from codemode.sources.openapi.document import load_openapi
from codemode.sources.overrides import DeclaredPages, Overrides, apply_overrides

DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Shop"},
    "servers": [{"url": "https://shop.test"}],
    "components": {
        "securitySchemes": {
            "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
            "token": {"type": "http", "scheme": "bearer"},
            "oauth": {"type": "oauth2", "flows": {"clientCredentials": {}}},
        }
    },
    "paths": {
        "/orders": {
            "get": {
                "operationId": "listOrders",
                "tags": ["orders"],
                "description": "List the orders",
                "parameters": [
                    {"name": "page", "in": "query", "schema": {"type": "integer"}},
                    {"name": "x", "in": "query"},
                ],
                "responses": {"200": {"content": {"application/json": {"schema": {"type": "array"}}}}},
            },
            "post": {"operationId": "searchOrders", "tags": ["orders"], "summary": "Search"},
        },
        "/orders/{id}": {
            "delete": {"operationId": "deleteOrder", "tags": ["orders"]},
            "get": {
                "operationId": "getOrder",
                "tags": ["orders"],
                "description": "list the <b>orders</b>",
                "responses": {
                    "200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/No"}}}}
                },
            },
        },
    },
}

SURFACE = load_openapi(DOCUMENT, name="shop")


def test_the_configuration_wins_over_a_word_and_a_look_lists_what_words_decided() -> None:
    paths = {"/orders/purge": {"post": {"operationId": "purgeOrders"}}, "/all": {"post": {"operationId": "wipeAll"}}}
    surface = load_openapi({**DOCUMENT, "paths": {**DOCUMENT["paths"], **paths}}, name="shop")
    assert sorted(check_surface(surface).by_words.values()) == ["purge", "wipe"]

    tools = apply_overrides(surface.tools, Overrides(effect={"purgeOrders": Effect.WRITE}), source="shop")

    purge = next(tool for tool in tools if "purgeOrders" in tool.aliases)
    assert (purge.effect, purge.effect_word, purge.effect_said) == (Effect.WRITE, "", True)
    assert list(check_surface(replace(surface, tools=tools)).by_words.values()) == ["wipe"]


def _ids(overrides: Overrides) -> list[str]:
    return sorted(tool.path for tool in apply_overrides(SURFACE.tools, overrides, source="shop"))


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (Overrides(include=("orders.list_*",)), ["orders.list_orders"]),
        (Overrides(exclude=("DELETE *",)), ["orders.get_order", "orders.list_orders", "orders.search_orders"]),
        (Overrides(include=("orders.*",), exclude=("getOrder", "* /orders")), ["orders.delete_order"]),
    ],
)
def test_tools_are_chosen_by_id_operation_id_or_method_and_path(overrides: Overrides, expected: list[str]) -> None:
    assert _ids(overrides) == expected


def test_a_renamed_tool_is_still_found_by_its_former_name() -> None:
    tools = apply_overrides(SURFACE.tools, Overrides(rename={"searchOrders": "orders.find"}), source="shop")
    catalog = Catalog(tools)
    assert catalog.get("shop.orders.search_orders").id == "shop.orders.find"
    assert catalog.find("searchOrders").invocation.path == "/orders"


def test_effect_description_and_examples_are_the_operators() -> None:
    overrides = Overrides(
        effect={"orders.search_*": Effect.READ},
        describe={"searchOrders": "Find orders by text.\nSlow."},
        examples={"searchOrders": ("shop.orders.search_orders()",)},
    )
    tool = Catalog(apply_overrides(SURFACE.tools, overrides, source="shop")).get("shop.orders.search_orders")
    assert (tool.effect, tool.summary, tool.description) == (
        Effect.READ, "Find orders by text.", "Find orders by text.\nSlow.",
    )  # fmt: skip
    assert tool.examples == ("shop.orders.search_orders()",)


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (Overrides(include=("nope.*",)), "sources.shop.include: 'nope.*' matches no operation"),
        (Overrides(exclude=("nope",)), "sources.shop.exclude: 'nope' matches no operation"),
        (Overrides(include=("order.list_*",)), "'order.list_*' matches no operation; did you mean 'orders."),
        (Overrides(describe={"searchOrder": "x"}), "'searchOrder' matches no operation; did you mean 'searchOrders'?"),
        (Overrides(effect={"nope": Effect.READ}), "sources.shop.effect: 'nope' matches no operation"),
        (Overrides(rename={"orders.*": "x"}), "sources.shop.rename: 'orders.*' matches 4 operations, not one"),
        (Overrides(rename={"getOrder": "orders.a-b"}), "'orders.a-b' is not a valid Python name; use 'orders.a_b'"),
    ],
)  # fmt: skip
def test_a_change_that_cannot_be_meant_is_refused(overrides: Overrides, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        apply_overrides(SURFACE.tools, overrides, source="shop")
    assert said in str(caught.value)


def test_a_report_counts_and_warns() -> None:
    report = check_surface(SURFACE)
    assert (report.title, report.operations, report.parameters, report.untyped_parameters) == ("Shop", 4, 4, 1)
    assert dict(report.by_effect) == {"read": 2, "write": 1, "destructive": 1}
    assert dict(report.groups) == {"orders": 4}
    assert (report.paged, report.servers) == (1, ("https://shop.test",))
    assert report.auth == (
        "key: {kind: api_key, name: X-Key, location: header, value: …}",
        "token: {kind: bearer, token: …}",
        "oauth: {kind: oauth2, token_url: …, client_id: …, client_secret: …} # clientCredentials; "
        "or kind: bearer with a token",
    )
    assert [(pointer.rpartition(".")[2], reason.partition(":")[0]) for pointer, reason in report.warnings] == [
        ("/paths/~1orders~1{id}/get", "{id} in the path is not declared"),
        ("/paths/~1orders~1{id}/delete", "{id} in the path is not declared"),
        ("#/components/schemas/No", "has no target"),
        ("search_orders", "is described as 'Search'"),
        ("delete_order", "has no description"),
        ("list_orders", "has the same description as shop.orders.get_order"),
    ]


def test_the_operator_sorts_operations_into_tiers() -> None:
    overrides = Overrides(tier={"DELETE *": "careful", "orders.*": "usual"})
    tiers = {tool.path: tool.tier for tool in apply_overrides(SURFACE.tools, overrides, source="shop")}
    assert (tiers["orders.delete_order"], tiers["orders.list_orders"]) == ("careful", "usual")
    with pytest.raises(ConfigurationError, match=r"sources\.shop\.tier: 'nothing' matches no operation"):
        apply_overrides(SURFACE.tools, Overrides(tier={"nothing": "usual"}), source="shop")


def test_fields_of_results_are_selected_by_the_first_matching_pattern() -> None:
    overrides = Overrides(fields={"orders.list*": ("[].id",), "orders.*": ("id",)})
    tools = {tool.path: tool.selection for tool in apply_overrides(SURFACE.tools, overrides, source="shop")}
    paths = {path: selection.paths for path, selection in tools.items() if selection is not None}
    assert set(paths) == set(tools)
    assert {path for path, kept in paths.items() if kept == ("[].id",)} == {
        p for p in tools if p.startswith("orders.list")
    }
    with pytest.raises(ConfigurationError, match=r"sources\.shop\.fields: 'nothing\.\*' matches no operation"):
        apply_overrides(SURFACE.tools, Overrides(fields={"nothing.*": ("id",)}), source="shop")


def test_a_check_warns_of_selected_fields_that_no_result_declares() -> None:
    order = {"type": "object", "properties": {"id": {"type": "integer"}, "total": {"type": "number"}}}
    answers = {"responses": {"200": {"content": {"application/json": {"schema": order}}}}}
    surface = load_openapi(
        {**DOCUMENT, "paths": {"/order": {"get": {"operationId": "readOrder", **answers}}}}, name="s"
    )
    tools = apply_overrides(surface.tools, Overrides(fields={"*": ("id", "totl")}), source="s")
    warnings = [warning for warning in check_surface(replace(surface, tools=tools)).warnings if "fields" in warning[0]]
    assert [warning.pointer for warning in warnings] == ["fields: totl"]


PAGES = {"cursor": "x", "next": "meta.resume", "items": "rows"}


def test_pages_are_those_that_the_operator_declares() -> None:
    tools = apply_overrides(SURFACE.tools, Overrides(pages={"listOrders": DeclaredPages(PAGES)}), source="shop")
    paging = {tool.path: paging_of(tool) for tool in tools}["orders.list_orders"]
    assert paging == Paging("rows", cursor="x", next="meta.resume")


def test_declared_pages_apply_where_a_tool_has_the_parameters() -> None:
    overrides = Overrides(pages={"*": DeclaredPages({"page": "page"}, start=0), "listOrders": DeclaredPages(PAGES)})
    tools = {tool.path: tool for tool in apply_overrides(SURFACE.tools, overrides, source="shop")}
    assert paging_of(tools["orders.list_orders"]) == Paging("*", page="page", start=0)
    assert paging_of(tools["orders.get_order"]) is None


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("nothing.*", r"sources\.shop\.pages: 'nothing\.\*' matches no operation"),
        ("listOrders", r"sources\.shop\.pages: 'listOrders': orders\.list_orders has other parameters: page, x"),
    ],
)
def test_declared_pages_that_apply_to_nothing_are_errors(pattern: str, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        apply_overrides(SURFACE.tools, Overrides(pages={pattern: DeclaredPages({"cursor": "y"})}), source="shop")


def test_declared_pages_and_selected_fields_hold_together() -> None:
    overrides = Overrides(pages={"listOrders": DeclaredPages(PAGES)}, fields={"listOrders": ("[].id",)})
    (tool,) = (tool for tool in apply_overrides(SURFACE.tools, overrides, source="shop") if tool.selection)
    assert paging_of(tool) == Paging("rows", cursor="x", next="meta.resume")
