"""Check a source: count its operations, and report what could not be read and what models will not understand."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemode.catalog.paging import paging_of
from codemode.catalog.shapes import Shapes
from codemode.sources.loaded import SourceWarning
from codemode.sources.proposals import ProposedRead, proposed_reads
from codemode.text.prose import plain
from codemode.transports.auth.requirements import in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.catalog.field_selection import FieldSelection
    from codemode.catalog.tool import Tool
    from codemode.sources.loaded import Surface

#: A description with fewer words adds nothing to the name.
_FEWEST_WORDS = 2


@dataclass(frozen=True, slots=True)
class SourceReport:
    """The result of a check.

    `auth` lists the declared security schemes as credential settings. `auth_needed` counts the operations for each
    security requirement. `by_words` maps tool ids to the word that made the tool destructive.
    `proposed_reads` are writes that look like reads.
    """

    title: str
    operations: int
    by_effect: Mapping[str, int]
    groups: Mapping[str, int]
    parameters: int
    untyped_parameters: int
    without_result: int
    paged: int
    deprecated: int
    servers: tuple[str, ...]
    auth: tuple[str, ...]
    auth_needed: Mapping[str, int]
    warnings: tuple[SourceWarning, ...]
    by_words: Mapping[str, str]
    proposed_reads: tuple[ProposedRead, ...]


def check_surface(surface: Surface) -> SourceReport:
    """Check every operation of a surface, with its parameters and its result."""
    shapes = Shapes(naming=False)
    tools = surface.tools
    parameters = [parameter for tool in tools for parameter in tool.parameters]
    untyped = sum(1 for parameter in parameters if shapes.text(parameter.schema) == "Any")
    vague = [*_undescribed(tools), *_same_descriptions(tools), *_undeclared_fields(tools)]
    return SourceReport(
        title=surface.title,
        operations=len(tools),
        by_effect=Counter(tool.effect.value for tool in tools),
        groups=Counter(tool.path.rpartition(".")[0] for tool in tools),
        parameters=len(parameters),
        untyped_parameters=untyped,
        without_result=sum(1 for tool in tools if tool.returns is None),
        paged=sum(1 for tool in tools if paging_of(tool) is not None),
        deprecated=sum(1 for tool in tools if tool.deprecated),
        servers=surface.servers,
        auth=tuple(scheme.words for scheme in surface.auth),
        auth_needed=Counter(in_words(getattr(tool.invocation, "security", None)) for tool in tools),
        warnings=(*surface.warnings, *_dangling_references(tools), *vague),
        by_words={tool.id: tool.effect_word for tool in tools if tool.effect_word},
        proposed_reads=proposed_reads(tools),
    )


def _undescribed(tools: Iterable[Tool]) -> Iterable[SourceWarning]:
    for tool in tools:
        text = plain(tool.description or tool.summary)
        if not text:
            yield SourceWarning(tool.id, "has no description: search uses only its name, path and parameters")
        elif len(text.split()) < _FEWEST_WORDS:
            yield SourceWarning(tool.id, f"is described as {text!r}: say what it does (setting `describe`)")


def _same_descriptions(tools: Iterable[Tool]) -> Iterable[SourceWarning]:
    same: dict[str, list[str]] = defaultdict(list)
    for tool in tools:
        text = plain(tool.description or tool.summary).lower()
        if text:
            same[text].append(tool.id)
    for ids in same.values():
        if len(ids) > 1:
            others = ", ".join(ids[1:4]) + (f" and {len(ids) - 4} more" if len(ids) > 4 else "")
            yield SourceWarning(ids[0], f"has the same description as {others}")


def _undeclared_fields(tools: Iterable[Tool]) -> Iterable[SourceWarning]:
    """Warn of each path in the setting `fields` that leads to no declared field of the tools that it matches."""
    declared: dict[FieldSelection, set[str]] = defaultdict(set)
    for tool in tools:
        if tool.selection is not None and tool.returns is not None:
            declared[tool.selection] |= tool.selection.paths_in(tool.returns)
    for selection, found in declared.items():
        for path in selection.paths:
            if path not in found:
                yield SourceWarning(f"fields: {path}", "is declared in no result of the tools that the pattern matches")


def _dangling_references(tools: Iterable[Tool]) -> Iterable[SourceWarning]:
    """Return one warning for each reference without a target."""
    dangling: set[tuple[str, str]] = set()
    for tool in tools:
        for schema in (tool.returns, *(parameter.schema for parameter in tool.parameters)):
            if schema is not None:
                Shapes().text(schema)
                dangling |= schema.graph.dangling
    return [
        SourceWarning(f"{base}{reference}", "has no target: schemas that refer to it have no type")
        for base, reference in sorted(dangling)
    ]
