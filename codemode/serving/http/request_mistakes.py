"""Messages for invalid requests: the place, the mistake, and for an unknown name the closest valid one."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi import Request  # noqa: TC002 -- FastAPI reads it at run time
from fastapi.exceptions import RequestValidationError
from starlette.routing import Route

from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from fastapi.routing import APIRoute
    from starlette.exceptions import HTTPException

#: Characters of a path repeated in a message.
_PATH_SHOWN = 200

#: Only these paths reject unknown query parameters. Probes and scrapers may send some.
_STRICT = "/v1/"


async def know_query(request: Request) -> None:
    """Reject unknown query parameters, so that typing mistakes are noticed.

    A dependency of the whole application. FastAPI would run a plain function in a thread. Raises
    RequestValidationError.
    """
    if not request.scope["query_string"] or not request.url.path.startswith(_STRICT):
        return
    known = _in_query(request)
    unknown = [name for name in dict.fromkeys(request.query_params) if name not in known]
    if unknown:
        raise RequestValidationError([{"type": "extra_forbidden", "loc": ("query", name)} for name in unknown])


def unread_body(error: ValueError | RecursionError) -> str:
    """Return why a body cannot be parsed as JSON."""
    match error:
        case UnicodeDecodeError():
            return f"body: not UTF-8 text: {error.reason} at byte {error.start}"
        case RecursionError():
            return "body: nested too deeply"
        case _:
            return "body: it contains a number with too many digits"


def mistake_of(error: dict[str, Any], request: Request) -> dict[str, str]:
    """Return the place and message of one validation error."""
    if error["type"] == "json_invalid":
        return {"at": "body", "message": f"not JSON: {error['ctx']['error']} at character {error['loc'][-1]}"}
    if error["loc"] == ("body",) and error["type"] == "value_error":  # of several arguments together
        return {"at": "body", "message": str(error["msg"]).removeprefix("Value error, ")}
    if error["loc"] == ("body",):
        is_json = "json" in request.headers.get("content-type", "")
        more = (
            f"; valid: {', '.join(_in_body(request))}" if is_json else ", and with it 'Content-Type: application/json'"
        )
        return {"at": "body", "message": f"send a JSON object{more}"}
    at = ".".join(str(part) for part in error["loc"])
    match error["type"], error["loc"]:
        case "extra_forbidden", ("query", name):
            return {"at": at, "message": _unknown(name, _in_query(request))}
        case "extra_forbidden", ("body", name):
            return {"at": at, "message": _unknown(name, _in_body(request))}
        case _:
            return {"at": at, "message": error["msg"]}


def place_mistake(error: HTTPException, request: Request) -> str:
    """Return the mistake in a request's path or method, or "" if both are valid."""
    path = request.url.path[:_PATH_SHOWN]
    if error.status_code == HTTPStatus.NOT_FOUND:
        if path == "/metrics":
            return "metrics are off; turn them on with `observe: {metrics: true}` in the configuration"
        known = sorted({route.path for route in request.app.routes if isinstance(route, Route)} - {"/"})
        return f"unknown path {path}{did_you_mean(path, known) or ';'} /openapi.json lists all paths"
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        return f"{path} accepts {(error.headers or {}).get('Allow', 'another method')}, not {request.method}"
    return ""


def _unknown(name: str, known: list[str]) -> str:
    return f"unknown name{did_you_mean(name, known) or '.'} Valid: {', '.join(known) or 'nothing'}"


def _in_query(request: Request) -> list[str]:
    return [field.alias for field in _route(request).dependant.query_params]


def _in_body(request: Request) -> list[str]:
    models = [field.field_info.annotation for field in _route(request).dependant.body_params]
    return [name for model in models for name in getattr(model, "model_fields", ())]


def _route(request: Request) -> APIRoute:
    route: APIRoute = request.scope["route"]
    return route
