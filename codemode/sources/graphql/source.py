"""The source kind `graphql`: each field of the query type and the mutation type is a tool.

The schema comes from introspection of the service, or from a file that holds SDL or an introspection result.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import parse_qsl, urlsplit

from graphql import (
    GraphQLError,
    build_ast_schema,
    build_client_schema,
    get_introspection_query,
    get_named_type,
    is_leaf_type,
    parse,
)
from graphql.validation.validate import validate_sdl

from codemode.catalog.effects import judge
from codemode.catalog.identifiers import parameter_names
from codemode.catalog.names import plain_ids
from codemode.catalog.schema import Schema
from codemode.catalog.tool import Details, Effect, Paging, Tool
from codemode.errors import CallError, ConfigurationError, SourceError
from codemode.settings import is_url
from codemode.sources.documents.digest import text_digest
from codemode.sources.functions.described import parameters_of
from codemode.sources.graphql.types import Selection, arguments_schema
from codemode.sources.http_access import http_transport
from codemode.sources.loaded import SourceWarning, Surface
from codemode.text.prose import first_sentence
from codemode.transports.base import CallContext
from codemode.transports.graphql import FieldInvocation, GraphqlTransport

if TYPE_CHECKING:
    from graphql import GraphQLField, GraphQLSchema, IntrospectionQuery

    from codemode.settings import SourceSettings
    from codemode.sources.source import SourceContext

#: The argument that selects the fields of the result.
_SELECTION_ARGUMENT = ("selection", "fields")

_SELECTION_SCHEMA = {
    "type": "string",
    "description": "The fields to return, in GraphQL syntax: 'id name user { id }'. Default: the plain fields.",
}

_GROUPS = {"query": "queries", "mutation": "mutations"}


async def load(name: str, settings: SourceSettings, context: SourceContext) -> tuple[Surface, GraphqlTransport]:
    """Read the schema. Raises SourceError if it cannot be read, ConfigurationError if the service has no URL."""
    endpoint = settings.base_url or settings.location
    if not is_url(endpoint):
        message = f"sources.{name}.base_url: set the URL of the service whose schema is in {settings.location}"
        raise ConfigurationError(message)
    parts = urlsplit(endpoint)
    base_url = f"{parts.scheme}://{parts.netloc}"
    http = http_transport(
        name,
        settings.model_copy(update={"base_url": base_url}),
        context,
    )
    query = tuple(parse_qsl(parts.query, keep_blank_values=True))
    transport = GraphqlTransport(name, http, parts.path or "/", query)
    try:
        warnings: list[SourceWarning] = []
        text, schema = await _schema(settings.location, transport, context, warnings)
        transport.schema, digest = schema, text_digest(text.encode())

        async def make(given: Mapping[str, str]) -> Surface:
            return await asyncio.to_thread(_surface, name, schema, digest, given)

        read = await context.named(name, settings, make)
        surface = replace(read, warnings=(*warnings, *read.warnings))
    except BaseException:
        await transport.aclose()
        raise
    return surface, transport


async def _schema(
    location: str, service: GraphqlTransport, context: SourceContext, warnings: list[SourceWarning]
) -> tuple[str, GraphQLSchema]:
    """Return the text of the schema and the schema itself. Raises SourceError."""

    async def introspect() -> str:
        return json.dumps(dict(await service.ask(get_introspection_query(), CallContext())))

    if is_url(location):
        try:
            text = await context.documents.text(location, introspect)
        except CallError as error:
            message = (
                f"introspection failed: {error}; save the schema in a file (SDL or an introspection result), use the"
                " file as location, and set base_url to the service"
            )
            reason = error.for_model().partition("; nothing was sent")[0]
            told = f"introspection failed: {reason}"
            raise SourceError(message, location=location, told=told) from None
    else:
        text = await asyncio.to_thread(_text, location)
    return text, await asyncio.to_thread(_build, text, location, warnings)


def _text(location: str) -> str:
    try:
        return Path(location).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        message = f"cannot be read: {error.strerror if isinstance(error, OSError) else 'it is not UTF-8 text'}"
        raise SourceError(message, location=location) from None


def _build(text: str, location: str, warnings: list[SourceWarning]) -> GraphQLSchema:
    """Build a schema from an introspection result (`data` may be missing) or from SDL.

    Published SDL has mistakes: GitHub's defines fields twice. They become warnings, and the rest is built.
    """
    try:
        if not text.lstrip().startswith("{"):
            return _build_from_sdl(text, location, warnings)
        answer = json.loads(text)
        introspection = answer.get("data", answer)
        if not isinstance(introspection, Mapping) or "__schema" not in introspection:
            raise SourceError("is not an introspection result: it has no __schema", location=location)
        return build_client_schema(cast("IntrospectionQuery", introspection), assume_valid=True)
    except (GraphQLError, TypeError, ValueError, KeyError, AttributeError) as error:
        locations = error.locations if isinstance(error, GraphQLError) else None
        where = f"line {locations[0].line}" if locations else ""
        reason = error.message if isinstance(error, GraphQLError) else str(error)
        message = f"is not a GraphQL schema: {reason}"
        raise SourceError(message, location=location, pointer=where) from None


def _build_from_sdl(text: str, location: str, warnings: list[SourceWarning]) -> GraphQLSchema:
    document = parse(text)
    for mistake in validate_sdl(document):
        where = f" line {mistake.locations[0].line}" if mistake.locations else ""
        warnings.append(SourceWarning(f"{location}{where}", mistake.message))
    return build_ast_schema(document, assume_valid_sdl=True)


def _surface(name: str, schema: GraphQLSchema, digest: str, given: Mapping[str, str]) -> Surface:
    roots = {"query": schema.query_type, "mutation": schema.mutation_type}
    fields = {
        (operation, field): declared
        for operation, root in roots.items()
        for field, declared in (root.fields.items() if root else ())
    }
    ids = plain_ids(name, ((_GROUPS[operation], field) for operation, field in fields), given=given)
    tools = tuple(_tool(name, schema, ids, *key, declared) for key, declared in fields.items())
    if not tools:
        raise SourceError("has neither queries nor mutations")
    subscriptions = len(schema.subscription_type.fields) if schema.subscription_type else 0
    warnings = (
        (SourceWarning("/subscription", f"{subscriptions} subscriptions are left out: they are not calls"),)
        if subscriptions
        else ()
    )
    title = first_sentence(str(schema.description or ""))
    return Surface(tools, warnings, title=title, digest=digest, description=str(schema.description or ""))


def _tool(
    name: str, schema: GraphQLSchema, ids: Mapping[str, str], operation: str, field: str, declared: GraphQLField
) -> Tool:
    key = f"{_GROUPS[operation]}/{field}"
    description = str(declared.description or "")
    known_effect = Effect.READ if operation == "query" else None
    effect, word, _ = judge(known_effect, Effect.WRITE, (field,), description)
    result = get_named_type(declared.type)
    return Tool(
        ids[key],
        source=name,
        summary=first_sentence(description),
        description=description,
        effect=effect,
        effect_word=word,
        aliases=(field,),
        retrieval_text=f"{field} {result.name} {first_sentence(str(result.description or ''))}",
        deprecated=declared.deprecation_reason is not None,
        key=key,
        details=partial(_details, schema, operation, field, declared),
    )


def _details(schema: GraphQLSchema, operation: str, field: str, declared: GraphQLField) -> Details:
    selection = Selection(schema, declared)
    arguments = arguments_schema(declared)
    wire_names = [("argument", wire_name) for wire_name in declared.args]
    has_fields = not is_leaf_type(get_named_type(declared.type))
    names = parameter_names([*wire_names, *([_SELECTION_ARGUMENT] if has_fields else [])])
    selection_argument = names[-1] if has_fields else ""
    if selection_argument:
        arguments["properties"] = {**arguments["properties"], selection_argument: _SELECTION_SCHEMA}
    by_wire_name = dict(zip(declared.args, names, strict=False))
    paging = None
    if selection.items:
        paging = Paging(selection.items, after=by_wire_name["after"], size=by_wire_name.get("first", ""))
    return Details(
        parameters_of(arguments),
        FieldInvocation(
            operation,
            field,
            {by_wire_name[wire]: (wire, str(one.type)) for wire, one in declared.args.items()},
            selection.text,
            selection_argument,
            selection.items,
        ),
        Schema.of(selection.returns),
        paging=paging,
    )
