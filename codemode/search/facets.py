"""Facets: which documents a filter by namespace, source, effect or tag lets through."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from codemode.catalog.tool import Tool
    from codemode.search.query import Query

_REMEMBERED = 64  # masks kept, one byte a tool each


class Facets:
    """Masks of documents, made when first asked for and remembered."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tools
        self._masks: dict[tuple[str, str], NDArray[np.bool_]] = {}

    def allowed(self, query: Query) -> NDArray[np.bool_] | None:
        """The documents that all filters of a query let through; None when it has no filter."""
        masks = [self._mask(kind, str(value)) for kind, value in _filters(query)]
        return np.logical_and.reduce(masks) if masks else None

    def _mask(self, kind: str, value: str) -> NDArray[np.bool_]:
        mask = self._masks.get((kind, value))
        if mask is None:
            test = _TESTS[kind](value)
            mask = np.fromiter((test(tool) for tool in self._tools), bool, len(self._tools))
            if len(self._masks) >= _REMEMBERED:
                self._masks.clear()
            self._masks[kind, value] = mask
        return mask


def _filters(query: Query) -> Iterable[tuple[str, object]]:
    for kind in _TESTS:
        value = getattr(query, kind)
        if value:
            yield kind, value


def _in_namespace(value: str) -> Callable[[Tool], bool]:
    prefix = value.rstrip(".") + "."
    return lambda tool: tool.id.startswith(prefix)


# `namespace` also takes the first parts of an id: `github.issues`.
_TESTS: dict[str, Callable[[str], Callable[[Tool], bool]]] = {
    "namespace": _in_namespace,
    "source": lambda value: lambda tool: tool.source == value,
    "effect": lambda value: lambda tool: tool.effect == value,
    "tag": lambda value: lambda tool: value.casefold() in {tag.casefold() for tag in tool.tags},
}
