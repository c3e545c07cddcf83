"""Problem documents: how every error of the HTTP face is told (RFC 9457)."""

from __future__ import annotations

from typing import Any

from fastapi.responses import JSONResponse


def problem(status: int, code: str, detail: str, **more: Any) -> JSONResponse:
    """A problem document (RFC 9457)."""
    content = {"type": "about:blank", "title": code.replace("_", " "), "status": status, "detail": detail, "code": code}
    return JSONResponse(content | more, status, media_type="application/problem+json")
