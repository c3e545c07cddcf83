"""Calls of a GraphQL service: each call is one query or mutation, sent as a document with variables over HTTP.

See https://spec.graphql.org/October2021/ and https://graphql.github.io/graphql-over-http/. Pages follow
https://relay.dev/graphql/connections.htm.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphql import GraphQLError, parse, validate

from codemode.catalog.next_page import page_fields
from codemode.catalog.paging import paging_of
from codemode.catalog.schema import Schema
from codemode.catalog.tool import Location, Parameter, Tool
from codemode.errors import AnswerInvalid, ArgumentsInvalid, CallError, UpstreamError
from codemode.text.prose import shorten
from codemode.transports.base import Page
from codemode.transports.graphql_fields import FailingFields, failed_paths, without_fields
from codemode.transports.graphql_uploads import MULTIPART, PREFLIGHT, multipart_of, without_files
from codemode.transports.http.invocation import BodyKind, BodyPlan, HttpInvocation

if TYPE_CHECKING:
    from collections.abc import Hashable

    from graphql import GraphQLSchema

    from codemode.transports.base import CallContext, Transport

#: Default page size. Services may require a number.
PAGE_SIZE = 50

#: Largest number of tokens and of characters in a program's selection.
MOST_TOKENS, LONGEST_SELECTION = 1000, 100_000

#: Fields that are named in a note.
_MOST_NAMED = 5

#: Characters of an error in a message.
_LONGEST_ERROR = 2_000

_PAGE_INFO = "pageInfo { hasNextPage endCursor }"


@dataclass(frozen=True, slots=True)
class FieldAbove:
    """A field between the root and the field that is called. `variables` is as that of `FieldInvocation`."""

    field: str
    variables: Mapping[str, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class FieldInvocation:
    """One field of the root type, or of an object below it.

    `variables` maps the tool's parameter names to the field's arguments and types. `selection` is the default selection
    of the field's value, "" for values without fields; the argument `selecting` overrides it. `items` is the field of a
    connection that holds its items: `edges` or `nodes`. `above` are the fields on the way from the root. A value of one
    of the `error_types` is an error, if the default selection was used.
    """

    operation: str
    field: str
    variables: Mapping[str, tuple[str, str]]
    selection: str = ""
    selecting: str = ""
    items: str = ""
    above: tuple[FieldAbove, ...] = ()
    error_types: frozenset[str] = frozenset()

    def sent(self, arguments: Mapping[str, Any]) -> dict[str, tuple[str, str, Any]]:
        """Return the arguments of all fields by parameter name: the variable, its type and its value."""
        own = {name: (wire, kind) for name, (wire, kind) in self.variables.items()}
        others = {name: (name, kind) for one in self.above for name, (_, kind) in one.variables.items()}
        return {name: (*one, arguments[name]) for name, one in (others | own).items() if name in arguments}

    @property
    def names(self) -> tuple[str, ...]:
        """The fields from the root to this one."""
        return *(one.field for one in self.above), self.field

    def value_in(self, data: Any) -> Any:
        """Return the value of the field in the data of an answer."""
        for name in self.names:
            data = data.get(name) if isinstance(data, Mapping) else None
        return data


class GraphqlTransport:
    """Calls one service through `http`, at a path of the base URL. `schema` validates the selections of programs."""

    idempotency_header = ""

    def __init__(self, source: str, http: Transport, path: str, query: tuple[tuple[str, str], ...] = ()) -> None:
        self._source = source
        self._http = http
        body = BodyPlan(BodyKind.JSON, ("application/json",), Schema.of({"type": "object"}), required=True)
        accept = ("application/graphql-response+json", "application/json")
        self._request, self._upload = (
            Tool(
                f"{source}.graphql",
                source=source,
                parameters=(Parameter("body", "", Location.BODY, required=True, schema=each.schema),),
                invocation=HttpInvocation("POST", path, query=query, body=each, accept=accept, constants=constants),
            )
            for each, constants in ((body, ()), (MULTIPART, PREFLIGHT))
        )
        self.schema: GraphQLSchema | None = None
        self._failing = FailingFields()

    async def ask(
        self,
        document: str,
        context: CallContext,
        variables: Mapping[str, Any] | None = None,
        files: list[tuple[str, dict[str, Any]]] | None = None,
    ) -> Mapping[str, Any]:
        """Return the data of an answer. Raises UpstreamError if it has errors, with them and any partial data.

        `files` are the files among the variables, with their paths in the request.
        """
        body: dict[str, Any] = {"query": document, "variables": dict(variables or {})}
        request, body = (self._upload, multipart_of(body, files)) if files else (self._request, body)
        answer = await self._http.call(request, {"body": body}, context)
        if not isinstance(answer, Mapping) or not ("data" in answer or "errors" in answer):
            message = f"{self._source} did not answer in GraphQL: the answer has neither data nor errors"
            raise AnswerInvalid(message, body=answer)
        if answer.get("errors"):
            message = f"{self._source}: {_in_words(answer['errors'])}"
            raise UpstreamError(message, body={"errors": answer["errors"], "data": answer.get("data")})
        data = answer.get("data")
        return data if isinstance(data, Mapping) else {}

    async def call(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Any:
        """Return the field's value. Raises ArgumentsInvalid for a selection that the schema rejects, UpstreamError."""
        return await self._value(tool, arguments, context)

    async def call_page(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> Page:
        """Return one page of a connection or numbered list.

        Raises what `call` raises, and CallError if the field has no pages.
        """
        plan: FieldInvocation = tool.invocation
        paging = paging_of(tool)
        if paging is None:
            message = f"{tool.id} has no pages: call it without .items or .pages"
            raise CallError(message)
        if not plan.items:
            value = await self._value(tool, arguments, context)
            return Page(value, **page_fields(tool, paging, arguments, value))
        sized = {paging.size: PAGE_SIZE, **arguments} if paging.size else dict(arguments)
        value = await self._value(tool, sized, context, also=_PAGE_INFO)
        listed = value.get(plan.items) if isinstance(value, Mapping) else None
        edges = listed if isinstance(listed, list) else []
        items = [edge.get("node") if isinstance(edge, Mapping) else edge for edge in edges]
        cursor = _next_cursor(value)
        following = {**arguments, paging.after: cursor} if cursor and cursor != arguments.get(paging.after) else None
        return Page(value, items if plan.items == "edges" else edges, following)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def _value(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext, also: str = "") -> Any:
        plan: FieldInvocation = tool.invocation
        sent = plan.sent(arguments)
        chosen = arguments.get(plan.selecting) if plan.selecting else None
        selection = self._default(tool, context) if chosen is None else chosen
        document = _document(plan, sent, selection, also)
        if chosen is not None:
            problem = await asyncio.to_thread(self._problem, chosen, document)
            if problem:
                message = f"{plan.selecting}: {problem.rstrip('.')}; write GraphQL fields, such as 'id user {{ name }}'"
                raise ArgumentsInvalid(tool.id, message, parameter=plan.selecting, valid=tool.parameter_names)
        variables, files = without_files(tool, sent)
        try:
            value = plan.value_in(await self.ask(document, context, variables, files))
        except UpstreamError as error:
            if chosen is None and isinstance(error.body, Mapping):
                paths = failed_paths(error.body.get("errors"), plan.names)
                self._failing.add(_whose(context), tool.id, paths)
            raise
        if chosen is None:
            self._raise_error_in(plan, value)
        return value

    def _default(self, tool: Tool, context: CallContext) -> str:
        """Return the default fields without those that answered the caller with an error, and note them."""
        plan: FieldInvocation = tool.invocation
        failing = self._failing.of(_whose(context), tool.id)
        left = without_fields(plan.selection, failing) if failing else ""
        if not left:
            return plan.selection
        names = ", ".join(sorted(".".join(path) for path in failing)[:_MOST_NAMED])
        context.on_note(f"{tool.id} left out {names}, which answered with an error; {plan.selecting}='…' asks for it")
        return left

    def _raise_error_in(self, plan: FieldInvocation, value: Any) -> None:
        """Raise UpstreamError if the value is the error of a union of a result and errors."""
        if isinstance(value, Mapping) and value.get("__typename") in plan.error_types:
            said = value.get("message") or json.dumps({k: v for k, v in value.items() if k != "__typename"})
            message = f"{self._source}: {value['__typename']}: {shorten(str(said), _LONGEST_ERROR)}"
            raise UpstreamError(message, body=dict(value))

    def _problem(self, selection: str, document: str) -> str:
        """Return what is wrong with a program's selection, "" if it is valid.

        It must be a single selection: text after an early end could select other root fields, which the policy has not
        allowed.
        """
        if len(selection) > LONGEST_SELECTION:
            return f"it is longer than {LONGEST_SELECTION:,} characters"
        try:
            if len(parse(f"{{ {selection} }}", max_tokens=MOST_TOKENS).definitions) != 1:
                return "write exactly one selection"
            errors = validate(self.schema, parse(document)) if self.schema else []
        except GraphQLError as error:
            return error.message
        return errors[0].message if errors else ""


def _whose(context: CallContext) -> Hashable:
    """Return for whom fields fail: a caller, with one of its accounts."""
    return context.owner, None if context.account is None else context.account.key


def _document(plan: FieldInvocation, sent: Mapping[str, tuple[str, str, Any]], selection: str, also: str) -> str:
    declared = ", ".join(f"${variable}: {kind}" for variable, kind, _ in sent.values())
    opening = ""
    fields: tuple[FieldAbove | FieldInvocation, ...] = (*plan.above, plan)
    for one in fields:
        passed = ", ".join(f"{wire}: ${sent[name][0]}" for name, (wire, _) in one.variables.items() if name in sent)
        opening += f"{{ {one.field}({passed}) " if passed else f"{{ {one.field} "
    selected = f"{{ {selection} {also} }} " if selection else ""
    return f"{plan.operation}{f' ({declared})' if declared else ''} {opening}{selected}{'}' * len(fields)}"


def _next_cursor(value: Any) -> str | None:
    info = value.get("pageInfo") if isinstance(value, Mapping) else None
    if not isinstance(info, Mapping) or not info.get("hasNextPage"):
        return None
    cursor = info.get("endCursor")
    return cursor if isinstance(cursor, str) else None


def _in_words(errors: Any) -> str:
    """Return the first errors, each with its path in the answer."""
    texts = []
    for error in errors[:3] if isinstance(errors, list) else ():
        path = error.get("path") if isinstance(error, Mapping) else None
        path = ".".join(map(str, path)) if isinstance(path, list) else ""
        message = error.get("message") if isinstance(error, Mapping) else error
        texts.append(f"{path}: {message}" if path else str(message))
    more = f" (and {len(errors) - 3} more)" if isinstance(errors, list) and len(errors) > 3 else ""
    return ("; ".join(texts) or "an error without a message") + more
