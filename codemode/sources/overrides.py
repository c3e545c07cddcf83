"""The operator's overrides of a source's tools: selection, names, descriptions, effects and fields of results.

Patterns are shell patterns such as `issues.*` or `*.delete_*`. They match the id without its namespace, the
operationId, or `METHOD /path`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from fnmatch import translate
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from codemode.catalog.field_selection import FieldSelection
from codemode.catalog.identifiers import identifier
from codemode.catalog.inverse import Inverse, InverseInvalid
from codemode.catalog.narrowed import narrowed_details
from codemode.catalog.paging import declared_paging
from codemode.errors import ConfigurationError
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.catalog.tool import Details, Effect, Paging, Tool

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Overrides:
    """The overrides of one source, by pattern.

    `include` is applied before `exclude`; if it is empty, all tools are included. `rename` maps to ids without their
    namespace.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    rename: Mapping[str, str] = field(default_factory=dict)
    describe: Mapping[str, str] = field(default_factory=dict)
    effect: Mapping[str, Effect] = field(default_factory=dict)
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tier: Mapping[str, str] = field(default_factory=dict)
    revert: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pages: Mapping[str, DeclaredPages] = field(default_factory=dict)


class DeclaredPages(NamedTuple):
    """How lists are paged: words of `declared_paging`, and the number of the first page."""

    words: Mapping[str, str]
    start: int | None = None


def apply_overrides(tools: Iterable[Tool], overrides: Overrides, *, source: str) -> tuple[Tool, ...]:
    """Return the tools with the overrides applied.

    Raises ConfigurationError if a pattern matches no tool, if one that must match a single tool matches several, or
    if a new name or a revert call is invalid.
    """
    all_tools = _paged(tuple(tools), overrides.pages, source)
    kept = _included(all_tools, overrides, source)
    renamed = _by_tool(overrides.rename, all_tools, source, "rename")
    described = _by_tool(overrides.describe, all_tools, source, "describe")
    exemplified = _by_tool(overrides.examples, all_tools, source, "examples")
    reverts = _by_tool(_inverses(overrides.revert, source), all_tools, source, "revert")
    effects = [(_Pattern(pattern), effect) for pattern, effect in overrides.effect.items()]
    tiers = [(_Pattern(pattern), tier) for pattern, tier in overrides.tier.items()]
    selections = [(_Pattern(pattern), FieldSelection(paths)) for pattern, paths in overrides.fields.items()]
    for section, patterns in (("effect", effects), ("tier", tiers), ("fields", selections)):
        for pattern, _ in patterns:
            pattern.require(all_tools, source, section)
    changed = []
    for tool in kept:
        effect = next((effect for pattern, effect in effects if pattern.fits(tool)), None)
        tier = next((tier for pattern, tier in tiers if pattern.fits(tool)), None)
        selection = next((selection for pattern, selection in selections if pattern.fits(tool)), None)
        has_changes = any(tool.id in changes for changes in (renamed, described, exemplified, reverts))
        path = _legal_path(renamed[tool.id], source) if tool.id in renamed else tool.path
        changed.append(
            tool
            if effect is None and tier is None and selection is None and not has_changes
            else tool.changed(
                id=f"{tool.namespace}.{path}",
                description=described.get(tool.id),
                examples=exemplified.get(tool.id),
                effect=effect,
                tier=tier,
                revert=reverts.get(tool.id),
                selection=selection,
                details=partial(narrowed_details, tool, selection) if selection is not None else None,
            )
        )
    return tuple(changed)


def _paged(tools: tuple[Tool, ...], pages: Mapping[str, DeclaredPages], source: str) -> tuple[Tool, ...]:
    """Return the tools with the pages that the first matching pattern declares, where the tool has the parameters.

    Raises ConfigurationError for a pattern that applies to no tool.
    """
    patterns = [(_Pattern(text), declared) for text, declared in pages.items()]
    applied: dict[str, Paging] = {}
    for pattern, declared in patterns:
        pattern.require(tools, source, "pages")
        fitting = [tool for tool in tools if pattern.fits(tool) and tool.id not in applied]
        paged = {tool.id: declared_paging(tool.parameters, declared.words, start=declared.start) for tool in fitting}
        if fitting and not any(paged.values()):
            names = ", ".join(parameter.wire_name for parameter in fitting[0].parameters) or "none"
            message = f"sources.{source}.pages: {pattern.text!r}: {fitting[0].path} has other parameters: {names}"
            raise ConfigurationError(message)
        applied |= {id_: paging for id_, paging in paged.items() if paging is not None}
    return tuple(
        tool.changed(details=partial(_with_paging, tool, paging)) if (paging := applied.get(tool.id)) else tool
        for tool in tools
    )


def _with_paging(tool: Tool, paging: Paging) -> Details:
    return replace(tool.details, paging=paging)


def withheld_names(before: Iterable[Tool], after: Iterable[Tool], gone: frozenset[str]) -> frozenset[str]:
    """Return the aliases of the tools `after` that are names of tools which the overrides left out, or in `gone`."""
    after = tuple(after)
    left = {tool.key or tool.id for tool in after}
    out = (tool for tool in before if (tool.key or tool.id) not in left)
    names = gone.union(name for tool in out for name in (tool.id, *tool.call_aliases))
    return names.intersection(name for tool in after for name in tool.call_aliases)


class _Pattern:
    def __init__(self, text: str) -> None:
        self.text = text
        self._compiled = re.compile(translate(text))

    def fits(self, tool: Tool) -> bool:
        return any(self._compiled.match(name) for name in _names(tool))

    def require(self, tools: Iterable[Tool], source: str, section: str) -> None:
        if not any(self.fits(tool) for tool in tools):
            near = did_you_mean(self.text, (name for tool in tools for name in _names(tool)))
            message = f"sources.{source}.{section}: {self.text!r} matches no operation{near}"
            raise ConfigurationError(message)


def _names(tool: Tool) -> tuple[str, ...]:
    return tool.path, tool.key, *tool.aliases


def _included(tools: tuple[Tool, ...], overrides: Overrides, source: str) -> list[Tool]:
    include = [_Pattern(text) for text in overrides.include]
    exclude = [_Pattern(text) for text in overrides.exclude]
    for pattern in include:
        pattern.require(tools, source, "include")
    for pattern in exclude:
        pattern.require(tools, source, "exclude")
    return [
        tool
        for tool in tools
        if (not include or any(pattern.fits(tool) for pattern in include))
        and not any(pattern.fits(tool) for pattern in exclude)
    ]


def _by_tool(changes: Mapping[str, _Value], tools: tuple[Tool, ...], source: str, section: str) -> dict[str, _Value]:
    by_id: dict[str, _Value] = {}
    for text, value in changes.items():
        pattern = _Pattern(text)
        pattern.require(tools, source, section)
        fitting = [tool for tool in tools if pattern.fits(tool)]
        if len(fitting) != 1:
            fits = ", ".join(tool.path for tool in fitting[:3])
            message = f"sources.{source}.{section}: {text!r} matches {len(fitting)} operations, not one ({fits})"
            raise ConfigurationError(message)
        by_id[fitting[0].id] = value
    return by_id


def _inverses(reverts: Mapping[str, str], source: str) -> Mapping[str, str]:
    for text in reverts.values():
        try:
            Inverse.parse(text)
        except InverseInvalid as error:
            message = f"sources.{source}.revert: {error}"
            raise ConfigurationError(message) from None
    return reverts


def _legal_path(path: str, source: str) -> str:
    parts = path.split(".")
    if any(identifier(part) != part for part in parts):
        legal = ".".join(identifier(part) for part in parts)
        message = f"sources.{source}.rename: {path!r} is not a valid Python name; use {legal!r}"
        raise ConfigurationError(message)
    return path
