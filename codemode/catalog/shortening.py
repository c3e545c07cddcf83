"""Shorten ids to the length that chat completions accept."""

from __future__ import annotations

from codemode.catalog.identifiers import legal

#: The longest function name of chat-completion APIs (`^[a-zA-Z0-9_-]{1,64}$`). Ids serve as function names.
LONGEST_ID = 64


#: The room for a name behind a whole group.
_SHORTEST_NAME = 12

#: The shortest level of a shortened group.
_SHORTEST_LEVEL = 6


def fit(namespace: str, group: str, name: str, *, keeps_group: bool = False) -> str:
    """Return the id within `LONGEST_ID`: abbreviate words, then drop words from the middle.

    `keeps_group` shortens the group only if it leaves too little room for the name.
    """
    whole = f"{namespace}.{group}.{name}"
    if len(whole) <= LONGEST_ID:
        return whole
    words = [_SHORTER.get(word, word) for index, word in enumerate(name.split("_")) if not index or word not in FILLERS]
    most = LONGEST_ID - _SHORTEST_NAME if keeps_group else LONGEST_ID // 2
    if len(namespace) + len(group) + 2 > most:
        group = _short_group(group, LONGEST_ID // 2 - 4)
    room = LONGEST_ID - len(namespace) - len(group) - 3
    return f"{namespace}.{group}.{legal(_shorten(words, max(room, 8)))}"


def _short_group(group: str, room: int) -> str:
    """Shorten the longest level of a group until the group fits."""
    levels = ["_".join(_SHORTER.get(word, word) for word in level.split("_")) for level in group.split(".")]
    while len(".".join(levels)) > room and max(map(len, levels)) > _SHORTEST_LEVEL:
        longest = max(range(len(levels)), key=lambda index: len(levels[index]))
        level = levels[longest]
        levels[longest] = _shorten(level.split("_"), len(level) - 1)
    return ".".join(legal(level.rstrip("_")) for level in levels)


def _shorten(words: list[str], room: int) -> str:
    """Return as many words as fit, from both ends: the first and last words distinguish operations best."""
    if len("_".join(words)) <= room:
        return "_".join(words)
    head: list[str] = []
    tail: list[str] = []
    remaining = list(words)
    while remaining:
        side, index = (head, 0) if len(head) <= len(tail) else (tail, -1)
        if len("_".join([*head, *tail, remaining[index]])) > room:
            break
        word = remaining.pop(index)
        side.insert(len(side) if side is head else 0, word)
    return "_".join([*head, *tail]) or words[0][:room]


#: Words that do not distinguish operations.
FILLERS = frozenset(("a", "an", "the", "of", "for", "from", "to", "in", "on", "with", "and", "by", "all"))


#: Usual abbreviations, for ids that are too long.
_SHORTER = {
    "administration": "admin",
    "application": "app",
    "applications": "apps",
    "authentication": "auth",
    "authorization": "authz",
    "configuration": "config",
    "configurations": "configs",
    "environment": "env",
    "environments": "envs",
    "information": "info",
    "management": "mgmt",
    "namespaced": "ns",
    "notification": "notif",
    "notifications": "notifs",
    "organization": "org",
    "organizations": "orgs",
    "permission": "perm",
    "permissions": "perms",
    "repositories": "repos",
    "repository": "repo",
}
