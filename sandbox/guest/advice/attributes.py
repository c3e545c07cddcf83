"""Hints for attributes that are missing, and for None, lists and texts that were taken for something else."""

from __future__ import annotations

import ast
import json
import re
from difflib import get_close_matches
from types import FunctionType
from typing import TYPE_CHECKING, Any

from sandbox.guest.advice.idioms import ATTRIBUTES, OF_ANSWERS, OF_OTHERS
from sandbox.guest.advice.missing_names import import_of, module_or_class
from sandbox.guest.advice.values import UNKNOWN, copy_written, first_none, keys_of, parts, source
from sandbox.guest.library.tables import Table, explain_missing, table_name
from sandbox.guest.tools import PendingCall, Record, ToolError

if TYPE_CHECKING:
    from sandbox.guest.advice.situation import Situation


def missing_attribute(at: Situation) -> str:
    """`x.name`, where the object has no such attribute."""
    name = getattr(at.error, "name", None) or _quoted(at.message)
    node = at.node
    owner = node.value if isinstance(node, ast.Attribute) else None
    value = at.value(owner)
    text = source(owner) if owner is not None else "x"
    if value is None or "'NoneType'" in at.message:
        return is_none(at, text)
    if name is None:
        return ""
    if isinstance(value, dict) and name in value:
        return f'write {text}["{name}"]'
    if meant := module_or_class(at, name):
        return meant
    if isinstance(value, Table):
        return "; ".join(filter(None, (explain_missing(value, name), import_of(name, but=table_name(value)))))
    asked = getattr(at.error, "obj", None) if value is UNKNOWN else value
    if isinstance(asked, ToolError):
        return "a ToolError has message, status, kind, body and retry_after_s"
    if isinstance(asked, str) and hasattr(dict, name) and (hint := key_of_loop(at, owner, asked)):
        return hint
    return json_hint(asked, text) or ATTRIBUTES.get(name, "").replace("{x}", text) or _unknown(at, value, name, text)


def _unknown(at: Situation, value: Any, name: str, text: str) -> str:
    if meant := OF_OTHERS.get((type(value), name)):
        return meant.replace("{x}", text)
    if at.message.endswith("that can be set") and isinstance(at.value(at.node), dict):
        return f'write {source(at.node)}["{name}"] = ...'
    if name in OF_ANSWERS and (type(value) is Record or "the answer has no field" in at.message):
        has = f"; it has the keys {keys_of(value)}" if type(value) is Record else ""
        return OF_ANSWERS[name].replace("{name}", name) + has
    if isinstance(value, dict) or "'dict'" in at.message:
        return _no_field(value, name, text)
    if isinstance(value, list) or "'list'" in at.message:
        return _meant_of_list(value, name, text) or is_list(value, text)
    if _is_unawaited(value):
        return f"{text} was not awaited: write `await` in front of the call"
    value = getattr(at.error, "obj", UNKNOWN) if value is UNKNOWN else value
    if value is UNKNOWN:
        return ""
    kind = value if isinstance(value, type) else type(value)
    if kind is FunctionType and (copied := copy_written(at.tree)).endswith(".__dict__"):
        return f"{copied} of a function is a copy here: write setattr({text}, name, value)"
    near = get_close_matches(name, [each for each in dir(kind) if not each.startswith("_")], n=3)
    meant = f"did you mean {', '.join(near)}?" if near else ""
    return "; ".join(filter(None, (f"{text} is text, not a dict", meant))) if kind is str else meant


def _no_field(value: Any, name: str, text: str) -> str:
    if hasattr(list, name) or hasattr(set, name):
        return f"{text} is a dict: write {text}[key] = value to add to it; a list begins as []"
    if not isinstance(value, dict):
        return f'a dict is read by key: {text}["{name}"]'
    if not value:
        return f"{text} is an empty dict"
    near = get_close_matches(name, [key for key in value if isinstance(key, str)], n=3)
    also = f'; nearest: {text}["{near[0]}"]' if near else _only_list(value, text)
    return f"{text} has the keys {keys_of(value)}{also}"


def _only_list(value: dict[Any, Any], text: str) -> str:
    """`r.data`, where r holds one list under another name."""
    lists = [key for key, item in value.items() if isinstance(item, list)]
    return f"; its list is {text}[{lists[0]!r}]" if len(lists) == 1 else ""


def _meant_of_list(value: Any, name: str, text: str) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict) and name in value[0]:
        return ""
    near = get_close_matches(name, [*filter(str.isalpha, dir(list)), *ATTRIBUTES], n=1, cutoff=0.8)
    return ATTRIBUTES.get(near[0], f"write {{x}}.{near[0]}(...)").replace("{x}", text) if near else ""


def json_hint(value: Any, text: str) -> str:
    """Say that a text holds a JSON object or array, and what is in it; "" for any other value."""
    if type(value) is not str or value.lstrip()[:1] not in ("{", "["):
        return ""
    try:
        data = json.loads(value)
    except (ValueError, RecursionError):
        return ""
    inside = f"a dict with the keys {keys_of(data)}" if isinstance(data, dict) else f"a list of {len(data)} items"
    return f"{text} is JSON text: import json, then json.loads({text}) is {inside}"


def is_list(value: Any, text: str) -> str:
    """Say that a value is a list, and of how many items with which keys."""
    inside = f" of {len(value)} items" if isinstance(value, list) else ""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        inside += f", each with the keys {keys_of(value[0])}"
    return f"{text} is a list{inside}: loop over it, or take one item with {text}[0]"


def is_none(at: Situation, text: str) -> str:
    """Say which part of an expression is None, and why if a function of the library returned it."""
    none = first_none(at.node, at.variables)
    shown = source(none) if none is not None else text
    called = getattr(at.node, "value", None) if none is None else assigned(at, none)
    why = _GIVE_NONE.get(source(called.func).rpartition(".")[2]) if isinstance(called, ast.Call) else None
    if why is not None:
        return f"{shown} is None: {why}"
    return (
        f"{shown} is None here (a field without a value is null): guard it, as in ({shown} or {{}}) "
        f"or `if {shown} is not None`"
    )


def assigned(at: Situation, node: ast.AST) -> ast.AST:
    """Return the expression that a name was assigned last, or the node itself."""
    given = [
        each
        for each in parts(at.tree)
        if isinstance(each, ast.Assign) and source(each.targets[0]) == source(node) and each.lineno < (at.line or 0)
    ]
    return max(given, key=lambda each: each.lineno).value if given else node


_NO_MATCH = "nothing matches; keep it (m = ...), and test `if m:` first"
#: Functions that are often called for a value that they do not give.
_GIVE_NONE = {
    "print": "print() gives nothing back; keep the value in a variable, and print that",
    **dict.fromkeys(("search", "match", "fullmatch"), _NO_MATCH),
    **dict.fromkeys(("sort", "append", "extend", "reverse", "update"), "it changes what it is called on; use that"),
}


def key_of_loop(at: Situation, node: ast.AST | None, key: Any) -> str:
    """`for x in r: x["id"]`, where r is a dict: x is one of its keys."""
    if not isinstance(key, str):
        return ""
    for name, value in at.variables.items():
        if type(value) is Record and key in value:
            lists = [field for field, item in value.items() if isinstance(item, list)]
            inside = f'loop over {name}["{lists[0]}"]' if lists else f"loop over {name}.items() or {name}.values()"
            return f"{source(node)} is {key!r}, a key of the dict {name}: {inside}"
    for loop in parts(at.tree):
        match loop:
            case ast.For(target, ast.Call() as made) | ast.comprehension(target, ast.Call() as made):
                if source(target) == source(node):
                    return (
                        f"{source(node)} is {key!r}: a loop over a dict gives its keys. Keep the answer "
                        f"(r = {source(made)}), look at list(r), and loop over the list that it holds"
                    )
    return ""


def _is_unawaited(value: Any) -> bool:
    return value is not UNKNOWN and (isinstance(value, PendingCall) or hasattr(type(value), "__await__"))


def _quoted(message: str) -> str | None:
    found = re.search(r"attribute '(\w+)'", message)
    return found[1] if found else None
