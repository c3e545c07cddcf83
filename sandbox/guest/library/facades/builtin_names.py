"""Builtins: CPython's own, and facades for those that read any attribute."""

from __future__ import annotations

import builtins
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sandbox.guest.base.identities import IDENTITIES
from sandbox.guest.language.access import (
    delattr_,
    field,
    getattr_,
    hasattr_,
    private,
    receiver,
    setattr_,
    vars_of,
    writable,
)
from sandbox.guest.language.access import looked_at as look_at
from sandbox.guest.language.compilation import FILENAME
from sandbox.guest.language.kinds import Type, kind_of, metaclass, subclass_hook
from sandbox.guest.language.own import MARK, MARK_NAME, OWN, is_own, own_class, variables
from sandbox.guest.language.variables import UNAVAILABLE
from sandbox.guest.library.facades.system import leave
from sandbox.guest.library.tables import Table, table_names

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Data types and functions over data.
_DATA = """
    abs aiter all anext any ascii bin bool bytearray bytes callable chr classmethod complex dict divmod enumerate
    filter float format frozenset hash hex int isinstance issubclass iter len list map max min next object oct ord
    pow property range repr reversed round set slice sorted staticmethod str sum super tuple zip Ellipsis
    NotImplemented True False None __build_class__
"""
#: All exceptions.
_EXCEPTIONS = [
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
]


def static_builtins() -> dict[str, Any]:
    """Return the builtins that are the same for every program, and the guards that compiled code calls."""
    names = {sys.intern(name): getattr(builtins, name) for name in (*_DATA.split(), *_EXCEPTIONS)}
    others: dict[str, Any] = {
        "__import__": import_for_c,
        "type": Type,
        "id": seen_id,
        **dict.fromkeys(("exit", "quit"), leave),
        "getattr": getattr_,
        "hasattr": hasattr_,
        "setattr": setattr_,
        "delattr": delattr_,
        "globals": program_globals,
        "locals": program_locals,
        "vars": vars_,
        "dir": dir_,
        ".own": OWN,
        ".type": type,
        ".kind": kind_of,
        ".getattr": getattr,
        ".hasattr": hasattr,
        ".private": private,
        ".writable": writable,
        ".receiver": receiver,
        ".field": field,
        ".looked_at": look_at,
        ".metaclass": metaclass,
        ".mark": MARK,
        ".subclass_hook": subclass_hook,
        ".own_class": own_class,
        ".unavailable": unavailable,
    }
    return {**names, **{sys.intern(name): value for name, value in others.items()}}


def seen_id(value: object, /) -> int:
    """Return a number like `id`, the same in every run."""
    return IDENTITIES.shown(value)


#: Modules that C code imports through the builtins of the program that calls it (`strftime`).
_IMPORTED_BY_C = frozenset({
    "_io", "_pylong", "_strptime", "abc", "collections", "collections.abc", "contextvars", "copyreg", "datetime",
    "decimal", "enum", "functools", "io", "math", "numbers", "operator", "re", "string", "time", "types", "typing",
    "unicodedata", "warnings", "zoneinfo",
})  # fmt: skip


def import_for_c(name: str, *_: Any) -> Any:
    """Import a module for C code. Programs cannot spell `__import__` of this table."""
    if name not in _IMPORTED_BY_C:
        message = f"no module {name} here"
        raise ImportError(message)
    return sys.modules.get(name) or import_module(name)


def unavailable(name: str) -> Any:
    """Raise NameError for a builtin that is left out, in a function that nothing seemed to call."""
    advice = UNAVAILABLE[name]
    message = f"{name} is not available: {advice.reason}; {advice.instead}"
    raise NameError(message, name=name)


def visible(names: Mapping[str, Any]) -> dict[str, Any]:
    """Return variables without the sandbox's own."""
    return {name: value for name, value in names.items() if not name.startswith((".", "<")) and name != "__builtins__"}


def program_globals() -> dict[str, Any]:
    """Return a copy of the variables of the program."""
    return visible(variables())


def program_locals() -> dict[str, Any]:
    """Return a copy of the variables of the innermost function of the program."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != FILENAME:
        frame = frame.f_back
    if frame is None:
        return {}
    is_program = frame.f_code.co_name == "<module>"  # which is a function where the program returns
    return visible(dict(frame.f_globals if is_program else frame.f_locals))


def vars_(*values: Any) -> Any:
    """`vars`, by the rules of `getattr`."""
    if not values:
        return program_locals()
    value = values[0]
    return {name: getattr_(value, name) for name in table_names(value)} if isinstance(value, Table) else vars_of(value)


def dir_(*values: Any) -> list[str]:
    """`dir`, without private names of others."""
    return seen_names(values[0]) if values else sorted(program_locals())


def seen_names(value: Any) -> list[str]:
    """Return the names in `dir(value)`. Private names are left out, unless the value is the program's own."""
    if isinstance(value, Table):
        return table_names(value)
    if is_own(value):
        return [name for name in dir(value) if name != MARK_NAME]
    return [name for name in dir(value) if not name.startswith("_") or name.startswith("__")]


for _function in (program_globals, program_locals, vars_, dir_, seen_id, leave):
    _function.__name__ = _function.__qualname__ = (
        _function.__name__.strip("_").removeprefix("program_").removeprefix("seen_")
    )
