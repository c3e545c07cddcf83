"""The catalog: exact names only, near ones as suggestions."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from codemode.catalog.catalog import Catalog
from codemode.catalog.tool import Effect, Tool
from codemode.catalog.toolkit import Toolkit
from codemode.errors import ConfigurationError, ToolNotFound


def _tool(id_: str, *aliases: str) -> Tool:
    return Tool(id_, source=id_.partition(".")[0], aliases=aliases, effect=Effect.READ)


CATALOG = Catalog([_tool("gym.clients.list", "listClients"), _tool("gym.classes.list", "listClasses")])


def test_a_tool_is_found_by_its_id() -> None:
    assert CATALOG.get("gym.clients.list").id == "gym.clients.list"


@pytest.mark.parametrize("name", ["listClients", "gym.listClients"])
def test_a_tool_is_found_by_an_exact_alias(name: str) -> None:
    assert CATALOG.get(name).id == "gym.clients.list"


def test_a_tool_is_frozen_and_changed_as_a_copy() -> None:
    first = _tool("a.x.one")
    with pytest.raises(FrozenInstanceError):
        first.tier = "core"  # type: ignore[misc]
    assert (first.changed(tier="core").tier, first.tier) == ("core", "")


def test_an_alias_that_two_tools_have_finds_neither() -> None:
    catalog = Catalog([_tool("a.x.one", "same"), _tool("b.x.two", "same")])
    with pytest.raises(ToolNotFound):
        catalog.get("same")


def test_a_near_name_is_suggested_and_never_taken() -> None:
    with pytest.raises(ToolNotFound) as caught:
        CATALOG.get("gym.client.list")
    assert caught.value.nearest[0] == "gym.clients.list"
    assert "there is no tool 'gym.client.list'; nearest: gym.clients.list" in str(caught.value)


def test_a_name_like_nothing_gets_no_suggestion() -> None:
    assert CATALOG.nearest("zzzz") == ()


def test_two_tools_of_one_id_are_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"two tools have the id 'gym\.clients\.list'"):
        CATALOG.merged(Catalog([_tool("gym.clients.list")]))


def test_the_order_of_the_tools_changes_nothing() -> None:
    turned = Catalog(reversed(CATALOG.tools))
    assert [tool.id for tool in turned] == ["gym.classes.list", "gym.clients.list"]
    assert turned.digest == CATALOG.digest


def test_a_view_has_only_what_the_predicate_allows() -> None:
    view = CATALOG.restricted(lambda tool: "clients" in tool.id)
    assert [tool.id for tool in view] == ["gym.clients.list"]
    assert "gym.classes.list" not in view
    assert view.digest != CATALOG.digest
    with pytest.raises(ToolNotFound):
        view.get("gym.classes.list")


def test_namespaces_are_counted() -> None:
    assert CATALOG.merged(Catalog([_tool("crm.a.b")])).namespaces == {"gym": 2, "crm": 1}


def test_a_toolkit_knows_its_tools_by_their_keys_and_is_in_no_view_without_them() -> None:
    listed = Tool("gym.clients.list", source="gym", key="clients/list")
    frozen = Tool("gym.memberships.freeze", source="gym", key="memberships/freeze")
    same_key = Tool("other.clients.list", source="other", key="clients/list")
    clients = Toolkit("clients", "gym", frozenset({"clients/list", "clients/gone"}), instructions="Ask first.")
    catalog = Catalog([listed, frozen, same_key], [clients])
    renamed = catalog.restricted(lambda tool: tool is not listed).merged(Catalog([listed.changed(id="gym.members")]))
    assert catalog.tools_of(clients) == (listed,)
    assert catalog.toolkit("gym.clients") is clients
    assert catalog.restricted(lambda tool: tool is not listed).toolkits == ()
    assert Catalog(renamed, [clients]).tools_of(clients)[0].id == "gym.members"


CLIENTS = Catalog(
    Tool(f"gym.clients.{name}", source="gym", effect=effect)
    for name, effect in {
        "get_clients_list": Effect.READ,
        "get_client_details": Effect.READ,
        "create_client": Effect.WRITE,
        "update_client": Effect.WRITE,
        "delete_client": Effect.DESTRUCTIVE,
        "merge_clients": Effect.DESTRUCTIVE,
    }.items()
)


@pytest.mark.parametrize(
    ("written", "first"),
    [
        ("gym.clients.list", "get_clients_list"),
        ("gym.clients.get", "get_clients_list"),
        ("gym.clients.client_detail", "get_client_details"),
        ("gym.clients.fetch_clients", "get_clients_list"),
        ("gym.clients.add_client", "create_client"),
        ("gym.clients.edit_client", "update_client"),
        ("gym.clients.remove_client", "delete_client"),
        ("gym.clients.delte_client", "delete_client"),
    ],
)
def test_near_names_go_by_what_their_verbs_mean(written: str, first: str) -> None:
    assert CLIENTS.nearest(written)[0] == f"gym.clients.{first}"


@pytest.mark.parametrize("written", ["list", "get_client", "add_client", "client", "check_client", "merge"])
def test_a_destructive_tool_is_never_suggested_before_others_unless_it_was_meant(written: str) -> None:
    effects = [CLIENTS.get(id_).effect for id_ in CLIENTS.nearest(f"gym.clients.{written}", 6)]
    assert effects == sorted(effects, key=lambda effect: effect is Effect.DESTRUCTIVE)


@pytest.mark.parametrize("written", ["get_clients_list", "get_client_list", "clients.get_clients_list"])
def test_a_tool_is_known_by_the_end_of_its_name(written: str) -> None:
    assert CLIENTS.called(written)[:1] == ("gym.clients.get_clients_list",)


def test_a_name_that_no_tool_ends_in_is_of_none() -> None:
    assert CLIENTS.called("rows") == CLIENTS.called("clients") == ()
