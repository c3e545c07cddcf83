"""Calls of a GraphQL service: one field of its queries or mutations each, as a document with variables over HTTP.

https://spec.graphql.org/October2021/ and https://graphql.github.io/graphql-over-http/; pages are those of
https://relay.dev/graphql/connections.htm.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphql import GraphQLError, parse, validate

from codemode.catalog.paging import items_of, next_arguments, paging_of
from codemode.catalog.schema import Schema
from codemode.catalog.tool import Location, Parameter, Tool
from codemode.errors import AnswerInvalid, ArgumentsInvalid, CallError, UpstreamError
from codemode.transports.base import Page
from codemode.transports.http.invocation import BodyKind, BodyPlan, HttpInvocation

if TYPE_CHECKING:
    from graphql import GraphQLSchema

    from codemode.transports.base import CallContext
    from codemode.transports.http.deferred import DeferredTransport

#: Items of a page where the program does not say how many: services may insist on a number.
PAGE_SIZE = 50

#: Words and signs of a selection that a program may write.
MOST_TOKENS = 1000

_PAGE_INFO = "pageInfo { hasNextPage endCursor }"


@dataclass(frozen=True, slots=True)
class FieldInvocation:
    """One field of the root type.

    `variables` are its arguments and their types by the tool's names; `selection` what is asked of its value unless the
    argument `selecting` says otherwise ("" for what has no fields). `items` is the field of a connection that holds its
    items, `edges` or `nodes`.
    """

    operation: str
    field: str
    variables: Mapping[str, tuple[str, str]]
    selection: str = ""
    selecting: str = ""
    items: str = ""


class GraphqlTransport:
    """Calls one service through `http`, at a path of the base URL. `schema` judges what programs ask for."""

    idempotency_header = ""

    def __init__(
        self, source: str, http: DeferredTransport, path: str, query: tuple[tuple[str, str], ...] = ()
    ) -> None:
        self._source = source
        self._http = http
        body = BodyPlan(BodyKind.JSON, ("application/json",), Schema.of({"type": "object"}), required=True)
        accept = ("application/graphql-response+json", "application/json")
        self._request = Tool(
            f"{source}.graphql",
            source=source,
            parameters=(Parameter("body", "", Location.BODY, required=True, schema=body.schema),),
            invocation=HttpInvocation("POST", path, query=query, body=body, accept=accept),
        )
        self.schema: GraphQLSchema | None = None

    async def ask(
        self, document: str, context: CallContext, variables: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        """The data of an answer. Raises UpstreamError where it has errors, with them and the data that there are."""
        body = {"query": document, "variables": dict(variables or {})}
        answer = await self._http.call(self._request, {"body": body}, context)
        if not isinstance(answer, Mapping) or not ("data" in answer or "errors" in answer):
            message = f"{self._source} gave no answer of GraphQL: neither data nor errors"
            raise AnswerInvalid(message, body=answer)
        if answer.get("errors"):
            message = f"{self._source}: {_in_words(answer['errors'])}"
            raise UpstreamError(message, body={"errors": answer["errors"], "data": answer.get("data")})
        data = answer.get("data")
        return data if isinstance(data, Mapping) else {}

    async def call(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
        """The field's value. Raises ArgumentsInvalid for a selection that the schema does not have, UpstreamError."""
        return await self._value(tool, arguments, context)

    async def call_page(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Page:
        """One page of a connection, or of a list that is asked for by number. Raises what `call` raises, CallError."""
        plan: FieldInvocation = tool.invocation
        paging = paging_of(tool)
        if paging is None:
            message = f"{tool.id} has no pages: call it as it is"
            raise CallError(message)
        if not plan.items:
            value = await self._value(tool, arguments, context)
            return Page(value, items_of(paging, value), next_arguments(tool, paging, arguments, value))
        sized = {paging.size: PAGE_SIZE, **arguments} if paging.size else dict(arguments)
        value = await self._value(tool, sized, context, also=_PAGE_INFO)
        found = value.get(plan.items) if isinstance(value, Mapping) else None
        edges = found if isinstance(found, list) else []
        items = [edge.get("node") if isinstance(edge, Mapping) else edge for edge in edges]
        cursor = _next_cursor(value)
        following = {**arguments, paging.after: cursor} if cursor and cursor != arguments.get(paging.after) else None
        return Page(value, items if plan.items == "edges" else edges, following)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def _value(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext, also: str = "") -> Any:
        plan: FieldInvocation = tool.invocation
        given = {name: value for name, value in arguments.items() if name in plan.variables}
        chosen = arguments.get(plan.selecting) if plan.selecting else None
        document = _document(plan, tuple(given), plan.selection if chosen is None else chosen, also)
        if chosen is not None:
            problem = await asyncio.to_thread(self._problem, chosen, document)
            if problem:
                message = f"{plan.selecting}: {problem.rstrip('.')}; write fields as GraphQL does: 'id user {{ name }}'"
                raise ArgumentsInvalid(tool.id, message, parameter=plan.selecting, valid=tool.parameter_names)
        variables = {plan.variables[name][0]: value for name, value in given.items()}
        return (await self.ask(document, context, variables)).get(plan.field)

    def _problem(self, selection: str, document: str) -> str:
        """What is wrong with a program's selection; empty where nothing is.

        It must be one alone: what ended before its end could ask for other fields of the root, past the policy.
        """
        try:
            if len(parse(f"{{ {selection} }}", max_tokens=MOST_TOKENS).definitions) != 1:
                return "this is more than one selection"
            errors = validate(self.schema, parse(document)) if self.schema else []
        except GraphQLError as error:
            return error.message
        return errors[0].message if errors else ""


def _document(plan: FieldInvocation, given: tuple[str, ...], selection: str, also: str) -> str:
    variables = [plan.variables[name] for name in given]
    declared = ", ".join(f"${name}: {kind}" for name, kind in variables)
    passed = ", ".join(f"{name}: ${name}" for name, _ in variables)
    field = f"{plan.field}({passed})" if passed else plan.field
    selected = f" {{ {selection} {also} }}" if selection else ""
    return f"{plan.operation}{f' ({declared})' if declared else ''} {{ {field}{selected} }}"


def _next_cursor(value: Any) -> str | None:
    info = value.get("pageInfo") if isinstance(value, Mapping) else None
    if not isinstance(info, Mapping) or not info.get("hasNextPage"):
        return None
    cursor = info.get("endCursor")
    return cursor if isinstance(cursor, str) else None


def _in_words(errors: Any) -> str:
    """The first errors, each with where in the answer it stands."""
    said = []
    for error in errors[:3] if isinstance(errors, list) else ():
        path = error.get("path") if isinstance(error, Mapping) else None
        path = ".".join(map(str, path)) if isinstance(path, list) else ""
        message = error.get("message") if isinstance(error, Mapping) else error
        said.append(f"{path}: {message}" if path else str(message))
    more = f" (and {len(errors) - 3} more)" if isinstance(errors, list) and len(errors) > 3 else ""
    return ("; ".join(said) or "an error without words") + more
