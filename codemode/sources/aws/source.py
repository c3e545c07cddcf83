"""The source kind `aws`: the operations of AWS services, as the installed botocore describes them."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import TYPE_CHECKING, Any

import botocore.session
from botocore import xform_name
from botocore.exceptions import BotoCoreError

from codemode.catalog.effects import effect_of_method, effect_of_verb
from codemode.catalog.identifiers import parameter_names
from codemode.catalog.names import plain_ids
from codemode.catalog.schema import Schema
from codemode.catalog.tool import Details, Effect, Paging, Tool
from codemode.errors import ConfigurationError, EnvironmentIncomplete
from codemode.settings import AwsCredential
from codemode.sources.functions.described import parameters_of
from codemode.sources.loaded import SourceWarning, Surface
from codemode.text.nearest import did_you_mean
from codemode.text.prose import first_sentence
from codemode.transports.aws import AwsInvocation, AwsReach, AwsTransport, Paginator

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from codemode.settings import SecretReference, SourceSettings
    from codemode.sources.source import SourceContext

#: Notices in front of a description, which do not say what the operation does.
_NOTICE = re.compile(r"<(important|note)>.*?(?:</\1>|\Z)", re.DOTALL)

_TYPES = {
    "string": "string",
    "character": "string",
    "boolean": "boolean",
    "integer": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
}

#: Protocols whose HTTP methods differ by operation.
_REST = ("rest-json", "rest-xml")


async def load(name: str, settings: SourceSettings, context: SourceContext) -> tuple[Surface, AwsTransport]:
    """Read the models of the configured services.

    Raises ConfigurationError for an unknown service and EnvironmentIncomplete for a missing profile or region.
    """
    parts = _credential_parts(name, settings)
    session = botocore.session.Session(profile=settings.profile)
    region = await asyncio.to_thread(_region, name, session, settings)

    async def make(known_ids: Mapping[str, str]) -> Surface:
        return await asyncio.to_thread(_surface, name, session, settings.services, known_ids)

    surface = await context.named(name, settings, make)
    reach = AwsReach(
        source=name,
        region=region,
        endpoint=settings.base_url,
        timeout_s=settings.timeout_s,
        retries=settings.retries,
        concurrency=settings.concurrency,
        rate_per_s=settings.rate_per_s,
        response_limit_bytes=settings.response_limit_bytes,
        ca_file=None if settings.ca_file is None else str(settings.ca_file),
    )
    return surface, AwsTransport(
        session,
        reach,
        context.contents,
        allowances=context.allowances,
        secrets=lambda: tuple(map(context.secrets.text, parts)),
    )


def _credential_parts(name: str, settings: SourceSettings) -> tuple[SecretReference, ...]:
    """Return the references of key id, secret and token. Empty if botocore finds credentials itself.

    Raises ConfigurationError for other kinds of credentials.
    """
    for credential in settings.credentials:
        if not isinstance(credential, AwsCredential):
            message = (
                f"sources.{name}.credentials: a source of kind aws takes credentials of kind aws; without any, botocore"
                " looks for its own"
            )
            raise ConfigurationError(message)
        parts = (credential.access_key_id, credential.secret_access_key, credential.session_token)
        return tuple(part for part in parts if part is not None)
    return ()


def _region(name: str, session: Any, settings: SourceSettings) -> str:
    try:
        session.get_scoped_config()  # raises for an unknown profile
        region = settings.region or session.get_config_variable("region")
    except BotoCoreError as error:
        message = f"sources.{name}: {error}"
        raise EnvironmentIncomplete(message) from None
    if not region:
        message = f"sources.{name}.region: no region is configured; set one, for example eu-central-1"
        raise EnvironmentIncomplete(message)
    return str(region)


def _surface(name: str, session: Any, services: tuple[str, ...], known_ids: Mapping[str, str]) -> Surface:
    known = session.get_available_services()
    for index, service in enumerate(services):
        if service not in known:
            hint = did_you_mean(service, known)
            message = f"sources.{name}.services.{index}: botocore knows no service {service!r}{hint}"
            raise ConfigurationError(message)
    read = [_Service(service, session) for service in services]
    paths = [(one.name, xform_name(operation)) for one in read for operation in one.operations]
    ids = plain_ids(name, paths, known_ids=known_ids)
    tools = tuple(tool for one in read for tool in one.tools(name, ids))
    return Surface(tools, tuple(warned for one in read for warned in one.warnings), title=", ".join(services))


class _Service:
    """One service: its model, its paginators, and warnings for the operations that are left out."""

    def __init__(self, name: str, session: Any) -> None:
        self.name = name
        self._model = session.get_service_model(name)
        self._paginators = _paginators(name, session)
        self.operations: list[str] = []
        self.warnings: list[SourceWarning] = []
        for operation in self._model.operation_names:
            model = self._model.operation_model(operation)
            if model.has_event_stream_input or model.has_event_stream_output:
                self.warnings.append(SourceWarning(f"{name}.{operation}", "is an event stream: left out"))
            else:
                self.operations.append(operation)

    def tools(self, source: str, ids: Mapping[str, str]) -> Iterator[Tool]:
        """Yield a tool for each operation. Parameters and results are read on demand."""
        title = self._model.metadata.get("serviceFullName", self.name)
        for operation in self.operations:
            model = self._model.operation_model(operation)
            method = xform_name(operation)
            yield Tool(
                ids[f"{self.name}/{method}"],
                source=source,
                summary=first_sentence(_NOTICE.sub("", model.documentation)),
                description=model.documentation,
                effect=self._effect(model),
                tags=(self.name,),
                aliases=(operation, f"{self.name}:{operation}", f"{self.name}.{method}"),
                retrieval_text=f"{operation} {self.name} {title}",
                deprecated=bool(model.deprecated),
                key=f"{self.name}/{method}",
                names=_names(model.input_shape),
                details=partial(self._details, model),
            )

    def _effect(self, model: Any) -> Effect:
        """Return the effect by the verb of the name, else by the HTTP method in REST protocols."""
        effect = effect_of_verb(model.name)
        is_rest = effect is Effect.WRITE and self._model.metadata.get("protocol") in _REST
        return effect_of_method(model.http["method"]) if is_rest and model.http.get("method") else effect

    def _details(self, model: Any) -> Details:
        shape, output = model.input_shape, model.output_shape
        parameters = parameters_of(_document(shape)) if shape is not None else ()
        names = {parameter.wire_name: parameter.name for parameter in parameters}
        paged = self._paginators.get(model.name)
        paginator = None
        if paged is not None:
            inputs = tuple(names[argument] for argument in _as_tuple(paged["input_token"]))
            more = paged.get("more_results", "")
            paginator = Paginator(_as_tuple(paged["result_key"])[0], _as_tuple(paged["output_token"]), inputs, more)
        return Details(
            parameters,
            AwsInvocation(self.name, model.name, shape, paginator),
            Schema.of(_document(output)) if output is not None else None,
            paging=None if paginator is None else Paging(paginator.items, cursor=paginator.arguments[0]),
        )


def _paginators(name: str, session: Any) -> Mapping[str, Any]:
    try:
        declared: Mapping[str, Any] = session.get_component("data_loader").load_service_model(name, "paginators-1")
    except BotoCoreError:  # the service has no paginators
        return {}
    pagination: Mapping[str, Any] = declared["pagination"]
    return pagination


def _as_tuple(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _names(shape: Any) -> tuple[str, ...]:
    """Return the argument names, required ones first."""
    if shape is None:
        return ()
    names = dict(zip(shape.members, parameter_names([("argument", name) for name in shape.members]), strict=True))
    required = set(shape.required_members)
    return tuple(names[member] for member in sorted(shape.members, key=lambda member: member not in required))


def _document(shape: Any) -> dict[str, Any]:
    """Return a structure as JSON Schema. Nested structures are in `$defs`, because they may be recursive."""
    defs: dict[str, Any] = {}
    schema = _structure(shape, defs)
    return {**schema, "$defs": defs}


def _structure(shape: Any, defs: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    if getattr(shape, "is_document_type", False):
        return {}
    schema["properties"] = {name: _schema(member, defs) for name, member in shape.members.items()}
    schema["required"] = list(shape.required_members)
    if getattr(shape, "is_tagged_union", False):
        schema |= {"minProperties": 1, "maxProperties": 1}
    return schema


def _schema(shape: Any, defs: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any]
    match shape.type_name:
        case "structure":
            if shape.name not in defs:
                defs[shape.name] = {}  # before its members: it may be recursive
                defs[shape.name] = _structure(shape, defs)
            schema = {"$ref": f"#/$defs/{shape.name}"}
        case "list":
            schema = {"type": "array", "items": _schema(shape.member, defs)}
        case "map":
            schema = {"type": "object", "additionalProperties": _schema(shape.value, defs)}
        case "timestamp":
            schema = {"type": "string", "format": "date-time"}
        case "blob":
            schema = {"type": "string", "format": "binary"}
        case kind:
            schema = {"type": _TYPES[kind]} if kind in _TYPES else {}
            schema |= {"enum": list(shape.enum)} if getattr(shape, "enum", None) else {}
    return {**schema, "description": shape.documentation} if shape.documentation else schema
