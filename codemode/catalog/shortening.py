"""Ids within the longest name that chat completions accept."""

from __future__ import annotations

from codemode.catalog.identifiers import legal

#: Function names of chat-completion APIs end here (`^[a-zA-Z0-9_-]{1,64}$`), so that an id can serve as one.
LONGEST_ID = 64


#: No level of a group is cut to less.
_SHORTEST_LEVEL = 6


def fit(namespace: str, group: str, name: str) -> str:
    """The id within `LONGEST_ID`: long words give way to short ones, then words are left out of the middle."""
    whole = f"{namespace}.{group}.{name}"
    if len(whole) <= LONGEST_ID:
        return whole
    words = [_SHORTER.get(word, word) for index, word in enumerate(name.split("_")) if not index or word not in FILLERS]
    if len(namespace) + len(group) + 2 > LONGEST_ID // 2:
        group = _short_group(group, LONGEST_ID // 2 - 4)
    room = LONGEST_ID - len(namespace) - len(group) - 3
    return f"{namespace}.{group}.{legal(_shorten(words, max(room, 8)))}"


def _short_group(group: str, room: int) -> str:
    """All levels of a group; the longest is cut until they fit."""
    levels = ["_".join(_SHORTER.get(word, word) for word in level.split("_")) for level in group.split(".")]
    while len(".".join(levels)) > room and max(map(len, levels)) > _SHORTEST_LEVEL:
        longest = max(range(len(levels)), key=lambda index: len(levels[index]))
        level = levels[longest]
        levels[longest] = _shorten(level.split("_"), len(level) - 1)
    return ".".join(legal(level.rstrip("_")) for level in levels)


def _shorten(words: list[str], room: int) -> str:
    """As many words as fit, from both ends: what they begin and end with tells operations apart best."""
    if len("_".join(words)) <= room:
        return "_".join(words)
    head: list[str] = []
    tail: list[str] = []
    left = list(words)
    while left:
        side, index = (head, 0) if len(head) <= len(tail) else (tail, -1)
        if len("_".join([*head, *tail, left[index]])) > room:
            break
        word = left.pop(index)
        side.insert(len(side) if side is head else 0, word)
    return "_".join([*head, *tail]) or words[0][:room]


#: Words that tell no two operations apart.
FILLERS = frozenset(("a", "an", "the", "of", "for", "from", "to", "in", "on", "with", "and", "by", "all"))


#: Usual short forms, used where an id would be too long.
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
