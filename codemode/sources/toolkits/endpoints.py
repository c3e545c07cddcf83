"""Described tools carried out over HTTP: each by a request to a base URL of the operator's."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from codemode.catalog.effect_words import Judgement
from codemode.catalog.schema import Schema
from codemode.catalog.tool import Effect, Location
from codemode.errors import ConfigurationError
from codemode.sources.toolkits.described import Bound, parameters_of, text_parameters
from codemode.text.nearest import did_you_mean
from codemode.transports.http.invocation import BodyKind, BodyPlan, HttpInvocation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.sources.toolkits.described import Described

_ENDPOINT = re.compile(r"(GET|HEAD|POST|PUT|PATCH|DELETE) (/[^\s?#]*)")
_HOLE = re.compile(r"\{([^{}]*)\}")
_READING = ("GET", "HEAD")


class Endpoints:
    """The request of each tool: what the operator's `endpoints` say, else its description, else `POST /NAME`.

    Arguments in braces travel in the path, the others in the query of GET, HEAD and DELETE, else as a JSON object.
    """

    def __init__(self, source: str, endpoints: Mapping[str, str]) -> None:
        self._source = source
        self._endpoints = endpoints

    def require(self, described: Iterable[Described]) -> None:
        """Raise ConfigurationError for an endpoint of a tool that there is not, with what comes nearest."""
        names = {name for one in described for name in (one.name, one.key)}
        for name in self._endpoints:
            if name not in names:
                hint = did_you_mean(name, sorted(names))
                message = f"sources.{self._source}.endpoints: there is no tool {name!r}{hint}"
                raise ConfigurationError(message)

    def bound(self, described: Described) -> Bound:
        """The request that carries a tool out. Raises ConfigurationError, or SourceError with the line."""
        written = self._endpoints.get(described.key) or self._endpoints.get(described.name)
        text = written or described.endpoint or f"POST /{quote(described.name, safe='')}"
        found = _ENDPOINT.fullmatch(text)
        parameters = text_parameters(described) if described.schema is None else parameters_of(described.schema)
        holes = _HOLE.findall(found[2]) if found else []
        unknown = [hole for hole in holes if hole not in {parameter.wire_name for parameter in parameters}]
        if found is None or unknown:
            reason = f"there is no argument {unknown[0]!r}" if unknown else "write METHOD /path, with {arguments} in it"
            message = f"the endpoint of {described.name!r}, {text!r}: {reason}"
            if written:
                place = f"sources.{self._source}.endpoints: "
                raise ConfigurationError(place + message)
            raise described.document.error(message, *described.path)
        method, path = found.groups()
        in_body = method not in (*_READING, "DELETE")
        rest = Location.BODY_FIELD if in_body else Location.QUERY
        placed = tuple(
            replace(parameter, location=Location.PATH, style="simple", required=True)
            if parameter.wire_name in holes
            else replace(parameter, location=rest, style="" if in_body else "form", explode=True)
            for parameter in parameters
        )
        schema = Schema.of(described.schema or {"type": "object"})
        body = BodyPlan(BodyKind.JSON, ("application/json",), schema, required=True) if in_body else None
        effect = Effect.READ if method in _READING else Effect.DESTRUCTIVE if method == "DELETE" else Effect.WRITE
        return Bound(placed, HttpInvocation(method, path, body=body), Judgement(effect))
