"""Posted forms. The server's limit on request bodies bounds their size."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.datastructures import ImmutableMultiDict
from starlette.exceptions import HTTPException

if TYPE_CHECKING:
    from starlette.requests import Request

Form = ImmutableMultiDict[str, str]

FORM_TYPE = "application/x-www-form-urlencoded"

#: Maximum number of fields of a form.
MOST_FIELDS = 1_000


def parsed(body: bytes) -> Form:
    """Return the fields of an `application/x-www-form-urlencoded` body (URL standard, 5.1). Raises ValueError.

    Browsers send line breaks as CRLF. They become LF.
    """
    text = body.decode("utf-8")
    fields = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    return ImmutableMultiDict([(name, value.replace("\r\n", "\n")) for name, value in fields])


async def form_of(request: Request) -> Form:
    """Return the posted form. Raises HTTPException with status 422 if it is malformed."""
    try:
        return parsed(await request.body())
    except ValueError as error:
        detail = f"the form is malformed: {error}; reload the page and send it again"
        raise HTTPException(422, detail) from None
