"""Doubt about repeated calls: the answer to the last attempt does not show what an earlier attempt did."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING

from codemode.errors import AnswerInvalid, CallError, EndUnknown, UpstreamError, UpstreamTimeout

if TYPE_CHECKING:
    from codemode.transports.http.request import HttpRequest

_DOUBT = "an earlier attempt was sent, and it is unknown whether it did the work"

#: Headers by which services recognise a repeated request (draft-ietf-httpapi-idempotency-key-header).
_KEYS = frozenset(("idempotency-key", "x-idempotency-key"))

#: Phrases in a 409 that mean: the first request with this key is still in progress.
_IN_PROGRESS = re.compile(
    r"in[\W_]*progress|in[\W_]*flight|in[\W_]*use|outstanding|concurrent|(?:being|still|currently)\W+\w*process"
    r"|another\W+request",
    re.IGNORECASE,
)

#: Characters of an answer that are searched.
_READ = 2_000


class Interrupted(UpstreamTimeout):
    """The connection broke before the answer was complete. The service may have done the work.

    `is_stale` means that no byte arrived: usually the service closed an idle connection at that moment.
    """

    def __init__(self, message: str, *, is_stale: bool = False) -> None:
        self.is_stale = is_stale
        super().__init__(message)


def has_key(request: HttpRequest) -> bool:
    """Return whether the request carries an idempotency key."""
    return request.is_keyed or any(name.lower() in _KEYS for name, _ in request.headers)


def is_in_progress(error: Exception, request: HttpRequest) -> bool:
    """Return whether the service is still working on the first request with this key."""
    if not isinstance(error, UpstreamError) or error.status != HTTPStatus.CONFLICT or not has_key(request):
        return False
    return error.retry_after_s is not None or _IN_PROGRESS.search(f"{error} {error.body}"[:_READ]) is not None


def leaves_doubt(error: Exception) -> bool:
    """Return whether a failed write may have taken effect. Only a 429 rules that out."""
    return not isinstance(error, UpstreamError) or error.status != HTTPStatus.TOO_MANY_REQUESTS


def in_doubt(error: CallError) -> CallError:
    """Return the error of a write whose last attempt failed and whose earlier attempt may have taken effect."""
    match error:
        case UpstreamTimeout() | AnswerInvalid() | EndUnknown():
            return error
        case UpstreamError(status=status, body=body, retry_after_s=wait):
            return EndUnknown(f"{error}; {_DOUBT}", status=status, body=body, retry_after_s=wait)
        case _:
            message = error.for_model().partition("; nothing was sent")[0]
            return UpstreamTimeout(f"{message}; {_DOUBT}")
