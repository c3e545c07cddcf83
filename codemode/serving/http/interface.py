"""The application class and the OpenAPI document of the HTTP API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

from codemode.serving.http.models import Problem

if TYPE_CHECKING:
    from fastapi.routing import APIRoute
    from pydantic import BaseModel

_SCHEMAS = "#/components/schemas/{model}"

_DESCRIPTION = """\
Search the tools of all sources, and run programs that call them.

Send a key of the server as `Authorization: Bearer …`. Errors are problem documents (RFC 9457) with a stable `code`. \
Times are RFC 3339 in UTC with milliseconds. A failed program is an outcome with status 200.
"""

TAGS = [
    {"name": "tools", "description": "Find tools."},
    {"name": "executions", "description": "Run programs, and follow, cancel and resume them."},
    {"name": "content", "description": "Upload and download images and files."},
    {"name": "approvals", "description": "Decide on calls that wait for a person."},
    {"name": "plans", "description": "Approve the list of a dry run as a whole."},
    {"name": "continuations", "description": "Continue paused executions that their callers keep, without a journal."},
    {"name": "saved", "description": "Programs that were saved as tools."},
    {"name": "health", "description": "The state of the server."},
]

_RETRY_AFTER = {"Retry-After": {"description": "Seconds after which to try again.", "schema": {"type": "integer"}}}
_AUTHENTICATE = {"WWW-Authenticate": {"description": "The scheme, Bearer.", "schema": {"type": "string"}}}

#: The meaning of each status that an operation may declare.
_PROBLEMS: dict[int | str, tuple[str, dict[str, Any]]] = {
    400: ("The request is not valid HTTP, or has a foreign host.", {}),
    401: ("No valid key of this server.", _AUTHENTICATE),
    403: ("The caller may not do this.", {}),
    404: ("There is no such thing, or it belongs to another key.", {}),
    409: ("The execution is in another state.", {}),
    413: ("The body is too large.", {}),
    422: ("The request does not match this operation.", {}),
    429: ("There is no room at present.", _RETRY_AFTER),
    503: ("The server, its journal or a source is not available.", _RETRY_AFTER),
    "default": ("Any other error.", {}),
}

#: The problems that each operation with a key may end in.
_OF_ALL = (400, 401, 403, 422, 429, 503)


class Api(FastAPI):
    """A FastAPI application whose operations are named after their functions."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            title="codemode",
            version="1",
            description=_DESCRIPTION,
            openapi_tags=TAGS,
            generate_unique_id_function=_name_of,
            openapi_url=None,  # pages.py serves the document and its pages
            **options,
        )

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document, made when first asked for."""
        if self.openapi_schema is None:
            schema = Problem.model_json_schema(ref_template=_SCHEMAS)
            super().openapi()["components"]["schemas"] |= schema.pop("$defs") | {Problem.__name__: schema}
        return super().openapi()


def answers(model: type[BaseModel], *problems: int) -> dict[int | str, dict[str, Any]]:
    """Return the responses of an operation that needs a key: the model with status 200, and problems."""
    return {200: {"model": model}, **problem_answers(*sorted({*problems, *_OF_ALL}), "default")}


def problem_answers(*problems: int | str) -> dict[int | str, dict[str, Any]]:
    """Return problem documents with these statuses as responses of an operation."""
    return {status: _problem_answer(*_PROBLEMS[status]) for status in problems}


def accepted(model: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    """Return the response of an operation that continues in the background."""
    place = {"Location": {"description": "The address of the execution.", "schema": {"type": "string"}}}
    return {202: {"model": model, "description": "The execution continues.", "headers": place | _RETRY_AFTER}}


def _problem_answer(description: str, headers: dict[str, Any]) -> dict[str, Any]:
    schema = {"$ref": _SCHEMAS.format(model=Problem.__name__)}
    answer = {"description": description, "content": {"application/problem+json": {"schema": schema}}}
    return answer | ({"headers": headers} if headers else {})


def _name_of(route: APIRoute) -> str:
    return route.name
