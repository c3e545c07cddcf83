"""Method overrides: request fields that make a service treat the request as another method.

Frameworks read another method from a header (`X-HTTP-Method-Override` and similar), the query or a body field
(`_method`: Rails, Laravel, Symfony, Spring, Express). The policy, however, decided on the tool's effect.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from codemode.catalog.effects import effect_of_method, exceeds
from codemode.errors import ArgumentsInvalid

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codemode.catalog.tool import Tool

_NAMES = frozenset(("_method", "x_http_method", "x_http_method_override", "x_method_override", "http_method_override"))

#: Characters that services treat as equal in names (CGI: `-`; PHP: spaces and dots).
_SAME = re.compile(r"[-. +]")


def check_overrides(tool: Tool, sent: Iterable[tuple[str, Any]]) -> None:
    """Raise ArgumentsInvalid if names and values of a request exceed the effect of its tool."""
    for name, value in sent:
        if not _overrides(name):
            continue
        effect = effect_of_method(str(value))
        if exceeds(effect, tool.effect):
            message = (
                f"{name} = {str(value)[:40]!r} would turn the request into another method, which is {effect}, but the "
                f"tool is {tool.effect}; the operator can declare it {effect} (`effect` of the source)"
            )
            raise ArgumentsInvalid(tool.id, message)


def _overrides(name: str) -> bool:
    text = unquote(name).casefold()
    if "method" not in text:  # as in all of them
        return False
    text = text.strip().partition("[")[0]
    return _SAME.sub("_", text) in _NAMES
