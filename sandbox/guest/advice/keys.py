"""Hints for missing keys: the keys of the dict, the most similar ones first."""

from __future__ import annotations

import ast
import re
from difflib import get_close_matches
from enum import EnumMeta
from typing import TYPE_CHECKING, Any

from sandbox.guest.advice.message_texts import hint_for_text
from sandbox.guest.advice.values import MOST_KEYS, UNKNOWN, keys_of, parts, source
from sandbox.guest.library.zones import zones
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
        return _zone(at) or _called(at) or hint_for_text(at)
    value, key, text = _owner(at, node), at.error.args[0], source(node.value)
    if isinstance(value, EnumMeta):
        return f"{text} has the members {keys_of(dict(value.__members__))}; {text}(value) finds one by its value"
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


def wrong_member(at: Situation) -> str:
    """`Status("opened")`, where Status is an Enum with other values."""
    calls = (node for node in parts(at.node) if isinstance(node, ast.Call))
    call = next((node for node in calls if isinstance(at.value(node.func), EnumMeta)), None)
    if call is None:
        return ""
    members: list[Any] = list(at.value(call.func))
    values = [member._value_ for member in members[:MOST_KEYS]]
    plain = ", ".join(repr(value) for value in values if type(value) in (str, int))
    return f"{source(call.func)} takes {plain}" if plain else ""


def _called(at: Situation) -> str:
    """`d.pop(key)`, `s.remove(x)`, `text.format(…)`, `sorted(rows, key=itemgetter(key))`."""
    node, key = at.node, at.error.args[0]
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute):
        owner, text = at.value(node.func.value), source(node.func.value)
        match node.func.attr:
            case "pop" if isinstance(owner, dict):
                there = _keys(owner, key, text) if owner else f"{text} is an empty dict"
                return f"{there}; {text}.pop({key!r}, None) gives None where it is missing"
            case "remove" if type(owner) is set:
                return f"{text} does not hold it: {text}.discard({key!r}) does nothing then"
            case "format" | "format_map":
                return (
                    f"{{{key}}} in the text has no value: name it in the call, or write {{{{ and }}}} for plain braces"
                )
            case "substitute":
                return f"${key} in the text has no value: name it in the call; safe_substitute leaves it as it is"
    return _of_rows(at, node, key)


def _of_rows(at: Situation, call: ast.Call, key: Any) -> str:
    """Find the dict without the key in the list arguments of a call."""
    for given in call.args:
        rows = at.value(given)
        is_plain = type(rows) is list and type(key) is str
        lacking = [row for row in rows if type(row) in (dict, Record) and key not in row] if is_plain else []
        if lacking:
            near = near_keys(key, lacking[0])
            also = f"; nearest: {', '.join(map(repr, near[:3]))}" if near else ""
            return f"one of {source(given)} has the keys {keys_of(lacking[0])}{also}"
    asked = _asked(at.error)
    return _keys(asked, key, "row") if isinstance(asked, dict) else ""


def _zone(at: Situation) -> str:
    found = re.search(r"No time zone found with key ([\w/+-]+)", at.message)
    if found is None:
        return ""
    city = found[1].rpartition("/")[2].lower()
    known = sorted(zones())
    near = [zone for zone in known if zone.rpartition("/")[2].lower() == city] or get_close_matches(found[1], known)
    return f"did you mean {', '.join(map(repr, near[:3]))}?" if near else "zones are named as in 'Europe/Berlin'"


def _asked(error: BaseException) -> Any:
    """Return the tool answer that lacks a key, in any expression."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    is_record = trace is not None and trace.tb_frame.f_code is Record.__missing__.__code__
    return trace.tb_frame.f_locals["self"] if trace is not None and is_record else UNKNOWN
