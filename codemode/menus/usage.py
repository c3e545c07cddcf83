"""Menu usage: which tools were called and why they were offered. Defaults and core tools are proposed from it.

The record holds tool ids and reasons; no messages, arguments, answers or callers.
"""

from __future__ import annotations

import json
from collections import Counter, OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemode.shared.usage_file import LARGEST_BYTES, UsageFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from codemode.menus.menu import Menu
    from codemode.menus.selection import Selector

#: Callers whose last menu is remembered.
_REMEMBERED = 1_000

#: Least calls for a proposal.
_FEWEST = 20

#: Proposed default tools if there are none now.
_DEFAULT_TOOLS = 40

#: Least share of calls for a core tool.
_CORE_SHARE = 0.1

_NOT_OFFERED = "not offered"


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call: the tool, the reason it was offered, and whether the message matched nothing."""

    tool: str
    by: str
    unmatched: bool

    @property
    def wants_default(self) -> bool:
        """Return whether only defaults could have offered the tool."""
        return self.unmatched or self.by in (_NOT_OFFERED, "requested")


@dataclass(frozen=True, slots=True)
class MenuProposal:
    """Proposed defaults and core tools.

    `calls` counts the calls that no word of the message matched. `now` and `proposed` are the shares of them offered by
    defaults or core; the proposed share is measured on held-out calls.
    """

    calls: int
    now: float
    proposed: float
    defaults: tuple[str, ...]
    core: tuple[str, ...]

    @property
    def worthwhile(self) -> bool:
        """Return whether the proposal beats the present defaults."""
        return self.proposed > self.now


class MenuUsage:
    """Appends a line per call after a menu, if `keeps` is set."""

    def __init__(self, path: Path, *, keeps: bool = True, largest_bytes: int = LARGEST_BYTES) -> None:
        self._file = UsageFile(path, largest_bytes=largest_bytes)
        self._keeps = keeps
        self._last: OrderedDict[str, Menu] = OrderedDict()

    def offered(self, menu: Menu, *, who: str) -> None:
        """Remember a caller's current menu."""
        if not self._keeps:
            return
        self._last[who] = menu
        self._last.move_to_end(who)
        if len(self._last) > _REMEMBERED:
            self._last.popitem(last=False)

    def called(self, tool_id: str, *, who: str) -> None:
        """Record a call by a caller with a menu."""
        menu = self._last.get(who)
        if menu is None:
            return
        by = next((one.reason.kind for one in menu.offered if one.tool.id == tool_id), _NOT_OFFERED)
        self._file.append(tool=tool_id, by=by, unmatched=not menu.activated)

    def read(self) -> list[ToolUse]:
        """Return the records, oldest first; invalid lines are skipped."""
        return [used for line in self._file.lines() if (used := _read(line)) is not None]


def propose_menu(used: Sequence[ToolUse], selector: Selector) -> MenuProposal | None:
    """Propose defaults and core tools from usage; None for too few calls."""
    known = [one for one in used if selector.tool(one.tool) is not None]
    open_ = [one for one in known if one.wants_default]
    if len(open_) < _FEWEST:
        return None
    halves = (open_[::2], open_[1::2])
    held_out = [_covered(right, _defaults(left, selector), selector) for left, right in (halves, halves[::-1])]
    counts = Counter(one.tool for one in known)
    always = {tool.id for tool in selector.core}
    return MenuProposal(
        calls=len(open_),
        now=_covered(open_, selector.settings.defaults, selector),
        proposed=sum(held_out) / len(held_out),
        defaults=_defaults(open_, selector),
        core=tuple(
            tool for tool, count in counts.most_common() if count >= _CORE_SHARE * len(known) and tool not in always
        ),
    )


def _defaults(used: Iterable[ToolUse], selector: Selector) -> tuple[str, ...]:
    """Return the most used categories that fit in the present defaults' size."""
    by_name = selector.categories.by_name
    counts = Counter(category for one in used if (category := _category(one, selector)))
    now = {part for name in selector.settings.defaults for part in selector.categories.of(name)}
    left = sum(len(by_name[name].tools) for name in now) or _DEFAULT_TOOLS
    chosen = []
    for name, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if len(by_name[name].tools) <= left:
            left -= len(by_name[name].tools)
            chosen.append(name)
    return tuple(chosen)


def _covered(used: Sequence[ToolUse], defaults: Iterable[str], selector: Selector) -> float:
    there = {part for name in defaults for part in selector.categories.of(name)}
    core = {tool.id for tool in selector.core}
    return sum(one.tool in core or _category(one, selector) in there for one in used) / max(1, len(used))


def _category(used: ToolUse, selector: Selector) -> str:
    tool = selector.tool(used.tool)
    return selector.category_of(tool) if tool else ""


def _read(line: bytes) -> ToolUse | None:
    try:
        found = json.loads(line)
        return ToolUse(str(found["tool"]), str(found["by"]), bool(found["unmatched"]))
    except (ValueError, KeyError, TypeError):
        return None
