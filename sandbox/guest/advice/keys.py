"""Hints for missing keys: the keys of the dict, the most similar ones first."""

from __future__ import annotations

import ast
import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from sandbox.guest.advice.message_texts import hint_for_text
from sandbox.guest.advice.values import UNKNOWN, keys_of, source
from sandbox.guest.tools import Record

if TYPE_CHECKING:
    from sandbox.guest.advice.situation import Situation

#: Words that services use for the same field.
_ALIKE = [
    frozenset(words.split())
    for words in (
        "amount total price cost sum value subtotal balance",
        "name title label login username subject summary",
        "id uid uuid key number identifier",
        "created date time timestamp start started begin",
        "updated modified changed",
        "status state phase stage",
        "items data results result records entries rows list values",
        "count total size length quantity qty",
        "description text body content message note notes",
        "user author owner creator assignee login",
        "customer client contact account",
        "email mail address",
        "url link href uri",
        "cursor next token page",
        "end due deadline until expires",
    )
]


def missing_key(at: Situation) -> str:
    """`r["amount"]`, where r has other keys."""
    node = at.node
    if not at.error.args:
        return ""
    if not isinstance(node, ast.Subscript):
        asked = _asked(at.error)
        return _keys(asked, at.error.args[0], "row") if isinstance(asked, dict) else hint_for_text(at)
    value, key, text = _owner(at, node), at.error.args[0], source(node.value)
    if isinstance(key, slice):
        return sliced(at, node)
    if not isinstance(value, dict):
        return f"print(list({text})) shows the keys there are; {text}.get({key!r}) gives None where one is missing"
    if not value:
        return f"{text} is an empty dict: {text}[{key!r}] = ... adds the key, {text}.setdefault({key!r}, {{}}) at need"
    return _keys(value, key, text)


def _owner(at: Situation, node: ast.Subscript) -> Any:
    value = at.value(node.value)
    return _asked(at.error) if value is UNKNOWN else value


def _keys(value: dict[Any, Any], key: Any, text: str) -> str:
    near = near_keys(key, value)
    hints = [f"nearest: {', '.join(f'{text}[{name!r}]' for name in near[:3])}"] if near else []
    hints.append(f"{text} is a dict with the keys {keys_of(value)}")
    if isinstance(key, int):
        hints += [f"the list is {text}[{name!r}]: write {text}[{name!r}][{key}]" for name in _lists(value)[:2]]
    return "; ".join(hints)


def _lists(value: dict[Any, Any]) -> list[Any]:
    return [name for name, item in value.items() if isinstance(item, list)]


def sliced(at: Situation, node: ast.Subscript) -> str:
    """`r[:5]`, where r is a dict."""
    value, text = _owner(at, node), source(node.value)
    if not isinstance(value, dict):
        return f"a dict has no parts by position: keep it (r = {text}), and slice the list that it holds"
    lists = [f"{text}[{name!r}]" for name in _lists(value)]
    also = f"; the list is {lists[0]}: write {lists[0]}[{source(node.slice)}]" if lists else ""
    return f"{text} is a dict with the keys {keys_of(value)}{also}"


def near_keys(key: Any, value: dict[Any, Any]) -> list[str]:
    """Return the keys that look like a missing one, then those with the same meaning."""
    if not isinstance(key, str):
        return []
    texts = [name for name in value if isinstance(name, str)]
    inside = [name for name in texts if key.lower() in name.lower() or _is_inside(name, key)]
    words = {word for word in _words(key) if len(word) > 2}
    shared = [name for name in texts if words & _words(name)]
    stems = [name for name in texts if key[:4].lower() == name[:4].lower()]
    meant = set().union(*(alike for alike in _ALIKE if words & alike))
    same = [name for name in texts if meant & _words(name)]
    close = get_close_matches(key, texts, n=2, cutoff=0.75)
    far = get_close_matches(key, filter(lambda name: len(name) > _SHORT, texts), n=2)
    return list(dict.fromkeys([*close, *inside, *shared, *same, *far, *stems]))


#: Names of at most this many letters are parts of other words by accident: `id` of `paid`.
_SHORT = 2


def _is_inside(name: str, key: str) -> bool:
    return name.lower() in (_words(key) if len(name) <= _SHORT else key.lower())


def _words(name: str) -> set[str]:
    """Return the words of `created_at`, and of `createdAt`."""
    return set(re.split(r"[_\W]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()))


def _asked(error: BaseException) -> Any:
    """Return the tool answer that lacks a key, in any expression."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    is_record = trace is not None and trace.tb_frame.f_code is Record.__missing__.__code__
    return trace.tb_frame.f_locals["self"] if trace is not None and is_record else UNKNOWN
