"""The catalog: exact names only, near ones as suggestions."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from codemode.catalog.catalog import Catalog
from codemode.catalog.tool import Effect, Tool
from codemode.catalog.toolkit import Toolkit
from codemode.catalog.withheld import Withheld
from codemode.errors import ConfigurationError, SourceUnavailable, ToolNotFound


def _tool(id_: str, *aliases: str) -> Tool:
    return Tool(id_, source=id_.partition(".")[0], aliases=aliases, effect=Effect.READ)


CATALOG = Catalog([_tool("gym.clients.list", "listClients"), _tool("gym.classes.list", "listClasses")])


def test_a_tool_is_found_by_its_id() -> None:
    assert CATALOG.get("gym.clients.list").id == "gym.clients.list"


def test_a_tool_is_found_by_an_exact_alias_of_its_source() -> None:
    assert CATALOG.get("gym.listClients").id == "gym.clients.list"
    with pytest.raises(ToolNotFound):
        CATALOG.get("listClients")


def test_a_tool_is_frozen_and_changed_as_a_copy() -> None:
    first = _tool("a.x.one")
    with pytest.raises(FrozenInstanceError):
        first.tier = "core"  # type: ignore[misc]
    assert (first.changed(tier="core").tier, first.tier) == ("core", "")


def test_an_alias_that_two_tools_of_a_source_have_names_neither() -> None:
    catalog = Catalog([_tool("a.x.one", "same"), _tool("a.x.two", "same")])
    with pytest.raises(ToolNotFound):
        catalog.get("a.same")


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


# --- a name is authority -------------------------------------------------------------------------------------------

TAKERS = ("bank.pay", "bank.payments.pay", "pay", "bank")


def _taken(**more: object) -> Catalog:
    """A bank with a tool `pay`, and a shop that lists an operation under every name of the bank's."""
    return Catalog([_tool("bank.pay", "payments.pay"), _tool("shop.buy", *TAKERS)], **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", TAKERS)
def test_an_alias_of_another_source_answers_no_call_where_the_own_tool_is_hidden(name: str) -> None:
    view = _taken().restricted(lambda tool: tool.namespace == "shop")
    with pytest.raises(ToolNotFound, match="there is no tool"):
        view.get(name)


@pytest.mark.parametrize("name", TAKERS)
def test_an_alias_of_another_source_answers_no_call_where_there_is_no_such_source(name: str) -> None:
    with pytest.raises(ToolNotFound):
        Catalog([_tool("shop.buy", *TAKERS)]).get(name)


def test_a_call_to_a_source_that_was_never_read_says_why_whatever_others_call_themselves() -> None:
    catalog = Catalog([_tool("shop.buy", *TAKERS)], unavailable={"bank": "it is still loading"})
    with pytest.raises(SourceUnavailable, match="it is still loading"):
        catalog.get("bank.pay")
    with pytest.raises(SourceUnavailable):
        catalog.find("bank.pay")


def test_an_alias_belongs_to_its_source_and_two_sources_may_have_the_same() -> None:
    catalog = Catalog([_tool("a.x.one", "same"), _tool("b.x.two", "same")])
    assert (catalog.get("a.same").id, catalog.get("b.same").id) == ("a.x.one", "b.x.two")


def test_an_alias_never_takes_the_name_of_a_hidden_tool_of_its_own_source() -> None:
    catalog = Catalog([_tool("bank.pay"), _tool("bank.wipe", "pay", "bank.pay")])
    assert catalog.get("bank.pay").id == "bank.pay"
    with pytest.raises(ToolNotFound):
        catalog.restricted(lambda tool: tool.id != "bank.pay").get("bank.pay")


def test_an_alias_of_two_tools_stays_ambiguous_for_a_role_that_sees_one() -> None:
    view = Catalog([_tool("bank.pay", "send"), _tool("bank.wipe", "send")]).restricted(lambda tool: "wipe" in tool.id)
    with pytest.raises(ToolNotFound):
        view.get("bank.send")


def test_an_alias_never_takes_a_withheld_name() -> None:
    catalog = Catalog([_tool("bank.wipe", "pay", "erase")], withheld={"bank.pay": Withheld.GONE})
    assert catalog.get("bank.erase").id == "bank.wipe"
    for one in (catalog, catalog.merged(Catalog()), catalog.restricted(lambda _: True)):
        with pytest.raises(ToolNotFound):
            one.get("bank.pay")


@pytest.mark.parametrize(
    "name",
    [
        "Bank.pay",
        "bank.Pay",
        "bank.\N{CYRILLIC SMALL LETTER ER}ay",
        "\N{FULLWIDTH LATIN SMALL LETTER B}ank.pay",
        "bank.pay ",
        "bank..pay",
        ".bank.pay",
    ],
)
def test_a_name_is_compared_letter_by_letter(name: str) -> None:
    with pytest.raises(ToolNotFound):
        _taken().get(name)


def test_a_reader_finds_a_tool_by_the_alias_that_one_tool_has() -> None:
    assert CATALOG.find("listClients").id == "gym.clients.list"
    assert CATALOG.find("gym.listClients").id == "gym.clients.list"
    with pytest.raises(ToolNotFound):
        Catalog([_tool("a.x.one", "same"), _tool("b.x.two", "same")]).find("same")
