"""Propose reads: tools that count as writes, and whose names and texts only speak of reading.

Services read by POST (`POST /flows/filter`), and functions and MCP tools often declare no effect. A proposal changes
nothing until the operator accepts it as the setting `effect`.
"""

from __future__ import annotations

import glob
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from codemode.catalog.change_words import mentions_change, reads_by_name, verb_of_change
from codemode.catalog.identifiers import snake
from codemode.catalog.tool import Effect

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codemode.catalog.tool import Tool

#: Arguments that decide themselves what a tool does.
_COMMANDS = frozenset(
    ("cmd", "code", "command", "commands", "cypher", "expression", "mutation", "program", "script", "sql", "statement",
     "statements")
)  # fmt: skip
_COMMAND = re.compile(r"\b(sql|cypher|mutations?|scripts?|commands?|statements?)\b", re.IGNORECASE)


#: The fewest tools, and their share of all, with a word in front that is no verb.
_FEWEST_SHARING, _SHARING = 3, 0.8


class ProposedRead(NamedTuple):
    """A tool that looks like a read. `pattern` names it in the setting `effect` of its source."""

    pattern: str
    tool: str
    summary: str


def looking_like_reads(proposed: Sequence[ProposedRead]) -> str:
    """Count them: `1 write looks like a read`."""
    return "1 write looks like a read" if len(proposed) == 1 else f"{len(proposed):,} writes look like reads"


def proposed_reads(tools: Iterable[Tool]) -> tuple[ProposedRead, ...]:
    """Return the tools that look like reads, and whose effect neither their author nor the operator declares."""
    tools = tuple(tools)
    shared = _shared_word(tools)
    return tuple(
        ProposedRead(glob.escape(tool.key.removeprefix(f"{tool.source}.")), tool.id, tool.summary)
        for tool in tools
        if tool.effect is Effect.WRITE
        and not tool.effect_said
        and tool.key
        and _looks_like_a_read(tool, tuple(snake(name).removeprefix(shared) for name in _names(tool)))
    )


def _shared_word(tools: tuple[Tool, ...]) -> str:
    """Return the word that nearly all names begin with, if it is no verb: the `slack` of `slack_list_channels`."""
    first = Counter(snake(tool.path.rpartition(".")[2]).partition("_")[0] for tool in tools)
    ((word, number),) = first.most_common(1) or [("", 0)]
    is_shared = number >= _FEWEST_SHARING and number >= len(tools) * _SHARING
    return f"{word}_" if is_shared and not reads_by_name(word) and not verb_of_change(word) else ""


def _looks_like_a_read(tool: Tool, names: tuple[str, ...]) -> bool:
    if not any(map(reads_by_name, names)) or any(map(verb_of_change, names)):
        return False
    texts = (tool.summary, tool.description)
    if any(map(mentions_change, texts)) or any(map(_COMMAND.search, texts)):
        return False
    return _COMMANDS.isdisjoint(name.lower() for name in tool.parameter_names)


def _names(tool: Tool) -> tuple[str, ...]:
    """Return the names that the author gave. Of HTTP operations, only a POST may be a read that looks like a write."""
    method, _, path = tool.key.partition(" ")
    if not path.startswith("/"):
        return (re.split(r"[./]", tool.key)[-1],)
    if method != "POST":
        return ()
    operation_id = tool.aliases[0] if tool.aliases else ""
    end = path.partition("?")[0].rstrip("/").rpartition("/")[2]
    return tuple(name for name in (re.sub(r"^post[-_ ]", "", operation_id), end) if name and "{" not in name)
