"""Enrichment: synonyms, example queries and tags from the configuration, and what a clock says its operation is for.

The model does not see them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from codemode.errors import ConfigurationError, SourceUnavailable, ToolNotFound
from codemode.search.analysis import wordlists

if TYPE_CHECKING:
    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool
    from codemode.settings import Enrichment, Settings

_SHOWN = 5  # sources listed in the error for an unknown name

#: What the operation that a clock names is searched for with.
_CLOCK = f"today, the present date and time, the clock, the time zone, {wordlists.CLOCK}"


def enriched(catalog: Catalog, settings: Settings) -> Catalog:
    """Return the catalog with the texts and tags of `search.enrichment`, and with words for the tools of clocks.

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
    clocks = {source: set(re.findall(r"\w+", f"{clock.today} {clock.now}")) for source, clock in catalog.clocks.items()}
    timed = {tool.id for tool in catalog if tool.path.rpartition(".")[2] in clocks.get(tool.source, ())}
    if not more and not timed:
        return catalog
    changed = (
        _with(tool, more.get(tool.id, []), _CLOCK if tool.id in timed else "")
        if tool.id in more or tool.id in timed
        else tool
        for tool in catalog
    )
    return catalog.with_tools(changed)


def _with(tool: Tool, more: list[Enrichment], text: str) -> Tool:
    words = [word for each in more for word in (*each.synonyms, *each.examples)]
    tags = dict.fromkeys((*tool.tags, *(tag for each in more for tag in each.tags)))
    return tool.changed(retrieval_text="\n".join((tool.retrieval_text, text, *words)).strip(), tags=tuple(tags))
