"""What a request may carry so that a service takes it for one of another method, and whether the tool may do that.

Frameworks read another method from a header (`X-HTTP-Method-Override` and its like), from the query or from a field of
a body (`_method`: Rails, Laravel, Symfony, Spring, Express). The policy has decided by the effect of the tool.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from codemode.catalog.tool import Effect
from codemode.errors import ArgumentsInvalid

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codemode.catalog.tool import Tool

_NAMES = frozenset(("_method", "x_http_method", "x_http_method_override", "x_method_override", "http_method_override"))

#: What services read as one and the same character of a name (CGI: `-`; PHP: spaces and dots).
_SAME = re.compile(r"[-. +]")

_SERIOUSNESS = (Effect.READ, Effect.WRITE, Effect.DESTRUCTIVE)

#: What a method does to the world; any other may do anything.
_EFFECTS = dict.fromkeys(("GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "SEARCH"), Effect.READ) | dict.fromkeys(
    ("POST", "PUT", "PATCH", "MERGE"), Effect.WRITE
)


def check_overrides(tool: Tool, sent: Iterable[tuple[str, Any]]) -> None:
    """Raise ArgumentsInvalid where the names and values of a request make more of it than the effect of its tool."""
    for name, value in sent:
        if not _overrides(name):
            continue
        effect = _EFFECTS.get(str(value).strip().upper(), Effect.DESTRUCTIVE)
        if _SERIOUSNESS.index(effect) > _SERIOUSNESS.index(tool.effect):
            message = (
                f"{name} = {str(value)[:40]!r} would make another method of the request, which is {effect}, and the "
                f"tool is {tool.effect}; its operator may say that it is {effect} (`effect` of the source)"
            )
            raise ArgumentsInvalid(tool.id, message)


def _overrides(name: str) -> bool:
    text = unquote(name).strip().casefold().partition("[")[0]
    return _SAME.sub("_", text) in _NAMES
