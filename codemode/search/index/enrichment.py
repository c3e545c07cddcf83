"""More to find tools by, from the configuration: synonyms, example queries, tags. The model sees none of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.catalog.catalog import Catalog
from codemode.errors import ConfigurationError, SourceUnavailable, ToolNotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codemode.catalog.tool import Tool
    from codemode.settings import Enrichment, Settings

_SHOWN = 5  # sources named to who has misspelt a name


def enriched(catalog: Catalog, settings: Settings) -> Catalog:
    """The catalog with what `search.enrichment` adds. Raises ConfigurationError for names that nothing has."""
    more: dict[str, list[Enrichment]] = {}
    mistakes = []
    for name, enrichment in settings.search.enrichment.items():
        try:
            for tool in _named(name, catalog):
                more.setdefault(tool.id, []).append(enrichment)
        except SourceUnavailable:
            continue  # judged when its tools are known
        except ToolNotFound as error:
            near = error.nearest or tuple(sorted({tool.source for tool in catalog}))[:_SHOWN]
            reason = f"there is no tool, namespace or source of that name; nearest: {', '.join(near)}"
            mistakes.append(f"{settings.place('search', 'enrichment', name)}: {reason}")
    if mistakes:
        raise ConfigurationError("\n".join(mistakes))
    if not more:
        return catalog
    changed = (_with(tool, more[tool.id]) if tool.id in more else tool for tool in catalog)
    return Catalog(changed, catalog.toolkits, catalog.unavailable)


def _named(name: str, catalog: Catalog) -> Iterator[Tool]:
    """The tools of a source, of a namespace, or below a part of an id; else the one tool. Raises ToolNotFound."""
    found = [tool for tool in catalog if name == tool.source or tool.id.startswith(f"{name}.")]
    yield from found or (catalog.get(name),)


def _with(tool: Tool, more: list[Enrichment]) -> Tool:
    words = [word for each in more for word in (*each.synonyms, *each.examples)]
    tags = dict.fromkeys((*tool.tags, *(tag for each in more for tag in each.tags)))
    return tool.changed(retrieval_text="\n".join((tool.retrieval_text, *words)).strip(), tags=tuple(tags))
