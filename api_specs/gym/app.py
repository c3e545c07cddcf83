"""The gym service. Routes, authentication, validation and answers follow from the OpenAPI document."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from api_specs.gym import activities, business, members, offers
from api_specs.gym.database import Database
from api_specs.gym.document import Document, Operation, load
from api_specs.gym.operations import WRITES, Arguments, read, require_records
from api_specs.gym.problems import Problem, broken_constraint, invalid
from api_specs.gym.seed import fill

if TYPE_CHECKING:
    from pathlib import Path

#: The default current time of the seeded gym.
DEFAULT_CLOCK = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)

Handler = Callable[[Database, Arguments], Any]


def create_app(database: Path | str = ":memory:", *, token: str, clock: date | datetime = DEFAULT_CLOCK) -> FastAPI:
    """Create the service on a database file, or in memory.

    A new database is filled with members, payments and classes of the two years before `clock`, the fixed current time
    of the service. A date means noon, UTC. Every operation requires `token` as a bearer token.
    """
    document = load()
    db = Database(database, clock=_moment(clock))
    if db.is_new:
        fill(db)
    app = _Service(document)
    app.exception_handlers[HTTPException] = _no_route
    # fixed segments before parameters, so that /clients/merge is not client "merge"
    for operation in sorted(document.operations.values(), key=lambda operation: operation.path.replace("{", "~")):
        endpoint = _endpoint(document, operation, _handler(db, operation), db, token)
        app.add_route(operation.path, endpoint, methods=[operation.method], name=operation.id)
    return app


class _Service(FastAPI):
    """A FastAPI application that serves the document unchanged."""

    def __init__(self, document: Document) -> None:
        super().__init__(title=document.contents["info"]["title"], redirect_slashes=False)
        self._document = document

    def openapi(self) -> dict[str, Any]:
        return self._document.contents


def _handler(db: Database, operation: Operation) -> Handler:
    """Return the operation's handler: a function of its name, a declared write, or an SQL statement."""
    for module in (activities, business, members, offers):
        if operation.id in vars(module):
            handler: Handler = vars(module)[operation.id]
            return handler
    if operation.id in WRITES:
        return WRITES[operation.id]
    if operation.id in db.statements:
        paged = any(parameter.name == "limit" for parameter in operation.parameters)
        return lambda db, arguments: read(db, operation.id, arguments, paged=paged)
    message = f"no handler for {operation.id}: add it to reads.sql, to WRITES or to a module of operations"
    raise LookupError(message)


def _endpoint(
    document: Document, operation: Operation, handler: Handler, db: Database, token: str
) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        try:
            _require_token(request, token)
            body = await request.body()
            # No await from here on: a request is one transaction.
            parameters = _parameters(document, operation, request)
            content = _content(document, operation, body)
            with db.transaction():
                require_records(
                    db, {p.name: parameters[p.name] for p in operation.parameters if p.place == "path"}, place="path"
                )
                require_records(db, content, place="body")
                value = handler(db, {**parameters, **content})
        except Problem as problem:
            return problem.response()
        except sqlite3.IntegrityError as error:
            return broken_constraint(error).response()
        except (OverflowError, UnicodeEncodeError) as error:
            return Problem(422, f"An argument cannot be stored: {error}.").response()
        return _response(document, operation, value)

    return answer


def _require_token(request: Request, token: str) -> None:
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not secrets.compare_digest(given.encode(), token.encode()):
        raise Problem(401, "Send the token of the service as a bearer token: Authorization: Bearer TOKEN.")


def _parameters(document: Document, operation: Operation, request: Request) -> Arguments:
    given = {"path": dict(request.path_params), "query": dict(request.query_params)}
    known = {parameter.name for parameter in operation.parameters}
    errors = [("query", name, "unknown parameter") for name in given["query"] if name not in known]
    values: Arguments = {}
    for parameter in operation.parameters:
        text = given[parameter.place].get(parameter.name)
        if text is None:
            values[parameter.name] = parameter.schema.get("default")
            if parameter.required:
                errors.append((parameter.place, parameter.name, "is required"))
            continue
        values[parameter.name] = parameter.parsed(text)
        mistakes = document.mistakes(parameter.schema, values[parameter.name])
        errors += [(parameter.place, parameter.name, message) for _, message in mistakes]
    if errors:
        raise invalid(*errors)
    return values


def _content(document: Document, operation: Operation, body: bytes) -> Arguments:
    if operation.body is None:
        return {}
    if not body and not operation.body_required:
        return document.with_defaults(operation.body, {})
    try:
        content = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise invalid(("body", "", "is not JSON")) from None
    mistakes = document.mistakes(operation.body, content)
    if mistakes:
        raise invalid(*(("body", place, message) for place, message in mistakes))
    return document.with_defaults(operation.body, content)


def _no_constant(name: str) -> None:
    message = f"{name} is not JSON"
    raise ValueError(message)


def _response(document: Document, operation: Operation, value: Any) -> Response:
    if operation.answer is not None:
        return JSONResponse(document.shaped(operation.answer, value), operation.status)
    return Response(value, operation.status, media_type=operation.media_type)


async def _no_route(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return Problem(status, f"There is no operation {request.method} {request.url.path}.").response()


def _moment(clock: date | datetime) -> datetime:
    if isinstance(clock, datetime):
        return clock.astimezone(UTC) if clock.tzinfo else clock.replace(tzinfo=UTC)
    return datetime.combine(clock, time(12), UTC)
