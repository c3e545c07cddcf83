"""A transport that compares every answer with the OpenAPI document of the application."""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

import httpx2
from jsonschema import Draft202012Validator, FormatChecker

if TYPE_CHECKING:
    from fastapi import FastAPI

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_FORMATS = FormatChecker(())
_FORMATS.checks("date-time")(lambda value: not isinstance(value, str) or _TIME.fullmatch(value) is not None)


class DescribedTransport(httpx2.AsyncBaseTransport):
    """Passes requests to the application. Answers may have no other status, type, field or form of time than described.

    Event streams and paths outside of the document are passed on unread.
    """

    def __init__(self, app: FastAPI) -> None:
        self._inner = httpx2.ASGITransport(app)
        self._document = closed(app.openapi())

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the answer, which agrees with the document."""
        response = await self._inner.handle_async_request(request)
        operation = operation_of(self._document, request.method, request.url.path)
        if operation is None or response.headers["content-type"].startswith("text/event-stream"):
            return response
        await response.aread()
        responses = operation["responses"]
        described = responses.get(str(response.status_code)) or responses["default"]
        schema = described["content"][response.headers["content-type"]]["schema"]
        check(self._document, schema, response.json())
        for name in described.get("headers", ()):
            assert name in response.headers, f"{operation['operationId']} {response.status_code} lacks {name}"
        return response

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self._inner.aclose()


def closed(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with schemas that allow no further fields."""
    document = copy.deepcopy(document)
    for schema in document["components"]["schemas"].values():
        if "properties" in schema:
            schema["additionalProperties"] = False
    return document


def check(document: dict[str, Any], schema: dict[str, Any], value: Any) -> None:
    """Fail if a value does not match a schema of the document."""
    whole = {**schema, "components": document["components"]}
    errors = [
        f"{error.json_path}: {error.message}"
        for error in Draft202012Validator(whole, format_checker=_FORMATS).iter_errors(value)
    ]
    assert not errors, errors


def operation_of(document: dict[str, Any], method: str, path: str) -> dict[str, Any] | None:
    """Return the operation of a request, None if the document has none."""
    for template, operations in sorted(document["paths"].items(), key=lambda item: "{" in item[0]):
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path):
            found: dict[str, Any] | None = operations.get(method.lower())
            return found
    return None
