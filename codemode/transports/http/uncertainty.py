"""Calls that were sent more than once: what the last attempt was answered does not say what an earlier one did."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING

from codemode.errors import AnswerInvalid, CallError, EndUnknown, UpstreamError, UpstreamTimeout

if TYPE_CHECKING:
    from codemode.transports.http.request import HttpRequest

_SAID = "an earlier attempt was sent, and whether it did the work is unknown"

#: By these a service knows a second attempt and does the work once (draft-ietf-httpapi-idempotency-key-header).
_KEYS = frozenset(("idempotency-key", "x-idempotency-key"))

#: How services say with a 409 that the first request under a key is not done yet.
_IN_PROGRESS = re.compile(
    r"in[\W_]*progress|in[\W_]*flight|in[\W_]*use|outstanding|concurrent|(?:being|still|currently)\W+\w*process"
    r"|another\W+request",
    re.IGNORECASE,
)

#: Characters of an answer that are looked at.
_READ = 2_000


def has_key(request: HttpRequest) -> bool:
    """Whether the service knows a second attempt at the request by a key."""
    return request.is_keyed or any(name.lower() in _KEYS for name, _ in request.headers)


def is_in_progress(error: Exception, request: HttpRequest) -> bool:
    """Whether a service says that it is still at work on the first request under this key."""
    if not isinstance(error, UpstreamError) or error.status != HTTPStatus.CONFLICT or not has_key(request):
        return False
    return error.retry_after_s is not None or _IN_PROGRESS.search(f"{error} {error.body}"[:_READ]) is not None


def leaves_doubt(error: Exception) -> bool:
    """Whether an attempt at a write that ended so may have done the work: 429 alone says that it did not."""
    return not isinstance(error, UpstreamError) or error.status != HTTPStatus.TOO_MANY_REQUESTS


def in_doubt(error: CallError) -> CallError:
    """The error of a write of which an earlier attempt may have done the work, and the last one ended so."""
    match error:
        case UpstreamTimeout() | AnswerInvalid() | EndUnknown():
            return error
        case UpstreamError(status=status, body=body, retry_after_s=wait):
            return EndUnknown(f"{error}; {_SAID}", status=status, body=body, retry_after_s=wait)
        case _:
            said = error.for_model().partition("; nothing was sent")[0]
            return UpstreamTimeout(f"{said}; {_SAID}")
