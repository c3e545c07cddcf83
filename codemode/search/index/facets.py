"""Facets: filters by namespace, source, effect and tag."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from codemode.catalog.tool import Effect
from codemode.errors import SearchInvalid
from codemode.text.nearest import several_nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from codemode.catalog.tool import Tool
    from codemode.search.query import Query

_CACHED = 64  # masks, one byte a tool each
_NEAREST = 3  # values suggested for an unknown one


class Facets:
    """Boolean masks over documents, computed on first use and cached."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tools
        self._masks: dict[tuple[str, str], NDArray[np.bool_]] = {}

    def allowed(self, query: Query) -> NDArray[np.bool_] | None:
        """Return the mask of documents that pass all filters of a query, or None without filters.

        Raises SearchInvalid for a value that no tool has, with the closest values.
        """
        masks = [self._mask(kind, str(value)) for kind, value in _filters(query)]
        return np.logical_and.reduce(masks) if masks else None

    def _mask(self, kind: str, value: str) -> NDArray[np.bool_]:
        mask = self._masks.get((kind, value))
        if mask is None:
            test = _TESTS[kind](value)
            mask = np.fromiter((test(tool) for tool in self._tools), bool, len(self._tools))
            if not mask.any() and value not in self._values[kind]:
                raise self._unknown(kind, value)
            if len(self._masks) >= _CACHED:
                self._masks.clear()
            self._masks[kind, value] = mask
        return mask

    def _unknown(self, kind: str, value: str) -> SearchInvalid:
        values = sorted(self._values[kind])
        nearest = tuple(several_nearest(value, values, _NEAREST))
        hint = f"nearest: {', '.join(nearest)}" if nearest else f"there are: {_listed(values)}"
        return SearchInvalid(f"no tool has the {kind} {value!r}; {hint}", nearest, kind)

    @cached_property
    def _values(self) -> dict[str, set[str]]:
        tools = self._tools
        return {
            "namespace": {tool.namespace for tool in tools},
            "source": {tool.source for tool in tools},
            "effect": {str(effect) for effect in Effect},
            "tag": {tag for tool in tools for tag in tool.tags},
        }


def passes(tool: Tool, query: Query) -> bool:
    """Return whether a tool passes all filters of a query."""
    return all(_TESTS[kind](str(value))(tool) for kind, value in _filters(query))


def _listed(values: Sequence[str]) -> str:
    shown = ", ".join(values[:10]) or "none"
    return f"{shown} and {len(values) - 10:,} more" if len(values) > 10 else shown


def _filters(query: Query) -> Iterable[tuple[str, object]]:
    for kind in _TESTS:
        value = getattr(query, kind)
        if value:
            yield kind, value


def _in_namespace(value: str) -> Callable[[Tool], bool]:
    prefix = value.rstrip(".") + "."
    return lambda tool: tool.id.startswith(prefix)


def _tagged(value: str) -> Callable[[Tool], bool]:
    folded = value.casefold()
    return lambda tool: any(tag.casefold() == folded for tag in tool.tags)


# `namespace` also accepts a group: `github.issues`.
_TESTS: dict[str, Callable[[str], Callable[[Tool], bool]]] = {
    "namespace": _in_namespace,
    "source": lambda value: lambda tool: tool.source == value,
    "effect": lambda value: lambda tool: tool.effect == value,
    "tag": _tagged,
}
