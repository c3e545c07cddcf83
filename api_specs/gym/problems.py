"""Error answers of the service: problem details (RFC 9457)."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NoReturn

from fastapi.responses import JSONResponse

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence


class Problem(Exception):
    """An error answer. `detail` says what is wrong and what to do; `errors` lists invalid arguments."""

    def __init__(self, status: int, detail: str, *, errors: Sequence[dict[str, str]] = ()) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = tuple(errors)

    def response(self) -> JSONResponse:
        """Return the HTTP response."""
        content: dict[str, Any] = {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
        }
        if self.errors:
            content["errors"] = list(self.errors)
        headers = {"WWW-Authenticate": "Bearer"} if self.status == HTTPStatus.UNAUTHORIZED else None
        return JSONResponse(content, self.status, headers, "application/problem+json")


def refuse(detail: str) -> NoReturn:
    """Raise a 409: the arguments are valid, but the records do not allow the operation."""
    raise Problem(409, detail)


def not_found(what: str, number: object) -> Problem:
    """Return a 404 for a missing record."""
    return Problem(404, f"There is no {what} {number}.")


def invalid(*errors: tuple[str, str, str]) -> Problem:
    """Return a 422 for invalid arguments, each given as (place, name, message)."""
    listed = [{"in": place, "name": name, "message": message} for place, name, message in errors]
    return Problem(422, "; ".join(f"{error['name']}: {error['message']}" for error in listed), errors=listed)


def broken_constraint(error: sqlite3.IntegrityError) -> Problem:
    """Return a 409 for a write that would break a constraint of the schema."""
    unique = re.match(r"UNIQUE constraint failed: (.+)", str(error))
    if unique:
        columns = [column.split(".")[-1] for column in unique[1].split(", ")]
        return Problem(409, f"A record with the same {' and '.join(columns)} already exists.")
    if "FOREIGN KEY" in str(error):
        return Problem(409, "Other records still refer to this one.")
    return Problem(409, f"The records do not allow this ({error}).")
