"""Look-ups: `X from: Y` only if Y returns records with such a value."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.catalog.catalog import Catalog
from codemode.catalog.schema import Schema
from codemode.catalog.tool import Effect, Location, Parameter, Tool
from codemode.search.index.index import Index
from codemode.search.query import Query

ID, NAME = {"id": {"type": "integer"}}, {"name": {"type": "string"}}


def record(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {**ID, **NAME, **fields}}


def listed(item: Any) -> dict[str, Any]:
    return {"type": "array", "items": item}


def page(item: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"items": listed(item), "total": {"type": "integer"}}}


def tool(
    id_: str,
    *required: str,
    returns: Any = None,
    effect: Effect = Effect.READ,
    key: str = "",
    body: tuple[str, ...] = (),
) -> Tool:
    parameters = [Parameter(name, name, Location.PATH, required=True, schema=Schema.of({})) for name in required]
    parameters += [Parameter(name, name, Location.BODY_FIELD, required=True, schema=Schema.of({})) for name in body]
    return Tool(
        id_,
        source=id_.partition(".")[0],
        summary=id_.rpartition(".")[2].replace("_", " "),
        parameters=tuple(parameters),
        effect=effect,
        key=key,
        returns=None if returns is None else Schema.of(returns),
    )


def look_ups(of: Tool, *others: Tool) -> dict[str, str]:
    index = Index.build(Catalog([of, *others]))
    hits = index.with_look_ups(index.search(Query((of.id,))))
    return {one.parameter: one.tool.id for one in hits.look_ups[of.id]}


FREEZE = tool("gym.members.freeze_member", "member_id", effect=Effect.WRITE)


@pytest.mark.parametrize(
    "provider",
    [
        tool("gym.members.list_members", returns=listed(record())),
        tool("gym.members.get_members_list", returns=page(record())),
        tool("gym.visits.list_member_visits_by_date", returns=listed(record(member_id={"type": "integer"}))),
        tool("gym.members.find_members_by_name", "name", returns=page(record())),
        tool("gym.members.list", returns=listed({"type": "object", "properties": {"memberId": {"type": "string"}}})),
        tool("gym.members.search_members"),
        tool("gym.members.list_members", returns={"type": "array"}),
    ],
    ids=lambda one: one.id,
)
def test_a_tool_that_returns_such_records_provides_an_id(provider: Tool) -> None:
    expected = {} if "visits" in provider.id else {"member_id": provider.id}
    assert look_ups(FREEZE, provider) == expected


@pytest.mark.parametrize(
    "other",
    [
        tool("gym.members.count_members", returns={"type": "integer"}),
        tool("gym.members.count_members"),
        tool("gym.members.list_members", returns=listed({"type": "string"})),
        tool("gym.members.get_members_export", returns={"type": "string"}),
        tool("gym.settings.get_member_settings", returns={"type": "object", "properties": {"limit": {}}}),
        tool("gym.settings.get_member_settings"),
        tool("gym.members.list_hooks", returns=listed(record())),
        tool("gym.members.get_member", "member_id", returns=record()),
        tool("gym.members.list_member_visits", "member_id", returns=listed(record())),
        tool("gym.members.delete_members", returns=listed(record()), effect=Effect.WRITE),
    ],
    ids=lambda one: f"{one.id} {one.returns and one.returns.value}",
)
def test_a_tool_without_such_records_provides_no_id(other: Tool) -> None:
    assert look_ups(FREEZE, other) == {}


def test_in_a_rest_api_the_list_at_the_path_provides_the_id() -> None:
    delete = tool(
        "git.repo_delete_release", "owner", "id", effect=Effect.DESTRUCTIVE, key="DELETE /repos/{owner}/releases/{id}"
    )
    releases = tool("git.repo_list_releases", "owner", returns=listed(record()), key="GET /repos/{owner}/releases")
    teams = tool("git.repo_list_teams", "owner", returns=listed(record()), key="GET /repos/{owner}/teams")
    assert look_ups(delete, releases, teams) == {"id": "git.repo_list_releases"}
    assert look_ups(delete, teams) == {}


def test_of_several_providers_the_one_of_the_same_group_and_scope_is_named() -> None:
    delete = tool("git.admin.delete_key", "user", "key_id", effect=Effect.DESTRUCTIVE)
    mine = tool("git.user.list_my_keys", returns=listed(record()))
    theirs = tool("git.user.list_keys", "user", returns=listed(record()))
    own = tool("git.admin.list_keys", "user", returns=listed(record()))
    assert look_ups(delete, mine, theirs) == {"key_id": theirs.id}
    assert look_ups(delete, mine, theirs, own) == {"key_id": own.id}


def test_a_value_that_a_call_brings_along_is_not_looked_up() -> None:
    add = tool("git.keys.add_key", effect=Effect.WRITE, key="POST /keys", body=("key",))
    keys = tool("git.keys.list_keys", returns=listed(record(key={"type": "string"})), key="GET /keys")
    assert look_ups(add, keys) == {}


@pytest.mark.parametrize(("name", "field"), [("customer", "id"), ("name", "metadata"), ("account_identifier", "id")])
def test_the_list_at_a_path_provides_what_stands_in_the_path_whatever_its_name(name: str, field: str) -> None:
    of = tool("shop.refund", name, effect=Effect.WRITE, key=f"POST /customers/{{{name}}}/refunds")
    item = {"type": "object", "properties": {field: {}}}
    assert look_ups(of, tool("shop.get_all", returns=page(item), key="GET /customers")) == {name: "shop.get_all"}
    assert look_ups(of, tool("shop.get_all", returns={"type": "string"}, key="GET /customers")) == {}


def test_a_provider_is_found_behind_many_other_tools_about_the_thing() -> None:
    own = [tool(f"chat.guilds.list_guild_{what}", "guild_id", returns=listed(record())) for what in "abcdefghijklmno"]
    mine = tool("chat.users.list_my_guilds", returns=listed(record()))
    of = tool("chat.guilds.leave_guild", "guild_id", effect=Effect.WRITE, key="DELETE /guilds/{guild_id}/membership")
    assert look_ups(of, *own, mine) == {"guild_id": mine.id}
