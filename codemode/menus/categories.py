"""Categories group tools that are offered together. They come from settings, toolkits and id groups."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import TYPE_CHECKING

from codemode.catalog.tool import Effect

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool
    from codemode.catalog.toolkit import Toolkit
    from codemode.settings.menu import CategorySettings, MenuSettings

_WILD = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Category:
    """A category in a caller's view, with its tools except core tools.

    A category too large for a menu is split by effect; `part_of` then names the original.
    """

    name: str
    tools: tuple[Tool, ...]
    keywords: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    related: tuple[str, ...] = ()
    description: str = ""
    instructions: str = ""
    examples: tuple[str, ...] = ()
    part_of: str = ""


class Names:
    """Find tools by id, alias, last part of the id, or a pattern of these.

    A name whose first part is a source finds tools of that source only, also if it is hidden or unavailable.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._tools: dict[str, list[Tool]] = {}
        for tool in catalog:
            for name in dict.fromkeys((tool.id, *tool.aliases, tool.path, tool.id.rpartition(".")[2])):
                if catalog.may_name(name, tool):
                    self._tools.setdefault(name, []).append(tool)

    def fitting(self, pattern: str) -> list[Tool]:
        """Return the tools with a name, or with names that match a shell pattern, by id."""
        if not _WILD.intersection(pattern):
            return self._tools.get(pattern, [])
        found = {tool.id: tool for name, tools in self._tools.items() if fnmatchcase(name, pattern) for tool in tools}
        return [found[id_] for id_ in sorted(found)]

    def all_fitting(self, patterns: Iterable[str]) -> tuple[Tool, ...]:
        """Return the tools of several patterns, in pattern order, without duplicates."""
        return tuple({tool.id: tool for pattern in patterns for tool in self.fitting(pattern)}.values())


@dataclass(frozen=True, slots=True)
class Categories:
    """All categories of a view by name, in order, and the core tools with their `base` toolkits.

    `unknown` lists unknown names in the settings: the place, "tool" or "category", and the name.
    """

    core: tuple[Tool, ...]
    by_name: Mapping[str, Category]
    base: tuple[Category, ...] = ()
    unknown: tuple[tuple[tuple[str, ...], str, str], ...] = ()

    def of(self, name: str) -> tuple[str, ...]:
        """Return the category with that name, or its parts if it was split, or nothing."""
        if name in self.by_name:
            return (name,)
        return tuple(category.name for category in self.by_name.values() if category.part_of == name)

    def related(self, names: Iterable[str], *, transitive: bool) -> dict[str, str]:
        """Return related categories that are not chosen yet, each with the category that relates to it."""
        found: dict[str, str] = {}
        known = set(names)
        waiting = list(names)
        while waiting:
            name = waiting.pop(0)
            for other in self.by_name[name].related:
                for part in self.of(other):
                    if part not in known:
                        known.add(part)
                        found[part] = name
                        if transitive:
                            waiting.append(part)
        return found


def categories_of(catalog: Catalog, settings: MenuSettings, *, only: Collection[str] | None = None) -> Categories:
    """Return the categories of a view: those from settings, then other toolkits. `only` restricts them.

    Without categories in the settings, id groups become categories for tools outside toolkits. A category with more
    tools than the cap is split by effect.
    """
    names = Names(catalog)
    toolkits = {toolkit.id: toolkit for toolkit in catalog.toolkits}
    kits = [kit for kit in toolkits.values() if kit.tier in settings.core_tiers]
    base = tuple(_completed(Category(kit.name, catalog.tools_of(kit)), kit) for kit in kits)
    always = (*names.all_fitting(settings.core), *(tool for category in base for tool in category.tools))
    core = tuple({tool.id: tool for tool in always}.values())
    finding = _Finding(catalog, names, {tool.id for tool in core})
    found = [finding.configured(name, wanted) for name, wanted in settings.categories.items()]
    found += [finding.of_toolkit(kit) for kit in toolkits.values() if not _is_told_of(kit, settings)]
    if not settings.categories:
        found += finding.of_groups({tool.id for category in found for tool in category.tools})
    kept = [category for category in found if category.tools and (only is None or category.name in only)]
    split = {part.name: part for category in kept for part in _split(category, settings.cap)}
    return Categories(core, MappingProxyType(split), base, tuple(_unknown(settings, found, names)))


class _Finding:
    """Finds the tools of categories, without core tools."""

    def __init__(self, catalog: Catalog, names: Names, core: set[str]) -> None:
        self._catalog = catalog
        self._names = names
        self._core = core
        self._uses = Counter(kit.name for kit in catalog.toolkits)
        self._by_tag: dict[str, list[Tool]] = {}
        self._by_group: dict[str, list[Tool]] = {}
        for tool in catalog:
            for tag in tool.tags:
                self._by_tag.setdefault(tag, []).append(tool)
            for group in _groups(tool):
                self._by_group.setdefault(group, []).append(tool)

    def configured(self, name: str, wanted: CategorySettings) -> Category:
        kit = next((kit for kit in self._catalog.toolkits if name in (kit.id, kit.name)), None)
        if wanted.tools:
            tools: Iterable[Tool] = self._names.all_fitting(wanted.tools)
        elif kit is not None:
            tools = self._catalog.tools_of(kit)
        else:
            tools = self._by_tag.get(name) or self._by_group.get(name) or ()
        own = Category(
            name,
            self._without_core(tools),
            wanted.keywords,
            wanted.related,
            wanted.description,
            wanted.instructions,
            wanted.examples,
        )
        return own if kit is None else _completed(own, kit)

    def of_toolkit(self, kit: Toolkit) -> Category:
        tools = self._without_core(self._catalog.tools_of(kit))
        return _completed(Category(kit.name if self._uses[kit.name] == 1 else kit.id, tools), kit)

    def of_groups(self, taken: set[str]) -> list[Category]:
        """Return a category per id group, or per namespace without groups, for the remaining tools."""
        groups: dict[str, list[Tool]] = {}
        for tool in self._catalog:
            if tool.id not in taken:
                groups.setdefault(tool.id.rpartition(".")[0], []).append(tool)
        made = [Category(name, self._without_core(tools)) for name, tools in groups.items()]
        return [category for category in made if category.tools]

    def _without_core(self, tools: Iterable[Tool]) -> tuple[Tool, ...]:
        return tuple(tool for tool in tools if tool.id not in self._core)


def _is_told_of(kit: Toolkit, settings: MenuSettings) -> bool:
    """Return whether a toolkit is core, or is a category in the settings."""
    return kit.tier in settings.core_tiers or kit.id in settings.categories or kit.name in settings.categories


def _completed(category: Category, kit: Toolkit) -> Category:
    """Complete a category from its toolkit where the settings are silent."""
    return replace(
        category,
        keywords=category.keywords or dict.fromkeys(kit.keywords, 1.0),
        description=category.description or kit.description,
        instructions=category.instructions or kit.instructions,
        examples=category.examples or kit.examples,
    )


def _groups(tool: Tool) -> Iterator[str]:
    """Return the groups of a tool from its namespace down, with and without the namespace."""
    parts = tool.id.split(".")[:-1]
    for end in range(1, len(parts) + 1):
        yield ".".join(parts[:end])
        if end > 1:
            yield ".".join(parts[1:end])


def _split(category: Category, limit: int) -> Iterator[Category]:
    if len(category.tools) <= limit:
        yield category
        return
    for effect in Effect:
        tools = tuple(tool for tool in category.tools if tool.effect is effect)
        if tools:
            yield replace(category, name=f"{category.name}:{effect}", tools=tools, part_of=category.name)


def _unknown(
    settings: MenuSettings, found: Sequence[Category], names: Names
) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Return names in the settings that the view lacks: the place, "tool" or "category", and the name."""
    patterns: list[tuple[tuple[str, ...], tuple[str, ...]]] = [(("core",), settings.core)]
    patterns += [(("categories", name, "tools"), wanted.tools) for name, wanted in settings.categories.items()]
    patterns += [(("roles", role, "core"), differing.core or ()) for role, differing in settings.roles.items()]
    for place, asked in patterns:
        for pattern in asked:
            if not names.fitting(pattern):
                yield place, "tool", pattern
    known = {category.name for category in found}
    for place, name in _named(settings):
        if name not in known:
            yield place, "category", name
    for category in found:
        if not category.tools and category.name in settings.categories and not settings.categories[category.name].tools:
            yield ("categories", category.name), "tag, toolkit, group or namespace", category.name


def _named(settings: MenuSettings) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield every category name in the settings, with its place."""
    for name in settings.defaults:
        yield ("defaults",), name
    for category, wanted in settings.categories.items():
        for name in wanted.related:
            yield ("categories", category, "related"), name
    for role, differing in settings.roles.items():
        for field_ in ("categories", "defaults"):
            for name in getattr(differing, field_) or ():
                yield ("roles", role, field_), name
