"""Hints for names that are not defined, and for modules and classes that share a name."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from sandbox.guest.advice.idioms import NAMES
from sandbox.guest.advice.values import copy_written, known_names, parts, source
from sandbox.guest.language.bindings import bindings
from sandbox.guest.language.variables import UNAVAILABLE
from sandbox.guest.library.allowlist import MODULES
from sandbox.guest.library.modules import OFFERED
from sandbox.guest.library.not_offered import NOT_OFFERED
from sandbox.guest.library.tables import Table
from sandbox.guest.tools import Record, Tool

if TYPE_CHECKING:
    from collections.abc import Collection

    from sandbox.guest.advice.situation import Situation

#: Modules whose names are often used without an import, the most frequent ones first.
_NAMED_ALONE = """
    datetime collections time math itertools functools dataclasses typing enum decimal statistics zoneinfo contextlib
    abc concurrent.futures copy random string textwrap pprint fractions json re urllib.parse operator heapq bisect
    asyncio io base64 hashlib uuid html threading queue types warnings traceback
"""
_MADE_NOWHERE = "nothing here makes {}, and no program sees what one before it left: make it in this program."
#: Kinds of data, which is not called and has no other attributes than these kinds.
_DATA = frozenset({str, int, float, bool, type(None), list, dict, tuple, set, Record})
#: Names of exceptions.
_OF_ERRORS = re.compile(r"[A-Z]\w*(Error|Exception)")


def undefined(at: Situation) -> str:
    """Say what a missing name probably means."""
    found = re.search(r"(?:name|variable) '(\w+)'", at.message)
    if found is None:
        return ""
    rules = (_was_there, _made_elsewhere, _nearest_variable, _known, _nearest_of_others, _of_nothing)
    return next(filter(None, (rule(at, found[1]) for rule in rules)), "")


def _was_there(at: Situation, name: str) -> str:
    if isinstance(at.error, UnboundLocalError):
        instead = f"write `global {name}` (or `nonlocal {name}`) first, or pass it in"
        instead = "give that variable another name" if _is_builtin(name) else instead
        return f"{name} is assigned in this function, so it is local there: {instead}"
    if (copied := copy_written(at.tree)).endswith("()"):
        return f"{copied} gives a copy here: write {name} = ..., or keep the values in a dict of your own"
    return f"{name} was there from the beginning: leave out `del {name}`" if _is_builtin(name) else ""


def _made_elsewhere(at: Situation, name: str) -> str:
    """Say which line binds a name that is missing; nothing if none does. `ast.walk` finds outer lines first."""
    made = (each for each in parts(at.tree) if name in bindings(each) and not isinstance(each, ast.alias))
    line = next((getattr(each, "lineno", None) for each in made), None)
    if line is None:
        return ""
    return (
        f"line {line} makes {name}, but has not done so before this, or keeps it to its own function, class, "
        "comprehension or except block: give it back from there, or make it here"
    )


def _nearest_variable(at: Situation, name: str) -> str:
    """Name variables and inputs, then tools, that are written alike and can be used like the missing name."""
    cutoff = 0.9 if _OF_ERRORS.fullmatch(name) else 0.85 if name in NAMES else 0.7
    use = _use(at)
    fitting = {key: value for key, value in at.variables.items() if key.isidentifier() and _fits(value, use)}
    for is_tool in (False, True):
        names = [key for key, value in fitting.items() if isinstance(value, Tool) is is_tool and key[0] != "_"]
        if near := get_close_matches(name, names, n=3, cutoff=cutoff):
            return f"did you mean {', '.join(near)}?"
    return ""


def _use(at: Situation) -> ast.expr | None:
    """Return the call of the missing name, or the expression that reads an attribute of it."""
    uses = (each for each in parts(at.tree) if isinstance(each, ast.Call | ast.Attribute))
    return next((each for each in uses if _span(at.node) == _span(_used(each))), None)


def _used(use: ast.Call | ast.Attribute) -> ast.expr:
    return use.func if isinstance(use, ast.Call) else use.value


def _span(node: Any) -> tuple[int, int] | None:
    return (node.lineno, node.col_offset) if isinstance(node, ast.Name) else None


def _fits(value: Any, use: ast.expr | None) -> bool:
    """Return whether data can be used so; what else there is can."""
    if type(value) not in _DATA:
        return True
    if isinstance(use, ast.Attribute):
        return hasattr(type(value), use.attr) or (type(value) is Record and use.attr in value)
    return not isinstance(use, ast.Call)


def _known(_: Situation, name: str) -> str:
    if name in NAMES:
        return NAMES[name].replace("{x}", name)
    if imported := import_of(name):
        return imported
    return f"there is no {name} here: {NOT_OFFERED[name]}" if name in NOT_OFFERED else ""


def _nearest_of_others(at: Situation, name: str) -> str:
    """Name builtins, then modules and what they hold, that are written alike."""
    is_error = _OF_ERRORS.fullmatch(name) is not None
    if near := get_close_matches(name, set(known_names(at.variables)), n=3, cutoff=0.9 if is_error else 0.7):
        return f"did you mean {', '.join(near)}?"
    if is_error:
        return (
            "a failed call raises ToolError: write `except ToolError as e`, and look at e.status; "
            f"an error of your own is `class {name}(Exception): pass`"
        )
    offered = [*_NAMED_ALONE.split(), *(each for module in _NAMED_ALONE.split() for each in _names_of(module))]
    near = get_close_matches(name, offered, n=1, cutoff=0.85) if _use(at) is not None else []
    return f"did you mean {near[0]}? {import_of(near[0])}" if near else ""


def _of_nothing(at: Situation, name: str) -> str:
    hints = [_MADE_NOWHERE.format(name)]
    if at.namespaces:
        first, shown = at.namespaces[0], ", ".join(at.namespaces[:12])
        hints.append(f"The tools are bound as {shown}: call them as {first}.group.operation(name=value)")
    return " ".join(hints)


def import_of(name: str, *, but: str = "") -> str:
    """Say which module has a name, other than `but`."""
    if name.startswith("_") or len(name) == 1 or name in UNAVAILABLE:  # `re` has names of one letter
        return ""
    if _is_builtin(name):
        return f"{name} is there without an import: write {name}(...)"
    meant = ("collections.abc " if but == "collections" else "") + _NAMED_ALONE
    module = next((each for each in meant.split() if each != but and name in _names_of(each)), None)
    if name not in OFFERED:
        return f"write `from {module} import {name}` {'instead' if but else 'first'}" if module else ""
    if module != name:
        return f"write `import {name}` first"
    return f"write `from {name} import {name}` first (or `import {name}`, for {name}.{name})"


def _is_builtin(name: str) -> bool:
    return hasattr(builtins, name) and name not in UNAVAILABLE


def _names_of(module: str) -> Collection[str]:
    listed = MODULES[module]
    return (*listed.raw, *listed.lent, *listed.facade)


def imported(at: Situation) -> str:
    """Say that a tool namespace needs no import, or which module has the name."""
    root = (getattr(at.error, "name", None) or "").partition(".")[0]
    if root in at.names:
        return f"{root} is bound already: leave the import out"
    found = re.search(r"cannot import name '(\w+)': module '([\w.]+)' has no attribute", at.message)
    return import_of(found[1], but=found[2]) if found else ""


def module_or_class(at: Situation, name: str) -> str:
    """`datetime.now()` where datetime is the module, `datetime.timedelta` where it is the class."""
    owner = at.node.value if isinstance(at.node, ast.Attribute) else None
    text = source(owner)
    module = sys.modules.get(text) if text in OFFERED else None
    if module is None:
        return ""
    if not isinstance(at.value(owner), Table):
        return f"{text} is not the module here: write `from {text} import {name}`" if hasattr(module, name) else ""
    if hasattr(getattr(module, text, None), name):
        return f"{text} is the module here: write {text}.{text}.{name}, or import it by `from {text} import {text}`"
    return ""
