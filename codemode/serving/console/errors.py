"""The answers to errors: pages in the browser, problem documents for clients that ask for JSON."""

from __future__ import annotations

import logging
import uuid
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from codemode.errors import CodeModeError, JournalUnavailable, SearchInvalid, ToolNotFound
from codemode.serving.console.session import base_of
from codemode.serving.console.views import here, path_in, wants_json
from codemode.serving.web.problems import JOURNAL_AWAY, problem
from sandbox import SandboxError

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from codemode.serving.console.views import Console

    Handler = Callable[[Request, Exception], Response]

log = logging.getLogger(__name__)

_CODES = {401: "unauthorized", 404: "not_found", 405: "method_not_allowed"}
_UNAUTHORIZED = "send a key of this server as 'Authorization: Bearer …', or log in"


def error_handlers(console: Console, status_of: Callable[[CodeModeError], int]) -> dict[Any, Handler]:
    """Return the handlers by class. `status_of` is the HTTP status of an error of ours."""

    def answer(request: Request, status: int, code: str, detail: str, nearest: tuple[str, ...] = ()) -> Response:
        if wants_json(request):
            return problem(status, code, detail, **({"nearest": list(nearest)} if nearest else {}))
        title = HTTPStatus(status).phrase
        data = {"status": status, "code": code, "detail": detail, "nearest": nearest}
        return console.page(request, "error.html", title=title, data=data, status=status)

    def known(request: Request, error: Exception) -> Response:
        assert isinstance(error, CodeModeError)  # noqa: S101 -- the class it is registered for
        if isinstance(error, JournalUnavailable):
            log.error("%s", error)
            return answer(request, status_of(error), error.code, JOURNAL_AWAY)
        nearest = tuple(error.nearest) if isinstance(error, (ToolNotFound, SearchInvalid)) else ()
        return answer(request, status_of(error), error.code, str(error), nearest)

    def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 -- the class it is registered for
        if error.status_code == HTTPStatus.UNAUTHORIZED:
            return _log_in(console, request)
        return answer(request, error.status_code, _CODES.get(error.status_code, "request_invalid"), error.detail)

    def unavailable(request: Request, error: Exception) -> Response:
        return answer(request, 503, "sandbox_unavailable", str(error))

    def unexpected(request: Request, error: Exception) -> Response:
        reference = uuid.uuid4().hex
        log.error("unexpected error %s", reference, exc_info=error)
        return answer(request, 500, "internal_error", f"internal error; the server log has details under {reference}")

    return {CodeModeError: known, HTTPException: http, SandboxError: unavailable, Exception: unexpected}


def _log_in(console: Console, request: Request) -> Response:
    """Send a browser to the login, and back to this page afterwards.

    Browsers withhold the cookie when a page of another site links here. A page that loads itself again gets it.
    """
    if wants_json(request):
        return problem(401, "unauthorized", _UNAUTHORIZED)
    back = here(request) if request.method == "GET" else ""
    login = path_in(base_of(request), "login", next=back)
    if request.headers.get("hx-request") == "true":
        return Response(status_code=401, headers={"HX-Redirect": path_in(base_of(request), "login")})
    if back and request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        return console.page(request, "again.html", title="One moment", data={"target": back})
    return RedirectResponse(login, 303)
