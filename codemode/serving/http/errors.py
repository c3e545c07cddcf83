"""Errors of the HTTP API as problem documents (RFC 9457), each with the error's stable `code`.

A failed program is an outcome, not an error of the service: its status is 200.
"""

from __future__ import annotations

import logging
import uuid
from typing import TYPE_CHECKING

from fastapi import Request  # noqa: TC002 -- FastAPI reads it at run time
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse  # noqa: TC002 -- FastAPI reads it at run time
from starlette.exceptions import HTTPException as StarletteHTTPException

from codemode.errors import (
    ApprovalForbidden,
    CodeModeError,
    ConfigurationError,
    CredentialsRevoked,
    ExecutionError,
    ExecutionNotFound,
    JournalDamaged,
    JournalFull,
    JournalUnavailable,
    RequestConflict,
    SearchInvalid,
    SourceUnavailable,
    ToolNotFound,
)
from codemode.executions.types.saving_errors import SavingForbidden, SavingRefused
from codemode.model.modes import ModeRejected
from codemode.serving.http.request_mistakes import mistake_of, place_mistake, unread_body
from codemode.serving.web.problems import JOURNAL_AWAY, problem
from codemode.transports.content import ContentNotFound
from sandbox import SandboxError

if TYPE_CHECKING:
    from fastapi import FastAPI

log = logging.getLogger(__name__)

#: HTTP status of each error class; the first match counts. Other errors come from upstream services: 502.
STATUS: dict[type[CodeModeError], int] = {
    SourceUnavailable: 503,
    ToolNotFound: 404,
    ExecutionNotFound: 404,
    ContentNotFound: 404,
    SearchInvalid: 422,
    RequestConflict: 422,
    ApprovalForbidden: 403,
    SavingForbidden: 403,
    ModeRejected: 403,
    SavingRefused: 409,
    CredentialsRevoked: 401,
    JournalFull: 507,
    JournalUnavailable: 503,
    JournalDamaged: 500,
    ExecutionError: 409,
    ConfigurationError: 409,
}


def status_of(error: CodeModeError) -> int:
    """Return the HTTP status of an error."""
    return next((status for kind, status in STATUS.items() if isinstance(error, kind)), 502)


def answer_errors(app: FastAPI) -> None:
    """Let the application answer every error with a problem document."""

    @app.exception_handler(CodeModeError)
    async def known(_: Request, error: CodeModeError) -> JSONResponse:
        status = status_of(error)
        nearest = {"nearest": list(error.nearest)} if isinstance(error, (ToolNotFound, SearchInvalid)) else {}
        return problem(status, error.code, str(error), **nearest)

    @app.exception_handler(JournalUnavailable)
    async def unrecorded(_: Request, error: JournalUnavailable) -> JSONResponse:
        log.error("%s", error)
        known = {"execution": error.execution} if error.execution else {}
        detail = f"{JOURNAL_AWAY}; the execution is {error.execution}" if known else JOURNAL_AWAY
        return problem(STATUS[JournalUnavailable], error.code, detail, **known)

    @app.exception_handler(SandboxError)
    async def unavailable(_: Request, error: SandboxError) -> JSONResponse:
        return problem(503, "sandbox_unavailable", str(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        mistakes = [mistake_of(e, request) for e in error.errors()]
        detail = "; ".join(f"{mistake['at']}: {mistake['message']}" for mistake in mistakes)
        return problem(422, "request_invalid", detail, errors=mistakes)

    @app.exception_handler(Exception)
    async def unexpected(_: Request, error: Exception) -> JSONResponse:
        reference = uuid.uuid4().hex
        log.error("unexpected error %s", reference, exc_info=error)
        return problem(500, "internal_error", f"internal error; the server log has details under {reference}")

    @app.exception_handler(StarletteHTTPException)
    async def http(request: Request, error: StarletteHTTPException) -> JSONResponse:
        codes = {404: "not_found", 405: "method_not_allowed", 413: "request_too_large"}
        if isinstance(error.__cause__, (ValueError, RecursionError)):  # how FastAPI reports an unreadable body
            return problem(422, "request_invalid", unread_body(error.__cause__))
        code = codes.get(error.status_code, "request_invalid")
        answer = problem(error.status_code, code, place_mistake(error, request) or str(error.detail))
        answer.headers.update(error.headers or {})
        return answer
