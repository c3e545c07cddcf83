"""Mutations below the root of a GraphQL schema, and selections that reach them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from graphql import build_schema, graphql
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from codemode import CodeMode
from codemode.catalog import stubs
from codemode.settings import Settings
from codemode.sources.graphql.operations import DEEPEST, MOST_NESTED
from codemode.sources.graphql.source import _surface
from tests.unit.codemode.sources.served import served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.requests import Request

SDL = """
type Query { pages: PageQuery! version: String page(id: Int!): Page }
type PageQuery { single(id: Int!): Page list(limit: Int): [Page!]! }
type Page { id: Int! title: String tag(name: String!): String }
type Result { ok: Boolean! page: Page pages: PageMutation }
type Mutation {
  pages: PageMutation!
  page(id: Int!): PageEditor
  createPage(title: String!): CreatePagePayload!
  shared(id: Int!): Page
}
type PageMutation {
  "Create a page."
  create(title: String!): Result!
  "Delete a page."
  delete(id: Int!): Result!
  flushCache: Result!
  purge: Boolean!
}
type PageEditor {
  id: Int!
  rename(title: String!): Result!
  delete(reason: String): Result!
  comment(id: Int!): CommentEditor!
}
type CommentEditor { text: String delete(id: Int): Result! }
type CreatePagePayload { page: Page publish(at: String): Result! errors(first: Int): [String!] }
"""


class _Root:
    """Records what was done. Every field that is an object leads back here."""

    def __init__(self, done: list[str]) -> None:
        self._done = done

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)

        def resolve(_: Any, **arguments: Any) -> Any:
            values = {"id": 1, "title": "Home", "ok": True, "text": "Hm", "version": "1", "purge": True, "errors": []}
            if name not in {"pages", "page", "comment", *values} or name == "purge" or arguments.get("title"):
                self._done.append(f"{name}{arguments or ''}")
            return [self] if name == "list" else values.get(name, self)

        return resolve


@pytest.fixture
def done() -> list[str]:
    """What the service did."""
    return []


@pytest.fixture
async def open_wiki(done: list[str], tmp_path: Any) -> AsyncIterator[Callable[..., CodeMode]]:
    schema = build_schema(SDL)

    async def answer(request: Request) -> JSONResponse:
        body = json.loads(await request.body())
        ended = await graphql(schema, body["query"], _Root(done), variable_values=body.get("variables"))
        return JSONResponse(ended.formatted)

    async with served(Starlette(routes=[Route("/graphql", answer, methods=["POST"])])) as base:

        def opened(policy: Any = None, **source: Any) -> CodeMode:
            wiki = {"kind": "graphql", "location": f"{base}/graphql", **source}
            folders = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"}
            data = {"sources": {"wiki": wiki}, **({"policy": policy} if policy else {}), **folders}
            return CodeMode.from_settings(Settings.model_validate(data))

        yield opened


async def test_each_nested_mutation_is_a_tool_with_its_own_effect_and_the_arguments_of_all_levels(
    open_wiki: Callable[..., CodeMode],
) -> None:
    async with open_wiki() as wiki:
        tools = {tool.path: (str(tool.effect), stubs.signature(tool).partition(" -> ")[0]) for tool in wiki.catalog}
    fields = "fields: str | None = None)"
    assert tools == {
        "queries.pages": ("read", f"wiki.queries.pages(*, {fields}"),
        "queries.page": ("read", f"wiki.queries.page(*, id: int, {fields}"),
        "queries.version": ("read", "wiki.queries.version()"),
        "mutations.pages.create": ("write", f"wiki.mutations.pages.create(*, title: str, {fields}"),
        "mutations.pages.delete": ("destructive", f"wiki.mutations.pages.delete(*, id: int, {fields}"),
        "mutations.pages.flush_cache": ("write", f"wiki.mutations.pages.flush_cache(*, {fields}"),
        "mutations.pages.purge": ("destructive", "wiki.mutations.pages.purge()"),
        "mutations.page": ("write", f"wiki.mutations.page(*, id: int, {fields}"),
        "mutations.page_rename": ("write", f"wiki.mutations.page_rename(*, title: str, id: int, {fields}"),
        "mutations.page_delete": (
            "destructive",
            f"wiki.mutations.page_delete(*, id: int, reason: str | None = None, {fields}",
        ),
        "mutations.page_comment": ("write", f"wiki.mutations.page_comment(*, id: int, page_id: int, {fields}"),
        "mutations.page_comment_delete": (
            "destructive",
            f"wiki.mutations.page_comment_delete(*, comment_id: int, page_id: int, id: int | None = None, {fields}",
        ),
        "mutations.create_page": ("write", f"wiki.mutations.create_page(*, title: str, {fields}"),
        "mutations.create_page_publish": (
            "write",
            f"wiki.mutations.create_page_publish(*, title: str, at: str | None = None, {fields}",
        ),
        "mutations.shared": ("write", f"wiki.mutations.shared(*, id: int, {fields}"),
    }


async def test_a_nested_mutation_is_called_with_the_arguments_of_all_levels(
    open_wiki: Callable[..., CodeMode], done: list[str]
) -> None:
    async with open_wiki({"default": {"destructive": "allow"}}) as wiki:
        code = """
wiki.mutations.pages.delete(id=7, fields="ok")
wiki.mutations.page_comment_delete(id=3, page_id=7, comment_id=4, fields="ok")
wiki.mutations.pages.purge()
"""
        assert (await wiki.execute(code)).value is True
        assert (await wiki.execute("wiki.pages.delete(id=8)")).value == {"ok": True, "page": {"id": 1, "title": "Home"}}
    assert done == ["delete{'id': 7}", "delete{'id': 3}", "purge", "delete{'id': 8}"]


async def test_a_default_selection_reaches_no_mutation(open_wiki: Callable[..., CodeMode], done: list[str]) -> None:
    async with open_wiki() as wiki:
        assert (await wiki.execute("wiki.mutations.page(id=3)")).value == {"id": 1}
        assert (await wiki.execute("wiki.mutations.create_page(title='A')")).value["page"] == {"id": 1, "title": "Home"}
    assert done == ["createPage{'title': 'A'}"]


SELECTIONS = {
    "a field": "delete { ok }",
    "an alias": "id: delete { ok }",
    "a directive": "delete @include(if: true) { ok }",
    "an inline fragment": "... on PageEditor { ... { delete { ok } } }",
    "deep": 'rename(title: "B") { ok page { id } pages { delete(id: 7) { ok } } }',
    "the last of several": 'id a: rename(title: "B") { ok } comment(id: 3) { delete(id: 4) { ok } }',
    "a flag": 'rename(title: "B") { pages { purge } }',
    "a comment": "id # { \n delete { ok }",
    "a block string": 'delete(reason: """ } """) { ok }',
}


@pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS)
async def test_a_selection_is_judged_by_the_worst_mutation_that_it_reaches(
    open_wiki: Callable[..., CodeMode], done: list[str], selection: str
) -> None:
    async with open_wiki() as wiki:
        ended = await wiki.execute(f"wiki.mutations.page(id=3, fields={selection!r})")
        assert ended.failure is not None
        assert ended.failure.type == "ApprovalRequired", ended.failure
        assert [(str(call.state), call.effect) for call in ended.calls] == [("pending", "destructive")]
    assert done == []


async def test_the_group_of_mutations_is_no_tool_so_its_selection_cannot_pass(
    open_wiki: Callable[..., CodeMode], done: list[str]
) -> None:
    async with open_wiki() as wiki:
        ended = await wiki.execute('wiki.mutations.pages(fields="delete(id: 7) { ok }")')
        assert ended.failure is not None
        assert "wiki.mutations.pages.delete" in str(ended.failure)
    assert done == []


RULES = {
    "denied by name": ({"tools": "*.page_delete", "decision": "deny"}, "delete { ok }", "failed"),
    "denied by argument": (
        {"tools": "*.page_delete", "where": {"reason": "spam"}, "decision": "deny"},
        'delete(reason: "spam") { ok }',
        "denied",
    ),
    "asked by argument": (
        {"tools": "*.page_comment_delete", "where": {"id": "4"}, "decision": "ask"},
        "comment(id: 3) { delete(id: 4) { ok } }",
        "pending",
    ),
    "no rule": ({"tools": "*.purge", "decision": "deny"}, "delete { ok }", "committed"),
}


@pytest.mark.parametrize(("rule", "selection", "state"), RULES.values(), ids=RULES)
async def test_rules_on_a_nested_mutation_hold_for_selections_that_reach_it(
    open_wiki: Callable[..., CodeMode], rule: dict[str, Any], selection: str, state: str
) -> None:
    policy = {"rules": [rule], "default": {"destructive": "allow"}}
    async with open_wiki(policy) as wiki:
        ended = await wiki.execute(f"wiki.mutations.page(id=3, fields={selection!r})")
    assert [str(call.state) for call in ended.calls] == [state], ended.failure


async def test_a_nested_mutation_that_is_excluded_is_not_reached_either(
    open_wiki: Callable[..., CodeMode], done: list[str]
) -> None:
    async with open_wiki({"default": {"destructive": "allow"}}, exclude=["mutations.page_delete"]) as wiki:
        ended = await wiki.execute('wiki.mutations.page(id=3, fields="delete { ok }")')
        assert ended.failure is not None
        assert "page.delete is an operation of its own, and is not available here" in ended.failure.message
    assert done == []


async def test_an_effect_that_the_operator_declares_counts_for_selections_too(
    open_wiki: Callable[..., CodeMode], done: list[str]
) -> None:
    async with open_wiki(effect={"mutations.page_delete": "write"}) as wiki:
        ended = await wiki.execute('wiki.mutations.page(id=3, fields="delete { ok }")')
        assert (ended.value, [call.effect for call in ended.calls]) == ({"delete": {"ok": True}}, ["write"])
    assert done == ["delete"]


async def test_a_read_only_key_reaches_no_mutation_and_nested_queries_are_reads(
    open_wiki: Callable[..., CodeMode], done: list[str]
) -> None:
    async with open_wiki({"read_only": True}, effect={"mutations.shared": "read"}) as wiki:
        read = await wiki.execute("wiki.queries.pages(fields='single(id: 7) { title } list { tag(name: \"x\") id }')")
        assert read.value["single"] == {"title": "Home"}
        refused = await wiki.execute("wiki.mutations.pages.create(title='A')")
        assert refused.failure is not None
        assert "only reads are allowed here" in refused.failure.message
    assert [one for one in done if not one.startswith(("single", "list", "tag"))] == []


SHAPES = {
    "one type for reads and changes": (
        """
        type Query { pages: Pages }
        type Mutation { pages: Pages }
        type Pages { list: [String!]! delete(id: Int!): Boolean! }
        """,
        {"mutations.pages.delete": "destructive", "queries.pages": "read"},
        [("queries.pages", "delete(id: 7)", ["destructive"])],
    ),
    "a query that deletes": (
        "type Query { deleteUser(id: ID!): Boolean permissions: Permissions } type Permissions { delete: Boolean! }",
        {"queries.delete_user": "destructive", "queries.permissions": "read"},
        [("queries.permissions", "delete", [])],
    ),
    "payloads are no groups": (
        """
        type Query { user: User users(first: Int): [User!] }
        type User { id: ID! friends(first: Int): [User!] role(name: String!): String }
        type Mutation { createUser(name: String!): CreateUserPayload logout: LogoutPayload }
        type CreateUserPayload { user: User userEdge(orderBy: [String!]): String query: Query clientMutationId: String }
        type LogoutPayload { ok: Boolean! }
        """,
        {
            "queries.user": "read",
            "queries.users": "read",
            "mutations.create_user": "write",
            "mutations.logout": "write",
        },
        [("mutations.create_user", 'user { friends { role(name: "x") } } query { users { id } }', [])],
    ),
    "lists and unions": (
        """
        type Query { a: String }
        type Mutation { pages(ids: [ID!]!): [PageOps!]! any(id: ID!): Any }
        union Any = PageOps | Other
        type Other { a: String }
        type PageOps { a: String remove: Boolean! }
        """,
        {"queries.a": "read", "mutations.pages": "write", "mutations.any": "write"},
        [
            ("mutations.pages", "a remove", ["destructive"]),
            ("mutations.any", "... on Other { a } ... on PageOps { remove }", ["destructive"]),
        ],
    ),
    "nested mutations of a readable type": (
        """
        type Query { post(id: ID!): Post }
        type Mutation { post(id: ID!): Post }
        type Post { id: ID! title: String update(title: String!): Post delete: Post release(tag: String!): String }
        """,
        {
            "queries.post": "read",
            "mutations.post": "write",
            "mutations.post_update": "write",
            "mutations.post_delete": "destructive",
        },
        [
            ("mutations.post", 'title release(tag: "v1")', []),
            ("mutations.post", 'update(title: "B") { delete { id } }', ["destructive", "write"]),
            ("queries.post", "delete { id }", ["destructive"]),
        ],
    ),
    "groups of groups": (
        """
        type Query { a: String }
        type Mutation { admin: Admin! }
        interface Admin { users: Users! billing: Billing }
        type Users { ban(id: ID!): Boolean remove(id: ID!): Boolean count: Int }
        type Billing { invoice(id: ID!): InvoiceActions currency: String charge(amount: Int!): Boolean }
        type InvoiceActions { number: Int void: Receipt pay: Receipt }
        type Receipt { id: ID! }
        """,
        {
            "queries.a": "read",
            "mutations.admin.users.ban": "write",
            "mutations.admin.users.remove": "destructive",
            "mutations.admin.billing.charge": "write",
            "mutations.admin.billing.invoice": "write",
            "mutations.admin.billing.invoice_pay": "write",
            "mutations.admin.billing.invoice_void": "destructive",
        },
        [("mutations.admin.billing.invoice", "number void { id }", ["destructive"])],
    ),
    "groups beside flags": (
        """
        type Query { a: String }
        type Mutation { admin: Admin! payload: Payload }
        type Admin { users: Users! wipe: Boolean! reindex: Boolean }
        type Users { remove(id: ID!): Boolean }
        type Payload { users: Users ok: Boolean }
        """,
        {
            "queries.a": "read",
            "mutations.admin.users.remove": "destructive",
            "mutations.admin.wipe": "destructive",
            "mutations.admin.reindex": "write",
            "mutations.payload": "write",
        },
        [("mutations.payload", "ok users { remove(id: 1) }", ["destructive"])],
    ),
    "types in a circle": (
        """
        type Query { a: String }
        type Mutation { a: AMutation }
        type AMutation { b: BMutation deleteA(id: ID!): Int }
        type BMutation { a: AMutation deleteB(id: ID!): Int }
        """,
        {"queries.a": "read", "mutations.a.delete_a": "destructive", "mutations.a.b.delete_b": "destructive"},
        [],
    ),
}


@pytest.mark.parametrize(("sdl", "effects", "selections"), SHAPES.values(), ids=SHAPES)
def test_schemas_of_other_shapes(
    sdl: str, effects: dict[str, str], selections: list[tuple[str, str, list[str]]]
) -> None:
    tools = {tool.path: tool for tool in _surface("g", build_schema(sdl), "", {}).tools}
    assert {path: str(tool.effect) for path, tool in tools.items()} == effects
    for path, text, reached in selections:
        reaches = tools[path].details.reaches
        assert reaches is not None
        assert sorted(str(one.effect) for one in reaches({"fields": text})) == reached


def test_a_schema_whose_groups_multiply_is_cut_with_a_warning() -> None:
    levels = DEEPEST + 2
    types = [
        f"type L{level}Mutation {{ {' '.join(f'g{n}: L{level + 1}Mutation' for n in range(9))} drop(id: ID!): Int }}"
        for level in range(levels)
    ]
    sdl = "type Query { a: String } type Mutation { g: L0Mutation } " + " ".join(types)
    surface = _surface("g", build_schema(f"{sdl} type L{levels}Mutation {{ drop(id: ID!): Int }}"), "", {})
    cut = f"only the first {MOST_NESTED:,} mutations below the root are tools"
    assert [warning.reason for warning in surface.warnings] == [cut]
    assert len(surface.tools) <= MOST_NESTED + 2


def test_a_deep_selection_is_read_and_one_that_is_no_selection_reaches_nothing() -> None:
    sdl = "type Query { a: String } type Mutation { a(id: ID!): AOps } type AOps { a: AOps remove: Boolean! }"
    tools = {tool.path: tool for tool in _surface("g", build_schema(sdl), "", {}).tools}
    reaches = tools["mutations.a"].details.reaches
    assert reaches is not None
    deep = "a { " * 150 + "remove" + " }" * 150
    assert str(reaches({"fields": deep})[-1].effect) == "destructive"
    for text in ("a { " * 100_000, "remove " * 100_000, "} remove {", "", "remove } query B { a", 7, None):
        assert reaches({"fields": text}) == ()
