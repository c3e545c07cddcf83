"""Problem documents: the error format of the HTTP API (RFC 9457)."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi.responses import JSONResponse

#: The page that explains each error, with an anchor for its code.
ERRORS_PAGE = "https://github.com/codemode/codemode/blob/main/docs/reference/errors.md"

#: The detail of a problem with the journal, whose own message names folders and hosts.
JOURNAL_AWAY = "executions cannot be recorded or read now; check what was done, and try again later"

#: Retry-After seconds of every 503 answer.
RETRY_AFTER_S = 5

_HEADERS: dict[int, dict[str, str]] = {
    HTTPStatus.UNAUTHORIZED: {"WWW-Authenticate": "Bearer"},
    HTTPStatus.SERVICE_UNAVAILABLE: {"Retry-After": str(RETRY_AFTER_S)},
}


def problem(status: int, code: str, detail: str, **more: Any) -> JSONResponse:
    """Return a problem document (RFC 9457).

    Status 401 includes WWW-Authenticate, and 503 Retry-After (RFC 9110, 11.6.1 and 10.2.3).
    """
    content = {
        "type": f"{ERRORS_PAGE}#{code}",
        "title": code.replace("_", " "),
        "status": status,
        "detail": detail,
        "code": code,
    }
    return JSONResponse(content | more, status, _HEADERS.get(status), media_type="application/problem+json")
