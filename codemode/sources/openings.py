"""Summaries that tell tools apart, where the descriptions of a family of tools all begin with the same sentences."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from codemode.text.prose import first_sentence, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codemode.catalog.tool import Tool

#: Tools of one summary that are a family.
_FAMILY = 3

#: Where an opening may end: `… files. `, `Tool description: `.
_END = re.compile(r"[.:!]\s+")


def told_apart(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """Return the tools. Of a family that shares its summary, each gets the first sentence behind the shared opening."""
    every = tuple(tools)
    families: defaultdict[str, list[Tool]] = defaultdict(list)
    for tool in every:
        families[tool.summary].append(tool)
    own: dict[str, str] = {}
    for summary, family in families.items():
        if summary and len(family) >= _FAMILY:
            own |= _own_summaries(family)
    return tuple(tool.changed(summary=own[tool.id]) if tool.id in own else tool for tool in every)


def _own_summaries(family: Sequence[Tool]) -> Mapping[str, str]:
    texts = {tool.id: plain(tool.description) for tool in family}
    least, most = min(texts.values()), max(texts.values())
    same = next((at for at, (one, other) in enumerate(zip(least, most, strict=False)) if one != other), len(least))
    shared = least[:same]
    end = max((match.end() for match in _END.finditer(shared)), default=0)
    own = {id_: first_sentence(text[end:]) for id_, text in texts.items()}
    return own if end and len(set(own.values())) > 1 else {}
