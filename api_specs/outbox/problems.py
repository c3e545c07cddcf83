"""Error answers of the service: problem details (RFC 9457)."""

from __future__ import annotations

from http import HTTPStatus

from fastapi.responses import JSONResponse


class Problem(Exception):
    """An error answer. `detail` says what is wrong and what to do."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail

    def response(self) -> JSONResponse:
        """Return the HTTP response."""
        content = {"title": HTTPStatus(self.status).phrase, "status": self.status, "detail": self.detail}
        headers = {"WWW-Authenticate": "Bearer"} if self.status == HTTPStatus.UNAUTHORIZED else None
        return JSONResponse(content, self.status, headers, "application/problem+json")
