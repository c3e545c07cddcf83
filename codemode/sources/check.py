"""What a look at a source says about it: operations, what could not be read, what a model will not understand."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemode.catalog.paging import paging_of
from codemode.catalog.shapes import Shapes
from codemode.sources.loaded import SourceWarning
from codemode.text.prose import plain
from codemode.transports.auth.requirements import in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.catalog.tool import Tool
    from codemode.sources.loaded import Surface

#: A description of fewer words than this says no more than the name.
_FEWEST_WORDS = 2


@dataclass(frozen=True, slots=True)
class SourceReport:
    """What was found.

    `auth` are the declared ways of authentication, as credentials are configured; `auth_needed` counts the operations
    for each choice between them. `by_words` are the operations that a word made destructive, each with its word.
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


def check_surface(surface: Surface) -> SourceReport:
    """Look at every operation of a surface, its parameters and its result."""
    shapes = Shapes(naming=False)
    tools = surface.tools
    parameters = [parameter for tool in tools for parameter in tool.parameters]
    untyped = sum(1 for parameter in parameters if shapes.text(parameter.schema) == "Any")
    vague = [*_described(tools), *_repeated(tools)]
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
        warnings=(*surface.warnings, *_dangling(tools), *vague),
        by_words={tool.id: tool.effect_word for tool in tools if tool.effect_word},
    )


def _described(tools: Iterable[Tool]) -> Iterable[SourceWarning]:
    for tool in tools:
        text = plain(tool.description or tool.summary)
        if not text:
            yield SourceWarning(tool.id, "has no description: a search finds it by its name, path and parameters alone")
        elif len(text.split()) < _FEWEST_WORDS:
            yield SourceWarning(tool.id, f"is described as {text!r}: say what it does (describe: in the configuration)")


def _repeated(tools: Iterable[Tool]) -> Iterable[SourceWarning]:
    same: dict[str, list[str]] = defaultdict(list)
    for tool in tools:
        text = plain(tool.description or tool.summary).lower()
        if text:
            same[text].append(tool.id)
    for ids in same.values():
        if len(ids) > 1:
            others = ", ".join(ids[1:4]) + (f" and {len(ids) - 4} more" if len(ids) > 4 else "")
            yield SourceWarning(ids[0], f"is described in the same words as {others}")


def _dangling(tools: Iterable[Tool]) -> Iterable[SourceWarning]:
    """References that lead nowhere, each once; whatever refers so has no type."""
    found: set[tuple[str, str]] = set()
    for tool in tools:
        for schema in (tool.returns, *(parameter.schema for parameter in tool.parameters)):
            if schema is not None:
                Shapes().text(schema)
                found |= schema.graph.dangling
    return [
        SourceWarning(f"{base}{reference}", "points to nothing: what refers to it has no type")
        for base, reference in sorted(found)
    ]
