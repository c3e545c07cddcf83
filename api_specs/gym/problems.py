"""What the service answers when it says no: problem details (RFC 9457)."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NoReturn

from fastapi.responses import JSONResponse

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence


class Problem(Exception):
    """An answer with an error status; `detail` says what is wrong and what to do, `errors` names invalid arguments."""

    def __init__(self, status: int, detail: str, *, errors: Sequence[dict[str, str]] = ()) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = tuple(errors)

    def response(self) -> JSONResponse:
        """The answer as it is sent."""
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
    """Raise a 409: the arguments are fine, but the records do not allow it."""
    raise Problem(409, detail)


def not_found(what: str, number: object) -> Problem:
    """404: there is no such record."""
    return Problem(404, f"There is no {what} {number}.")


def invalid(*errors: tuple[str, str, str]) -> Problem:
    """422: arguments that are not valid, each as (place, name, message)."""
    listed = [{"in": place, "name": name, "message": message} for place, name, message in errors]
    return Problem(422, "; ".join(f"{error['name']}: {error['message']}" for error in listed), errors=listed)


def broken_constraint(error: sqlite3.IntegrityError) -> Problem:
    """A constraint of the schema that a write would break, as 409."""
    unique = re.match(r"UNIQUE constraint failed: (.+)", str(error))
    if unique:
        columns = [column.split(".")[-1] for column in unique[1].split(", ")]
        return Problem(409, f"There is a record with the same {' and '.join(columns)} already.")
    if "FOREIGN KEY" in str(error):
        return Problem(409, "Other records still refer to this one.")
    return Problem(409, f"The records do not allow this ({error}).")
