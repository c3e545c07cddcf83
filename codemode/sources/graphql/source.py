"""GraphQL services as sources: each field of the queries and of the mutations is a tool.

The schema comes from the service itself (introspection), or from a file: its SDL, or the answer to an introspection.
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

from codemode.catalog.effect_words import judge
from codemode.catalog.identifiers import parameter_names
from codemode.catalog.names import plain_ids
from codemode.catalog.schema import Schema
from codemode.catalog.tool import Details, Effect, Paging, Tool
from codemode.errors import CallError, ConfigurationError, SourceError
from codemode.settings import is_url
from codemode.sources.documents.cache import text_digest
from codemode.sources.graphql.types import Selection, arguments_schema
from codemode.sources.http_access import http_transport
from codemode.sources.loaded import Surface, Warned
from codemode.sources.toolkits.described import parameters_of
from codemode.text.prose import first_sentence
from codemode.transports.base import CallContext
from codemode.transports.graphql import FieldInvocation, GraphqlTransport

if TYPE_CHECKING:
    from graphql import GraphQLField, GraphQLSchema, IntrospectionQuery

    from codemode.settings import SourceSettings
    from codemode.sources.source import SourceContext

#: The argument that says which fields of the value are wanted.
_FIELDS = ("selection", "fields")

_FIELDS_SCHEMA = {
    "type": "string",
    "description": "The fields that are wanted, as GraphQL writes them: 'id name user { id }'. Else the plain ones.",
}

_GROUPS = {"query": "queries", "mutation": "mutations"}


async def load(name: str, settings: SourceSettings, context: SourceContext) -> tuple[Surface, GraphqlTransport]:
    """Read the schema. Raises SourceError where there is none, ConfigurationError where the service has no address."""
    endpoint = settings.base_url or settings.location
    if not is_url(endpoint):
        message = f"sources.{name}.base_url: give the address of the service, whose schema is in {settings.location}"
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
        warnings: list[Warned] = []
        text, transport.schema = await _schema(settings.location, transport, context, warnings)
        given = context.ids_of(name, settings)
        read = await asyncio.to_thread(_surface, name, transport.schema, text_digest(text.encode()), given)
        surface = replace(read, warnings=(*warnings, *read.warnings))
        await context.keep_ids(name, settings, surface.tools)
    except BaseException:
        await transport.aclose()
        raise
    return surface, transport


async def _schema(
    location: str, service: GraphqlTransport, context: SourceContext, warnings: list[Warned]
) -> tuple[str, GraphQLSchema]:
    """The schema, and the text that it was read from. Raises SourceError."""

    async def introspected() -> str:
        return json.dumps(dict(await service.ask(get_introspection_query(), CallContext())))

    if is_url(location):
        try:
            text = await context.documents.text(location, introspected)
        except CallError as error:
            message = (
                f"the service tells no schema (introspection): {error}; save it in a file (SDL, or the answer to an"
                " introspection query), name that as location, and the service as base_url"
            )
            reason = error.for_model().partition("; nothing was sent")[0]
            told = f"the service tells no schema (introspection): {reason}"
            raise SourceError(message, location=location, told=told) from None
    else:
        text = await asyncio.to_thread(_text, location)
    return text, await asyncio.to_thread(_built, text, location, warnings)


def _text(location: str) -> str:
    try:
        return Path(location).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        message = f"cannot be read: {error.strerror if isinstance(error, OSError) else 'it is not UTF-8 text'}"
        raise SourceError(message, location=location) from None


def _built(text: str, location: str, warnings: list[Warned]) -> GraphQLSchema:
    """The schema of an introspection's answer (with or without `data` around it) or of SDL.

    Published SDL has mistakes too (GitHub's defines fields twice): what can be built is built, and they are warnings.
    """
    try:
        if not text.lstrip().startswith("{"):
            return _of_sdl(text, location, warnings)
        answer = json.loads(text)
        introspection = answer.get("data", answer)
        if not isinstance(introspection, Mapping) or "__schema" not in introspection:
            raise SourceError("is no answer to an introspection: it has no __schema", location=location)
        return build_client_schema(cast("IntrospectionQuery", introspection), assume_valid=True)
    except (GraphQLError, TypeError, ValueError, KeyError, AttributeError) as error:
        places = error.locations if isinstance(error, GraphQLError) else None
        where = f"line {places[0].line}" if places else ""
        said = error.message if isinstance(error, GraphQLError) else str(error)
        message = f"is no schema of GraphQL: {said}"
        raise SourceError(message, location=location, pointer=where) from None


def _of_sdl(text: str, location: str, warnings: list[Warned]) -> GraphQLSchema:
    document = parse(text)
    for mistake in validate_sdl(document):
        where = f" line {mistake.locations[0].line}" if mistake.locations else ""
        warnings.append(Warned(f"{location}{where}", mistake.message))
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
    events = len(schema.subscription_type.fields) if schema.subscription_type else 0
    warnings = (Warned("/subscription", f"{events} subscriptions are no calls: left out"),) if events else ()
    title = first_sentence(str(schema.description or ""))
    return Surface(tools, warnings, title=title, digest=digest)


def _tool(
    name: str, schema: GraphQLSchema, ids: Mapping[str, str], operation: str, field: str, declared: GraphQLField
) -> Tool:
    key = f"{_GROUPS[operation]}/{field}"
    description = str(declared.description or "")
    said = Effect.READ if operation == "query" else None
    effect, word, _ = judge(said, Effect.WRITE, (field,), description)
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
    names = parameter_names([*wire_names, *([_FIELDS] if has_fields else [])])
    selecting = names[-1] if has_fields else ""
    if selecting:
        arguments["properties"] = {**arguments["properties"], selecting: _FIELDS_SCHEMA}
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
            selecting,
            selection.items,
        ),
        Schema.of(selection.returns),
        paging=paging,
    )
