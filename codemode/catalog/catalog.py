"""All tools that a caller may see: immutable, looked up by exact name."""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from rapidfuzz import fuzz, process

from codemode.catalog.tool import Effect
from codemode.catalog.verbs import kind_of
from codemode.errors import ConfigurationError, ToolNotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from codemode.catalog.tool import Tool
    from codemode.catalog.toolkit import Toolkit

#: Below this likeness (0 to 100) a name is no suggestion but noise.
_NEAR = 60

#: From this likeness (0 to 100) on a name is a slip of the pen.
_SLIP = 85

#: What the same kind of verb adds to a likeness, and another takes from it.
_SAME_KIND = 20


class Catalog:
    """An immutable set of tools, ordered by id, and the toolkits that have any of them."""

    def __init__(self, tools: Iterable[Tool] = (), toolkits: Iterable[Toolkit] = ()) -> None:
        self.tools: tuple[Tool, ...] = tuple(sorted(tools, key=lambda tool: tool.id))
        self._by_id: dict[str, Tool] = {tool.id: tool for tool in self.tools}
        if len(self._by_id) != len(self.tools):
            repeated = next(id_ for id_, uses in Counter(tool.id for tool in self.tools).items() if uses > 1)
            message = f"two tools have the id {repeated!r}: give one of their sources another name"
            raise ConfigurationError(message)
        self.toolkits: tuple[Toolkit, ...] = tuple(toolkit for toolkit in toolkits if self.tools_of(toolkit))

    def __len__(self) -> int:
        return len(self.tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def __contains__(self, name: object) -> bool:
        return name in self._by_id

    def get(self, name: str) -> Tool:
        """The tool with that id, or that exact alias where only one tool has it. Raises ToolNotFound."""
        tool = self._by_id.get(name) or self._by_alias.get(name)
        if tool is None:
            raise ToolNotFound(name, self.nearest(name))
        return tool

    def nearest(self, name: str, count: int = 3) -> tuple[str, ...]:
        """The ids that come closest to a name that no tool has.

        Tools that do the same kind of thing come first. Destructive ones come last, unless the name asks for one.
        """
        wanted = name.lower().replace("-", "_")
        words = wanted.replace("_", " ").replace(".", " ")
        near = process.extract(wanted, self._ids, scorer=fuzz.ratio, limit=20, score_cutoff=_NEAR // 2)
        near += process.extract(words, self._words, scorer=fuzz.token_sort_ratio, limit=20, score_cutoff=_NEAR)
        scores = {index: _likeness(wanted, self._ids[index]) for _, _, index in near}
        kind = kind_of(wanted)

        def rank(index: int) -> tuple[bool, float, int]:
            tool = self.tools[index]
            is_unasked = tool.effect is Effect.DESTRUCTIVE and kind != "remove"
            return is_unasked, -scores[index] - _meaning(kind, tool), index

        return tuple(self._ids[index] for index in sorted(scores, key=rank) if scores[index] >= _NEAR)[:count]

    def called(self, name: str, count: int = 3) -> tuple[str, ...]:
        """The ids that end in a name, or in one that differs by a slip of the pen; destructive ones last."""
        end = "." + name.lower()
        exact = [tool for tool in self.tools if f".{tool.id}".endswith(end)]
        near = exact or [self.tools[index] for _, _, index in self._slips(name)]
        return tuple(tool.id for tool in sorted(near, key=lambda tool: tool.effect is Effect.DESTRUCTIVE))[:count]

    def _slips(self, name: str) -> list[tuple[str, float, int]]:
        last = [id_.rpartition(".")[2] for id_ in self._ids]
        return process.extract(name.lower(), last, scorer=fuzz.ratio, limit=3, score_cutoff=_SLIP)

    def tools_of(self, toolkit: Toolkit) -> tuple[Tool, ...]:
        """The tools of a toolkit that are here, by id."""
        found = (self._by_key.get((toolkit.source, key)) for key in toolkit.tools)
        return tuple(sorted((tool for tool in found if tool is not None), key=lambda tool: tool.id))

    def toolkit(self, id_: str) -> Toolkit | None:
        """The toolkit of that id (`gym.clients`), or None."""
        return next((toolkit for toolkit in self.toolkits if toolkit.id == id_), None)

    def restricted(self, predicate: Callable[[Tool], bool]) -> Catalog:
        """The view that has only the tools for which `predicate` holds, and no toolkit without any of them."""
        return Catalog((tool for tool in self.tools if predicate(tool)), self.toolkits)

    def merged(self, other: Catalog) -> Catalog:
        """The tools and toolkits of both. Raises ConfigurationError where they share an id."""
        return Catalog((*self.tools, *other.tools), (*self.toolkits, *other.toolkits))

    @cached_property
    def namespaces(self) -> Mapping[str, int]:
        """How many tools each namespace has."""
        return Counter(tool.namespace for tool in self.tools)

    @cached_property
    def digest(self) -> str:
        """A fingerprint of what a model is shown: ids, parameter names, summaries."""
        state = hashlib.blake2s()
        for tool in self.tools:
            line = "\x1f".join((tool.id, *tool.parameter_names, tool.summary, tool.effect))
            state.update(line.encode("utf-8", "surrogatepass") + b"\x1e")
        return state.hexdigest()

    @cached_property
    def _by_key(self) -> dict[tuple[str, str], Tool]:
        return {(tool.source, tool.key): tool for tool in self.tools}

    @cached_property
    def _ids(self) -> tuple[str, ...]:
        return tuple(self._by_id)

    @cached_property
    def _words(self) -> tuple[str, ...]:
        return tuple(id_.replace("_", " ").replace(".", " ") for id_ in self._by_id)

    @cached_property
    def _by_alias(self) -> dict[str, Tool]:
        names: dict[str, Tool | None] = {}
        for tool in self.tools:
            for alias in {*tool.aliases, *(f"{tool.namespace}.{alias}" for alias in tool.aliases)}:
                names[alias] = None if alias in names else tool
        return {alias: tool for alias, tool in names.items() if tool is not None}


def _likeness(left: str, right: str) -> float:
    """How alike two ids are: as wholes, in their last part, and as sets of words."""
    whole = fuzz.ratio(left, right)
    last = fuzz.ratio(left.rpartition(".")[2], right.rpartition(".")[2])
    words = fuzz.token_sort_ratio(left.replace("_", " ").replace(".", " "), right.replace("_", " ").replace(".", " "))
    return max(whole, 0.6 * last + 0.4 * whole, 0.95 * words)


def _meaning(kind: str, tool: Tool) -> float:
    """What the meaning of a verb adds to the likeness of a tool."""
    if not kind:
        return 0
    has = kind_of(tool.id) or ("read" if tool.effect is Effect.READ else "")
    return _SAME_KIND if has == kind else -_SAME_KIND
