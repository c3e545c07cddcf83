"""The source kind `graphql`: each query and each mutation is a tool, also mutations below the root.

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

from codemode.catalog.identifiers import parameter_names
from codemode.catalog.names import plain_ids
from codemode.catalog.schema import Schema
from codemode.catalog.tool import Details, Effect, Paging, Tool
from codemode.errors import CallError, ConfigurationError, SourceError
from codemode.settings import is_url
from codemode.sources.documents.digest import text_digest
from codemode.sources.functions.described import parameters_of
from codemode.sources.graphql.operations import MOST_NESTED, Operations
from codemode.sources.graphql.reached import ReachedOperations
from codemode.sources.graphql.types import Selection, arguments_schema, error_types
from codemode.sources.http_access import http_transport
from codemode.sources.loaded import SourceWarning, Surface
from codemode.text.prose import first_sentence
from codemode.transports.auth.account import READER
from codemode.transports.base import CallContext
from codemode.transports.graphql import FieldAbove, FieldInvocation, GraphqlTransport

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphql import GraphQLArgument, GraphQLSchema, IntrospectionQuery

    from codemode.settings import SourceSettings
    from codemode.sources.graphql.operations import Operation
    from codemode.sources.source import SourceContext

#: The argument that selects the fields of the result.
_SELECTION_ARGUMENT = ("selection", "fields")

_SELECTION_SCHEMA = {
    "type": "string",
    "description": "The fields to return, in GraphQL syntax: 'id name user { id }'. Default: the plain fields.",
}


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

        async def make(known_ids: Mapping[str, str]) -> Surface:
            return await asyncio.to_thread(_surface, name, schema, digest, known_ids)

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
        return json.dumps(dict(await service.ask(get_introspection_query(), CallContext(account=READER))))

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


def _surface(name: str, schema: GraphQLSchema, digest: str, known_ids: Mapping[str, str]) -> Surface:
    operations = Operations(schema)
    ids = plain_ids(name, (one.path for one in operations.all), known_ids=known_ids)
    tools = tuple(_tool(name, operations, one, ids) for one in operations.all)
    if not tools:
        raise SourceError("has neither queries nor mutations")
    description = str(schema.description or "")
    warnings = tuple(_warnings(schema, operations))
    return Surface(tools, warnings, title=first_sentence(description), digest=digest, description=description)


def _warnings(schema: GraphQLSchema, operations: Operations) -> Iterator[SourceWarning]:
    if schema.subscription_type and schema.subscription_type.fields:
        count = len(schema.subscription_type.fields)
        yield SourceWarning("/subscription", f"{count} subscriptions are left out: they are not calls")
    if operations.is_cut:
        yield SourceWarning("/mutation", f"only the first {MOST_NESTED:,} mutations below the root are tools")


def _tool(name: str, operations: Operations, operation: Operation, ids: Mapping[str, str]) -> Tool:
    description = str(operation.field.description or "")
    result = get_named_type(operation.field.type)
    names = ".".join(operation.names)
    return Tool(
        ids[operation.key],
        source=name,
        summary=first_sentence(description),
        description=description,
        effect=operation.effect.effect,
        effect_word=operation.effect.word,
        aliases=(names,),
        retrieval_text=f"{names} {result.name} {first_sentence(str(result.description or ''))}",
        deprecated=operation.field.deprecation_reason is not None,
        key=operation.key,
        details=partial(_details, operations, operation),
    )


def _details(operations: Operations, operation: Operation) -> Details:
    selection = Selection(
        operation.field, lambda *field: operations.judgement(operation.kind, *field).effect is Effect.READ
    )
    has_fields = not is_leaf_type(get_named_type(operation.field.type))
    taken = _arguments(operation)
    names = parameter_names([*(("argument", key) for key in taken), *([_SELECTION_ARGUMENT] if has_fields else [])])
    selecting = names[-1] if has_fields else ""
    schema = arguments_schema({key: argument for key, (_, _, argument) in taken.items()})
    if selecting:
        schema["properties"] = {**schema["properties"], selecting: _SELECTION_SCHEMA}
    levels: list[dict[str, tuple[str, str]]] = [{} for _ in operation.steps]
    for name, (level, wire, argument) in zip(names, taken.values(), strict=False):
        levels[level][name] = (wire, str(argument.type))
    names_of_wires = {wire: name for name, (wire, _) in levels[-1].items()}
    items = selection.items
    paging = Paging(items, after=names_of_wires["after"], size=names_of_wires.get("first", "")) if items else None
    above = tuple(map(FieldAbove, operation.names[:-1], levels))
    plan = FieldInvocation(
        operation.kind,
        operation.names[-1],
        levels[-1],
        selection.text,
        selecting,
        items,
        above,
        error_types(operation.field.type),
    )
    reaches = ReachedOperations(operations, operation, plan) if selecting else None
    return Details(parameters_of(schema), plan, Schema.of(selection.returns), paging=paging, reaches=reaches)


def _arguments(operation: Operation) -> dict[str, tuple[int, str, GraphQLArgument]]:
    """Return the arguments of all fields of an operation, each with its level and its own name, by a distinct name.

    The innermost field is first and keeps its names. Others get the name of their field where it is necessary:
    `order(id).delete(id)` takes `id` and `order_id`.
    """
    taken: dict[str, tuple[int, str, GraphQLArgument]] = {}
    for level, (field, declared) in reversed(tuple(enumerate(operation.steps))):
        for wire, argument in declared.args.items():
            key, number = wire if wire not in taken else f"{field}_{wire}", 2
            while key in taken:
                key, number = f"{field}_{wire}_{number}", number + 1
            taken[key] = (level, wire, argument)
    return taken
