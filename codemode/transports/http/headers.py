"""The headers of an answer: those that a program receives, without secrets and bounded, and when to ask again."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.transports.redaction import Redactor

#: The name of the argument that chooses the type of the answer, and of its header.
ACCEPT = "accept"

#: Most headers of an answer, and characters of one value and of all together.
MOST_HEADERS, LONGEST_VALUE, LONGEST_HEADERS = 64, 4_000, 16_000

#: Headers that hold secrets, or may. Tokens of a next page are none.
_SECRET = re.compile(
    r"cookie|auth(?!ors?\b)|(?<!continuation-)token|secret|passw|credential|api-?key|session|csrf|xsrf|signature"
)

#: Headers of the connection (RFC 9110, 7.6.1), and of the body as it was packed.
_OF_CONNECTION = frozenset(
    (
        "connection",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "content-encoding",
    )
)


def is_shown(name: str) -> bool:
    """Return whether programs receive a header, by its name in lower case."""
    return name not in _OF_CONNECTION and _SECRET.search(name) is None


def shown_headers(headers: Mapping[str, str], redactor: Redactor) -> dict[str, str]:
    """Return the headers that a program receives, names in lower case, without values that are too long."""
    shown: dict[str, str] = {}
    left = LONGEST_HEADERS
    for name in _in_order(headers):
        value = redactor.text(headers[name])
        left -= len(name) + len(value)
        if len(value) <= LONGEST_VALUE and left >= 0 and len(shown) < MOST_HEADERS:
            shown[name] = value
    return shown


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds given by `Retry-After` (RFC 9110, 10.2.3), None if there are none."""
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d+)?", value):
        return float(value)
    try:
        when = parsedate_to_datetime(value)
    except (TypeError, ValueError, OverflowError):
        return None
    moment = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())


def _in_order(headers: Mapping[str, str]) -> Iterable[str]:
    """Return the names of headers that may be shown, those first that lead somewhere."""
    return sorted(filter(is_shown, headers), key=lambda name: name not in _FIRST)


_FIRST = frozenset(
    ("location", "etag", "last-modified", "operation-location", "azure-asyncoperation", "retry-after", "link")
)
