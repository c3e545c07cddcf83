"""Files among the variables of a GraphQL request.

They are sent by the multipart request specification: https://github.com/jaydenseric/graphql-multipart-request-spec.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from codemode.catalog.content import INLINE_KEY, is_content
from codemode.catalog.schema import Schema
from codemode.catalog.tool import Location, Parameter
from codemode.transports.http.invocation import BodyKind, BodyPlan

if TYPE_CHECKING:
    from codemode.catalog.tool import Tool

MULTIPART = BodyPlan(BodyKind.MULTIPART, ("multipart/form-data",), Schema.of({"type": "object"}), required=True)

#: Headers without which services refuse multipart requests, as forms of other sites send them too (Apollo, Hot
#: Chocolate).
PREFLIGHT = tuple(
    (Parameter(name, name, Location.HEADER, required=True, schema=Schema.of({"type": "string"}), style="simple"), value)
    for name, value in (("Apollo-Require-Preflight", "true"), ("GraphQL-Preflight", "1"))
)


def without_files(
    tool: Tool, sent: Mapping[str, tuple[str, str, Any]]
) -> tuple[dict[str, Any], list[tuple[str, dict[str, Any]]]]:
    """Return the variables with null for each file, and the files with their paths in the request."""
    files: list[tuple[str, dict[str, Any]]] = []
    variables = {}
    for name, (variable, _, value) in sent.items():
        parameter = tool.parameter(name)
        schema = parameter.schema if parameter is not None else Schema.of(True)
        variables[variable] = _without(value, schema, f"variables.{variable}", files)
    return variables, files


def multipart_of(body: Mapping[str, Any], files: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """Return the fields of the multipart request: what is asked, where the files belong, and the files."""
    places = {str(number): [path] for number, (path, _) in enumerate(files)}
    numbered = {str(number): content for number, (_, content) in enumerate(files)}
    return {"operations": json.dumps(body), "map": json.dumps(places), **numbered}


def _without(value: Any, schema: Schema, path: str, files: list[tuple[str, dict[str, Any]]]) -> Any:
    schema = schema.resolved()
    if schema.is_file() and (is_content(value) or isinstance(value, str)):
        text = value if not isinstance(value, str) else {INLINE_KEY: base64.b64encode(value.encode()).decode()}
        files.append((path, text))
        return None
    items = schema.items()
    if isinstance(value, list) and items is not None:
        return [_without(one, items, f"{path}.{number}", files) for number, one in enumerate(value)]
    if isinstance(value, Mapping) and not is_content(value):
        fields = schema.properties()
        return {
            name: _without(one, fields[name], f"{path}.{name}", files) if name in fields else one
            for name, one in value.items()
        }
    return value
