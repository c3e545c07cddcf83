"""Enrichment: synonyms, example queries and tags from the configuration, which the model does not see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError, SourceUnavailable, ToolNotFound

if TYPE_CHECKING:
    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool
    from codemode.settings import Enrichment, Settings

_SHOWN = 5  # sources listed in the error for an unknown name


def enriched(catalog: Catalog, settings: Settings) -> Catalog:
    """Return the catalog with the texts and tags of `search.enrichment`.

    Raises ConfigurationError for names that match no tool, namespace or source.
    """
    more: dict[str, list[Enrichment]] = {}
    mistakes = []
    for name, enrichment in settings.search.enrichment.items():
        try:
            for tool in catalog.members(name):
                more.setdefault(tool.id, []).append(enrichment)
        except SourceUnavailable:
            continue  # checked again when the source is available
        except ToolNotFound as error:
            near = error.nearest or tuple(sorted({tool.source for tool in catalog}))[:_SHOWN]
            reason = f"there is no tool, namespace or source with this name; nearest: {', '.join(near)}"
            mistakes.append(f"{settings.place('search', 'enrichment', name)}: {reason}")
    if mistakes:
        raise ConfigurationError("\n".join(mistakes))
    if not more:
        return catalog
    changed = (_with(tool, more[tool.id]) if tool.id in more else tool for tool in catalog)
    return catalog.with_tools(changed)


def _with(tool: Tool, more: list[Enrichment]) -> Tool:
    words = [word for each in more for word in (*each.synonyms, *each.examples)]
    tags = dict.fromkeys((*tool.tags, *(tag for each in more for tag in each.tags)))
    return tool.changed(retrieval_text="\n".join((tool.retrieval_text, *words)).strip(), tags=tuple(tags))
