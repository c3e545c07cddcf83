"""AWS services as sources: operations as the installed botocore describes them, of the services that are asked for."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import TYPE_CHECKING, Any

import botocore.session
from botocore import xform_name
from botocore.exceptions import BotoCoreError

from codemode.catalog.identifiers import parameter_names
from codemode.catalog.names import plain_ids
from codemode.catalog.schema import Schema
from codemode.catalog.tool import Details, Effect, Paging, Tool
from codemode.errors import ConfigurationError, EnvironmentIncomplete
from codemode.settings import AwsCredential
from codemode.sources.loaded import Surface, Warned
from codemode.sources.toolkits.described import parameters_of
from codemode.sources.verbs import effect_of_verb
from codemode.text.nearest import did_you_mean
from codemode.text.prose import first_sentence
from codemode.transports.aws import AwsInvocation, AwsReach, AwsTransport, Paginator

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from codemode.settings import SecretReference, SourceSettings
    from codemode.sources.source import SourceContext

#: What stands before the first sentence, and is not what an operation does.
_NOTICE = re.compile(r"<(important|note)>.*?</\1>", re.DOTALL)

_TYPES = {
    "string": "string",
    "character": "string",
    "boolean": "boolean",
    "integer": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
}

#: Protocols in which an operation's HTTP method is its own.
_REST = ("rest-json", "rest-xml")


async def load(name: str, settings: SourceSettings, context: SourceContext) -> tuple[Surface, AwsTransport]:
    """Read the models of the services. Raises ConfigurationError for one that there is not, and without a region."""
    parts = _credential_parts(name, settings)
    session = botocore.session.Session(profile=settings.profile)
    region = await asyncio.to_thread(_region, name, session, settings)
    given = context.ids_of(name, settings)
    surface = await asyncio.to_thread(_surface, name, session, settings.services, given)
    await context.keep_ids(name, settings, surface.tools)
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
        session, reach, context.contents, secrets=lambda: tuple(map(context.secrets.text, parts))
    )


def _credential_parts(name: str, settings: SourceSettings) -> tuple[SecretReference, ...]:
    """Where key id, secret and token are; none where botocore is to find its own. Raises ConfigurationError."""
    for credential in settings.credentials:
        if not isinstance(credential, AwsCredential):
            message = f"sources.{name}.credentials: AWS takes kind: aws, or none for botocore's own ways"
            raise ConfigurationError(message)
        parts = (credential.access_key_id, credential.secret_access_key, credential.session_token)
        return tuple(part for part in parts if part is not None)
    return ()


def _region(name: str, session: Any, settings: SourceSettings) -> str:
    try:
        session.get_scoped_config()  # raises where there is no such profile
        region = settings.region or session.get_config_variable("region")
    except BotoCoreError as error:
        message = f"sources.{name}: {error}"
        raise EnvironmentIncomplete(message) from None
    if not region:
        message = f"sources.{name}.region: say which region's services are meant, for example eu-central-1"
        raise EnvironmentIncomplete(message)
    return str(region)


def _surface(name: str, session: Any, services: tuple[str, ...], given: Mapping[str, str]) -> Surface:
    known = session.get_available_services()
    for place, service in enumerate(services):
        if service not in known:
            hint = did_you_mean(service, known)
            message = f"sources.{name}.services.{place}: botocore knows no service {service!r}{hint}"
            raise ConfigurationError(message)
    read = [_Service(service, session) for service in services]
    paths = [(one.name, xform_name(operation)) for one in read for operation in one.operations]
    ids = plain_ids(name, paths, given=given)
    tools = tuple(tool for one in read for tool in one.tools(name, ids))
    return Surface(tools, tuple(warned for one in read for warned in one.warnings), title=", ".join(services))


class _Service:
    """One service: its model, how its operations are paged, and what of it is left out."""

    def __init__(self, name: str, session: Any) -> None:
        self.name = name
        self._model = session.get_service_model(name)
        self._paginators = _paginators(name, session)
        self.operations: list[str] = []
        self.warnings: list[Warned] = []
        for operation in self._model.operation_names:
            model = self._model.operation_model(operation)
            if model.has_event_stream_input or model.has_event_stream_output:
                self.warnings.append(Warned(f"{name}.{operation}", "is a stream of events and no call: left out"))
            else:
                self.operations.append(operation)

    def tools(self, source: str, ids: Mapping[str, str]) -> Iterator[Tool]:
        """The tools of its operations; arguments and results are read when they are asked for."""
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
        """By its verb; where that says nothing, by the HTTP method of protocols in which it means something."""
        effect = effect_of_verb(model.name)
        if effect is Effect.WRITE and self._model.metadata.get("protocol") in _REST:
            by_method = {"GET": Effect.READ, "HEAD": Effect.READ, "DELETE": Effect.DESTRUCTIVE}
            return by_method.get(model.http.get("method"), effect)
        return effect

    def _details(self, model: Any) -> Details:
        shape, output = model.input_shape, model.output_shape
        parameters = parameters_of(_whole(shape)) if shape is not None else ()
        names = {parameter.wire_name: parameter.name for parameter in parameters}
        paged = self._paginators.get(model.name)
        paginator = None
        if paged is not None:
            inputs = tuple(names[argument] for argument in _listed(paged["input_token"]))
            more = paged.get("more_results", "")
            paginator = Paginator(_listed(paged["result_key"])[0], _listed(paged["output_token"]), inputs, more)
        return Details(
            parameters,
            AwsInvocation(self.name, model.name, shape, paginator),
            Schema.of(_whole(output)) if output is not None else None,
            paging=None if paginator is None else Paging(paginator.items, cursor=paginator.arguments[0]),
        )


def _paginators(name: str, session: Any) -> Mapping[str, Any]:
    try:
        found: Mapping[str, Any] = session.get_component("data_loader").load_service_model(name, "paginators-1")
    except BotoCoreError:  # a service without any
        return {}
    paged: Mapping[str, Any] = found["pagination"]
    return paged


def _listed(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _names(shape: Any) -> tuple[str, ...]:
    """The names of the arguments, required ones first."""
    if shape is None:
        return ()
    names = dict(zip(shape.members, parameter_names([("argument", name) for name in shape.members]), strict=True))
    required = set(shape.required_members)
    return tuple(names[member] for member in sorted(shape.members, key=lambda member: member not in required))


def _whole(shape: Any) -> dict[str, Any]:
    """A structure as JSON Schema; those within it stand in `$defs`, for they may hold themselves."""
    defs: dict[str, Any] = {}
    found = _structure(shape, defs)
    return {**found, "$defs": defs}


def _structure(shape: Any, defs: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "object"}
    if getattr(shape, "is_document_type", False):
        return {}
    found["properties"] = {name: _schema(member, defs) for name, member in shape.members.items()}
    found["required"] = list(shape.required_members)
    if getattr(shape, "is_tagged_union", False):
        found |= {"minProperties": 1, "maxProperties": 1}
    return found


def _schema(shape: Any, defs: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any]
    match shape.type_name:
        case "structure":
            if shape.name not in defs:
                defs[shape.name] = {}  # before its members, for it may hold itself
                defs[shape.name] = _structure(shape, defs)
            found = {"$ref": f"#/$defs/{shape.name}"}
        case "list":
            found = {"type": "array", "items": _schema(shape.member, defs)}
        case "map":
            found = {"type": "object", "additionalProperties": _schema(shape.value, defs)}
        case "timestamp":
            found = {"type": "string", "format": "date-time"}
        case "blob":
            found = {"type": "string", "format": "binary"}
        case kind:
            found = {"type": _TYPES[kind]} if kind in _TYPES else {}
            found |= {"enum": list(shape.enum)} if getattr(shape, "enum", None) else {}
    return {**found, "description": shape.documentation} if shape.documentation else found
