"""Builtins: those that are CPython's own, and those that are ours because the real ones look too deep."""

from __future__ import annotations

import builtins
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.compilation import FILENAME
from sandbox.guest.language.variables import UNAVAILABLE
from sandbox.guest.runtime.identities import IDENTITIES
from sandbox.guest.runtime.inspection import visible
from sandbox.guest.runtime.own import MARK_NAME
from sandbox.guest.runtime.tables import Table, table_names
from sandbox.guest.runtime.types_seen import SeenType

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.guest.runtime.access import Access

#: Data types and functions over data: they see what they are given.
_DATA = """
    abs aiter all anext any ascii bin bool bytearray bytes callable chr classmethod complex dict divmod enumerate
    filter float format frozenset hash hex int isinstance issubclass iter len list map max min next object oct ord
    pow property range repr reversed round set slice sorted staticmethod str sum super tuple zip Ellipsis
    NotImplemented True False None __build_class__
"""
#: Every exception: programs raise and catch them. Classes of groups cannot be inherited from.
_EXCEPTIONS = [
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
]


def static_builtins() -> dict[str, Any]:
    """Return the builtins that are the same for every program."""
    names = {sys.intern(name): getattr(builtins, name) for name in (*_DATA.split(), *_EXCEPTIONS)}
    return {
        **names,
        "__import__": import_for_c,
        "type": SeenType,
        "id": seen_id,
        "exit": leave,
        "quit": leave,
        "locals": program_locals,
        ".unavailable": unavailable,
    }


def bound_builtins(access: Access, program_globals: dict[str, Any], print_: Callable[..., None]) -> dict[str, Any]:
    """Return the builtins that look at objects for one program."""

    def globals_() -> dict[str, Any]:
        return visible(program_globals)

    def vars_(*values: Any) -> dict[str, Any]:
        return access.variables(values[0]) if values else program_locals()

    def dir_(*values: Any) -> list[str]:
        return seen_names(access, values[0]) if values else sorted(program_locals())

    return {
        "print": print_,
        "getattr": access.get,
        "hasattr": access.has,
        "setattr": access.set,
        "delattr": access.delete,
        "globals": globals_,
        "vars": vars_,
        "dir": dir_,
    }


def seen_id(value: object, /) -> int:
    """Do what `id` does, with a number that is the same in every run."""
    return IDENTITIES.shown(value)


#: What C code imports by itself when a program calls it (`strftime` does), through the builtins of that program.
_IMPORTED_BY_C = frozenset({
    "_io", "_pylong", "_strptime", "abc", "collections", "collections.abc", "contextvars", "copyreg", "datetime",
    "decimal", "enum", "functools", "io", "math", "numbers", "operator", "re", "string", "time", "types", "typing",
    "unicodedata", "warnings", "zoneinfo",
})  # fmt: skip


def import_for_c(name: str, *_: Any) -> Any:
    """Import for C code. No program can spell the name under which this stands."""
    if name not in _IMPORTED_BY_C:
        message = f"no module {name} here"
        raise ImportError(message)
    return sys.modules.get(name) or import_module(name)


def unavailable(name: str) -> Any:
    """Stand where a program reads a builtin that is left out, in a function that nothing seemed to call."""
    advice = UNAVAILABLE[name]
    message = f"{name} is not available: {advice.reason}; {advice.instead}"
    raise NameError(message, name=name)


def leave(code: Any = None) -> None:
    """Do what `sys.exit` does: end the program."""
    raise SystemExit(code)


def program_locals() -> dict[str, Any]:
    """Return a copy of the variables of the innermost function of the program."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename != FILENAME:
        if frame.f_back is None:
            return {}
        frame = frame.f_back
    is_program = frame.f_code.co_name == "<module>"  # which is a function where the program returns
    return visible(dict(frame.f_globals if is_program else frame.f_locals))


def seen_names(access: Access, value: Any) -> list[str]:
    """Return what `dir(value)` gives: for what is not the program's, without private names."""
    if isinstance(value, Table):
        return table_names(value)
    if value in access.own:
        return [name for name in dir(value) if name != MARK_NAME]
    return [name for name in dir(value) if not name.startswith("_") or name.startswith("__")]
