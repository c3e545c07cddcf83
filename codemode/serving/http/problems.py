"""Problem documents: how every error of the HTTP face is told (RFC 9457)."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi.responses import JSONResponse

#: Seconds after which whoever was told that something is not there for now may ask again.
RETRY_AFTER_S = 5


def problem(status: int, code: str, detail: str, **more: Any) -> JSONResponse:
    """A problem document (RFC 9457); a 503 says when to ask again (RFC 9110, 10.2.3)."""
    content = {"type": "about:blank", "title": code.replace("_", " "), "status": status, "detail": detail, "code": code}
    headers = {"Retry-After": str(RETRY_AFTER_S)} if status == HTTPStatus.SERVICE_UNAVAILABLE else None
    return JSONResponse(content | more, status, headers, media_type="application/problem+json")
