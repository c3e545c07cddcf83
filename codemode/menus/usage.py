"""Usage of menus: what was called, and why it was offered or not, from which defaults and core tools are proposed.

What is kept is ids of tools and the way they were found: no message, no argument, no answer, no caller.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter, OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from codemode.menus.menu import Menu
    from codemode.menus.selection import Selector

#: Callers whose last menu a later call may be an answer to.
_REMEMBERED = 1_000

LARGEST_BYTES = 1024 * 1024  # of the file, from which on its older half is dropped

#: Calls below which nothing is proposed.
_FEWEST = 20

#: Tools that the proposed defaults may have where there are none now.
_DEFAULT_TOOLS = 40

#: The share of all calls from which on a tool is proposed for the core.
_CORE_SHARE = 0.1

_NOT_OFFERED = "not offered"


@dataclass(frozen=True, slots=True)
class Used:
    """A call: the tool, by what it had been offered, and whether the message had matched nothing."""

    tool: str
    by: str
    unmatched: bool

    @property
    def wants_default(self) -> bool:
        """Whether only defaults could have offered it."""
        return self.unmatched or self.by in (_NOT_OFFERED, "requested")


@dataclass(frozen=True, slots=True)
class MenuProposal:
    """Defaults and core tools in place of those that there are.

    `calls` is how many calls there were that no word of the message asked for, `now` and `proposed` the share of them
    whose tool the defaults or the core offer; the proposed share is that of calls which were left out when it was made.
    """

    calls: int
    now: float
    proposed: float
    defaults: tuple[str, ...]
    core: tuple[str, ...]

    @property
    def worthwhile(self) -> bool:
        """Whether the defaults are better than those that there are."""
        return self.proposed > self.now


class MenuUsage:
    """Appends a line for each call that followed a menu, where it `keeps` anything."""

    def __init__(self, path: Path, *, keeps: bool = True, largest_bytes: int = LARGEST_BYTES) -> None:
        self._path = path
        self._keeps = keeps
        self._largest_bytes = largest_bytes
        self._last: OrderedDict[str, Menu] = OrderedDict()

    def offered(self, menu: Menu, *, who: str) -> None:
        """Remember the menu that a caller has now."""
        if not self._keeps:
            return
        self._last[who] = menu
        self._last.move_to_end(who)
        if len(self._last) > _REMEMBERED:
            self._last.popitem(last=False)

    def called(self, tool_id: str, *, who: str) -> None:
        """Record a call of a caller that has a menu."""
        menu = self._last.get(who)
        if menu is None:
            return
        by = next((one.reason.kind for one in menu.offered if one.tool.id == tool_id), _NOT_OFFERED)
        line = json.dumps({"tool": tool_id, "by": by, "unmatched": not menu.activated}, ensure_ascii=False) + "\n"
        with contextlib.suppress(OSError):  # a record that cannot be kept must not fail the call
            self._append(line.encode("utf-8", "replace"))

    def read(self) -> list[Used]:
        """What was recorded, the oldest first; what is no record is left out."""
        try:
            lines = self._path.read_bytes().splitlines()
        except OSError:
            return []
        return [used for line in lines if (used := _read(line)) is not None]

    def _append(self, line: bytes) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "ab") as file:
            file.write(line)
            is_full = file.tell() > self._largest_bytes
        if is_full:
            lines = self._path.read_bytes().splitlines(keepends=True)
            beside = self._path.with_name(self._path.name + ".new")
            beside.touch(mode=0o600)
            beside.write_bytes(b"".join(lines[len(lines) // 2 :]))
            beside.replace(self._path)


def propose_menu(used: Sequence[Used], selector: Selector) -> MenuProposal | None:
    """Defaults and core tools from what was used; None for too few calls."""
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


def _defaults(used: Iterable[Used], selector: Selector) -> tuple[str, ...]:
    """The categories that were used most, as many as the defaults of now have room for."""
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


def _covered(used: Sequence[Used], defaults: Iterable[str], selector: Selector) -> float:
    there = {part for name in defaults for part in selector.categories.of(name)}
    core = {tool.id for tool in selector.core}
    return sum(one.tool in core or _category(one, selector) in there for one in used) / max(1, len(used))


def _category(used: Used, selector: Selector) -> str:
    tool = selector.tool(used.tool)
    return selector.category_of(tool) if tool else ""


def _read(line: bytes) -> Used | None:
    try:
        found = json.loads(line)
        return Used(str(found["tool"]), str(found["by"]), bool(found["unmatched"]))
    except (ValueError, KeyError, TypeError):
        return None
