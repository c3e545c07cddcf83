"""A GraphQL service on graphql-core and Starlette: a shop with orders in pages."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from graphql import build_schema, graphql
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request

SDL = """
"A shop. Prices are in euro."
schema { query: Query mutation: Mutation subscription: Subscription }

interface Node { id: ID! }
enum Status { OPEN DONE }
scalar DateTime
union Hit = User | Order

"Who buys."
type User implements Node {
  id: ID!
  name: String!
  old: String @deprecated
  friends: [User!]!
  orders(first: Int): OrderConnection!
  badge(size: Int!): String
}
type Line { sku: String! count: Int! order: Order! }
type Order implements Node {
  id: ID!
  total: Float
  status: Status!
  placed: DateTime
  buyer: User!
  lines: [Line!]!
}
type OrderEdge { cursor: String! node: Order! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
type OrderConnection { edges: [OrderEdge!]! nodes: [Order!]! pageInfo: PageInfo! totalCount: Int! }

input LineInput { sku: String! count: Int = 1 }
input OrderInput { buyer: ID! lines: [LineInput!]! status: Status = OPEN, also: OrderInput }

type Query {
  "Find orders. The oldest first."
  orders(first: Int, after: String, status: Status): OrderConnection!
  order(id: ID!): Order
  search(text: String!): [Hit!]!
  node(id: ID!): Node
  version: String!
  page(limit: Int = 2, offset: Int = 0): [User!]!
  fields(fields: String): User
}
type Mutation {
  "Place an order."
  createOrder(input: OrderInput!): Order!
  "Take an order back."
  orderDelete(id: ID!): Boolean!
}
type Subscription { placed: Order! }
"""

SCHEMA = build_schema(SDL)


def made(number: int, buyer: str = "1", lines: list[dict[str, Any]] | None = None, status: str = "OPEN") -> Any:
    order = SimpleNamespace(
        __typename="Order", id=str(number), total=number * 1.5, status=status, placed="2026-01-02T03:04:05Z"
    )
    order.buyer = user(int(buyer))
    order.lines = (
        [SimpleNamespace(sku="tea", count=1, order=order, **one) for one in lines or [{}]]
        if not lines
        else [SimpleNamespace(order=order, **one) for one in lines]
    )
    return order


def user(number: int) -> Any:
    return SimpleNamespace(__typename="User", id=str(number), name=f"user {number}", old="", friends=[])


class Root:
    """What the fields of the roots give."""

    def orders(self, _: Any, first: int | None = None, after: str | None = None, status: str = "OPEN") -> Any:
        if first is None:
            raise ValueError("say how many: first")
        start = int(after or 0)
        every = [made(number, status=status) for number in range(1, 8)]
        some = every[start : start + first]
        edges = [SimpleNamespace(cursor=one.id, node=one) for one in some]
        info = SimpleNamespace(hasNextPage=start + first < len(every), endCursor=str(start + len(some)))
        return SimpleNamespace(edges=edges, nodes=some, pageInfo=info, totalCount=len(every))

    def order(self, _: Any, id: str) -> Any:  # noqa: A002 -- the argument's name
        if id == "13":
            raise ValueError("the order is locked")
        order = made(int(id))
        if id == "14":
            del order.total  # resolves to nothing
            order.buyer = None  # which must not be
        return order

    def search(self, _: Any, text: str) -> Any:
        return [user(1), made(2)] if text else []

    def node(self, _: Any, id: str) -> Any:  # noqa: A002 -- the argument's name
        return user(int(id))

    def version(self, _: Any) -> str:
        return "1.2"

    def page(self, _: Any, limit: int = 2, offset: int = 0) -> Any:
        return [user(number) for number in range(offset, min(offset + limit, 5))]

    def fields(self, _: Any, fields: str | None = None) -> Any:
        return user(len(fields or ""))

    def createOrder(self, _: Any, input: dict[str, Any]) -> Any:  # noqa: A002 -- as above
        return made(99, input["buyer"], input["lines"], input["status"])

    def orderDelete(self, _: Any, id: str) -> bool:  # noqa: A002 -- as above
        return bool(id)


def _type(value: Any, *_: object) -> str:
    return str(vars(value)["__typename"])


def service(*, token: str = "", tells_schema: bool = True, sent: list[dict[str, Any]] | None = None) -> Starlette:
    """The service at `/api/graphql`, with a bearer token if there is one; `sent` gets what it was asked."""

    async def answer(request: Request) -> JSONResponse:
        if token and request.headers.get("authorization") != f"Bearer {token}":
            return JSONResponse({"errors": [{"message": "who are you"}]}, 401)
        body = json.loads(await request.body())
        if sent is not None:
            sent.append(body)
        if not tells_schema and "__schema" in body["query"]:
            return JSONResponse({"errors": [{"message": "introspection is disabled"}]})
        result = await graphql(
            SCHEMA, body["query"], Root(), variable_values=body.get("variables"), type_resolver=_type
        )
        return JSONResponse(result.formatted, headers={"Content-Type": "application/graphql-response+json"})

    return Starlette(routes=[Route("/api/graphql", answer, methods=["POST"])])
