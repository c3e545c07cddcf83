"""What a source's descriptions lack, from the reader's side: empty, vague, or the same for several tools."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from codemode.sources.loaded import Warned

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from codemode.catalog.tool import Tool

_WORD = re.compile(r"\w+")


def review(tools: Iterable[Tool]) -> Iterator[Warned]:
    """A remark for each tool that a model cannot tell from its text; the place is the tool's id."""
    same: dict[str, list[str]] = defaultdict(list)
    for tool in tools:
        text = tool.description or tool.summary
        if not text.strip():
            yield Warned(tool.id, "has no description: it is found by its name and parameters alone")
        elif _says_only_its_name(text, tool.id):
            yield Warned(tool.id, f"is described by its own name only: {text.strip()!r}")
        else:
            same[" ".join(text.split())].append(tool.id)
    for ids in same.values():
        if len(ids) > 1:
            others = f"{', '.join(ids[1:3])}{f' and {len(ids) - 3} more' if len(ids) > 3 else ''}"
            yield Warned(ids[0], f"has the same description as {others}")


def _says_only_its_name(text: str, tool_id: str) -> bool:
    said = {word.lower().rstrip("s") for word in _WORD.findall(text.replace("_", " "))} - {"a", "an", "the", "of"}
    named = {word.rstrip("s") for word in re.split(r"[._]", tool_id.lower())}
    return said <= named
