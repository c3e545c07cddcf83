"""Bind described tools to HTTP requests below the operator's base URL."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from codemode.catalog.effects import Judgement, effect_of_method
from codemode.catalog.schema import Schema
from codemode.catalog.tool import Location
from codemode.errors import ConfigurationError
from codemode.sources.functions.described import Bound, parameters_of, text_parameters
from codemode.text.nearest import did_you_mean
from codemode.transports.http.invocation import BodyKind, BodyPlan, HttpInvocation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.sources.functions.described import ToolDescription

_ENDPOINT = re.compile(r"(GET|HEAD|POST|PUT|PATCH|DELETE) (/[^\s?#]*)")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_READING = ("GET", "HEAD")


class Endpoints:
    """The HTTP request of each tool: from the setting `endpoints`, else its description, else `POST /NAME`.

    Arguments in braces are sent in the path. The others are sent in the query for GET, HEAD and DELETE, else as a JSON
    object.
    """

    def __init__(self, source: str, endpoints: Mapping[str, str]) -> None:
        self._source = source
        self._endpoints = endpoints

    def require(self, described: Iterable[ToolDescription]) -> None:
        """Raise ConfigurationError if an endpoint names an unknown tool, with the closest match."""
        names = {name for one in described for name in (one.name, one.key)}
        for name in self._endpoints:
            if name not in names:
                hint = did_you_mean(name, sorted(names))
                message = f"sources.{self._source}.endpoints: there is no tool {name!r}{hint}"
                raise ConfigurationError(message)

    def bound(self, described: ToolDescription) -> Bound:
        """Return the request of a tool. Raises ConfigurationError for the setting, SourceError for a description."""
        configured = self._endpoints.get(described.key) or self._endpoints.get(described.name)
        text = configured or described.endpoint or f"POST /{quote(described.name, safe='')}"
        match = _ENDPOINT.fullmatch(text)
        parameters = text_parameters(described) if described.schema is None else parameters_of(described.schema)
        placeholders = _PLACEHOLDER.findall(match[2]) if match else []
        unknown = [
            placeholder
            for placeholder in placeholders
            if placeholder not in {parameter.wire_name for parameter in parameters}
        ]
        if match is None or unknown:
            reason = (
                f"there is no argument {unknown[0]!r}" if unknown else "write METHOD /path, with arguments in braces"
            )
            message = f"the endpoint of {described.name!r}, {text!r}: {reason}"
            if configured:
                setting = f"sources.{self._source}.endpoints: "
                raise ConfigurationError(setting + message)
            raise described.document.error(message, *described.path)
        method, path = match.groups()
        in_body = method not in (*_READING, "DELETE")
        location = Location.BODY_FIELD if in_body else Location.QUERY
        located = tuple(
            replace(parameter, location=Location.PATH, style="simple", required=True)
            if parameter.wire_name in placeholders
            else replace(parameter, location=location, style="" if in_body else "form", explode=True)
            for parameter in parameters
        )
        schema = Schema.of(described.schema or {"type": "object"})
        body = BodyPlan(BodyKind.JSON, ("application/json",), schema, required=True) if in_body else None
        return Bound(located, HttpInvocation(method, path, body=body), Judgement(effect_of_method(method)))
