"""The immutable set of tools that a caller may see, with lookup by exact name.

A name is authority. Its first part picks a source, and only the ids and aliases of that source are looked at. A view of
a role resolves names as the whole catalog does, so a name never means another tool where its own is hidden.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from rapidfuzz import fuzz, process

from codemode.catalog.tool import Effect
from codemode.catalog.verbs import kind_of
from codemode.errors import ConfigurationError, SourceUnavailable, ToolNotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from codemode.catalog.tool import Tool
    from codemode.catalog.toolkit import Toolkit
    from codemode.catalog.withheld import Withheld
    from codemode.text.clock import Clock

#: The lowest similarity (0 to 100) of a suggestion.
_CLOSE = 60

#: The lowest similarity (0 to 100) of a misspelt name.
_TYPO = 85

#: The bonus for the same kind of verb, and the penalty for another kind.
_VERB_BONUS = 20


class Catalog:
    """An immutable set of tools, ordered by id, with their toolkits.

    `unavailable` maps namespaces without known tools to the reason. `clocks` are the known clocks, by source.
    `withheld` are names of tools that cannot be called: no alias takes them over. `whole` is the catalog that this is a
    view of. `titles` are the titles of the documents and the addresses of their servers, by source. Raises
    ConfigurationError for a duplicate id.
    """

    def __init__(
        self,
        tools: Iterable[Tool] = (),
        toolkits: Iterable[Toolkit] = (),
        unavailable: Mapping[str, str] = MappingProxyType({}),
        clocks: Mapping[str, Clock] = MappingProxyType({}),
        withheld: Mapping[str, Withheld] = MappingProxyType({}),
        whole: Catalog | None = None,
        titles: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    ) -> None:
        self.titles = titles
        self.withheld = withheld
        self._whole = whole
        self.unavailable = unavailable
        self.clocks = clocks
        self.tools: tuple[Tool, ...] = tuple(sorted(tools, key=lambda tool: tool.id))
        self._by_id: dict[str, Tool] = {tool.id: tool for tool in self.tools}
        if len(self._by_id) != len(self.tools):
            repeated = next(id_ for id_, uses in Counter(tool.id for tool in self.tools).items() if uses > 1)
            message = f"two tools have the id {repeated!r}: rename one of their sources"
            raise ConfigurationError(message)
        self.toolkits: tuple[Toolkit, ...] = tuple(toolkit for toolkit in toolkits if self.tools_of(toolkit))

    def __len__(self) -> int:
        return len(self.tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def __contains__(self, name: object) -> bool:
        return name in self._by_id

    def get(self, name: str) -> Tool:
        """Return the tool that a call names: by its id, or by an alias that one tool of the named source has.

        Raises ToolNotFound, or SourceUnavailable if the namespace is unavailable.
        """
        tool = self.resolved(name)
        if tool is None:
            self.require_available(name)
            raise ToolNotFound(name, self.nearest(name))
        return tool

    def resolved(self, name: str) -> Tool | None:
        """Return the tool that a call names, as `get` does, or None."""
        return self._by_id.get(name) or self._by_id.get(self._aliases.get(name, ""))

    def may_name(self, name: str, tool: Tool) -> bool:
        """Return whether a name in the settings may mean a tool: its first part is no other source."""
        first, dot, _ = name.partition(".")
        return not dot or first == tool.namespace or first not in (self._whole or self).domains

    def find(self, name: str) -> Tool:
        """Return the tool that a reader looks up: as `get`, else by an alias that only one tool has.

        It serves descriptions, never calls. Raises as `get`.
        """
        try:
            return self.get(name)
        except SourceUnavailable:
            raise
        except ToolNotFound:
            bearers = [tool for tool in self.tools if name in tool.aliases]
            if len(bearers) != 1:
                raise
            return bearers[0]

    def keyed(self, source: str, key: str) -> Tool | None:
        """Return the tool with a key in its source, whatever its id, or None."""
        return self._by_key.get((source, key))

    def require_available(self, name: str) -> None:
        """Raise SourceUnavailable if the namespace of a name is unavailable."""
        reason = self.unavailable.get(name.partition(".")[0])
        if reason is not None:
            raise SourceUnavailable(name, reason)

    def nearest(self, name: str, count: int = 3) -> tuple[str, ...]:
        """Return the ids closest to an unknown name.

        Tools with the same kind of verb come first, a verb that few have before all. Destructive ones come last, unless
        the name has a destructive verb.
        """
        wanted = name.lower().replace("-", "_")
        words = wanted.replace("_", " ").replace(".", " ")
        near = process.extract(wanted, self._ids, scorer=fuzz.ratio, limit=20, score_cutoff=_CLOSE // 2)
        near += process.extract(words, self._words, scorer=fuzz.token_sort_ratio, limit=20, score_cutoff=_CLOSE)
        scores = {index: _likeness(wanted, self._ids[index]) for _, _, index in near}
        alike = [index for index, id_ in enumerate(self._ids) if _verb(id_) == _verb(wanted)]
        for index in alike if len(alike) <= count else ():
            scores[index] = max(scores.get(index, 0), _likeness(wanted, self._ids[index])) + _CLOSE
        kind = kind_of(wanted)

        def rank(index: int) -> tuple[bool, float, int]:
            tool = self.tools[index]
            is_unasked = tool.effect is Effect.DESTRUCTIVE and kind != "remove"
            return is_unasked, -scores[index] - _verb_bonus(kind, tool), index

        return tuple(self._ids[index] for index in sorted(scores, key=rank) if scores[index] >= _CLOSE)[:count]

    def called(self, name: str, count: int = 3) -> tuple[str, ...]:
        """Return the ids that end in a name, else those that end in a similar one. Destructive tools come last."""
        end = "." + name.lower()
        exact = [tool for tool in self.tools if f".{tool.id}".endswith(end)]
        near = exact or [self.tools[index] for _, _, index in self._typos(name)]
        return tuple(tool.id for tool in sorted(near, key=lambda tool: tool.effect is Effect.DESTRUCTIVE))[:count]

    def _typos(self, name: str) -> list[tuple[str, float, int]]:
        last = [id_.rpartition(".")[2] for id_ in self._ids]
        return process.extract(name.lower(), last, scorer=fuzz.ratio, limit=3, score_cutoff=_TYPO)

    def tools_of(self, toolkit: Toolkit) -> tuple[Tool, ...]:
        """Return the tools of a toolkit that this catalog holds, ordered by id."""
        tools = (self.keyed(toolkit.source, key) for key in toolkit.tools)
        return tuple(sorted((tool for tool in tools if tool is not None), key=lambda tool: tool.id))

    def members(self, name: str) -> tuple[Tool, ...]:
        """Return the tools of a source, namespace or group, else the tool that `find` finds, ordered by id.

        Raises as `find`.
        """
        own = tuple(tool for tool in self.tools if name == tool.source or tool.id.startswith(f"{name}."))
        return own or (self.find(name),)

    def toolkit(self, id_: str) -> Toolkit | None:
        """Return the toolkit with an id such as `gym.clients`, or None."""
        return next((toolkit for toolkit in self.toolkits if toolkit.id == id_), None)

    def restricted(self, predicate: Callable[[Tool], bool], unavailable: Iterable[str] = ()) -> Catalog:
        """Return a catalog with the tools for which `predicate` is true, and their toolkits.

        Of the unavailable namespaces, it keeps those in `unavailable`.
        """
        absent = {name: self.unavailable[name] for name in unavailable}
        tools = (tool for tool in self.tools if predicate(tool))
        whole = self._whole or self
        return Catalog(tools, self.toolkits, absent, self.clocks, self.withheld, whole, self.titles)

    def merged(self, other: Catalog) -> Catalog:
        """Return a catalog with the tools and toolkits of both. Raises ConfigurationError for a duplicate id."""
        unavailable = {**self.unavailable, **other.unavailable}
        clocks = {**self.clocks, **other.clocks}
        toolkits, withheld = (*self.toolkits, *other.toolkits), {**self.withheld, **other.withheld}
        titles = {**self.titles, **other.titles}
        return Catalog((*self.tools, *other.tools), toolkits, unavailable, clocks, withheld, titles=titles)

    def with_tools(self, tools: Iterable[Tool]) -> Catalog:
        """Return the catalog with these tools in place of its own. They have the same ids."""
        return Catalog(tools, self.toolkits, self.unavailable, self.clocks, self.withheld, titles=self.titles)

    @cached_property
    def namespaces(self) -> Mapping[str, int]:
        """The number of tools in each namespace."""
        return Counter(tool.namespace for tool in self.tools)

    @property
    def groups(self) -> frozenset[str]:
        """The groups of all tools, such as `github.issues`."""
        return frozenset(tool.id.rpartition(".")[0] for tool in self.tools if tool.id.count(".") > 1)

    @cached_property
    def domains(self) -> Mapping[str, int]:
        """The number of tools in each namespace, including unavailable ones with 0."""
        return {**dict.fromkeys(self.unavailable, 0), **self.namespaces}

    @cached_property
    def digest(self) -> str:
        """A digest of what models see: ids, parameter names, summaries and effects."""
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
    def _aliases(self) -> Mapping[str, str]:
        """The ids by the aliases with which a call may name them. An alias of two tools of a source names neither."""
        if self._whole is not None:
            return self._whole._aliases
        ids: dict[str, str] = {}
        for tool in self.tools:
            for name in tool.call_aliases:
                ids[name] = "" if name in ids else tool.id
        taken = self.withheld.keys() | self._by_id.keys()
        return {name: id_ for name, id_ in ids.items() if id_ and name not in taken}


def _verb(name: str) -> str:
    """Return the first word of a tool's own name."""
    return name.rpartition(".")[2].partition("_")[0]


def _likeness(left: str, right: str) -> float:
    """Return the similarity of two ids (0 to 100): as a whole, by the last part, or by their words."""
    whole = fuzz.ratio(left, right)
    last = fuzz.ratio(left.rpartition(".")[2], right.rpartition(".")[2])
    words = fuzz.token_sort_ratio(left.replace("_", " ").replace(".", " "), right.replace("_", " ").replace(".", " "))
    return max(whole, 0.6 * last + 0.4 * whole, 0.95 * words)


def _verb_bonus(kind: str, tool: Tool) -> float:
    """Return the bonus or penalty for the kind of verb in a tool's id."""
    if not kind:
        return 0
    has = kind_of(tool.id) or ("read" if tool.effect is Effect.READ else "")
    return _VERB_BONUS if has == kind else -_VERB_BONUS
