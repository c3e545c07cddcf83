"""Tables: read-only lists of names, which programs import in the place of modules."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


#: The key of a table class other than `Table`, among the names of a module. No program can spell it.
TABLE = ".table"


class Table:
    """The names of one module that a program may use, as read-only attributes."""

    __slots__ = ("__dict__", "_name", "_withheld")
    _name: str
    _withheld: Mapping[str, str]

    def __init__(self, name: str, names: Mapping[str, Any], withheld: Mapping[str, str] | None = None) -> None:
        if vars(self):
            raise AttributeError("a module is read-only here")
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_withheld", withheld or {})
        # Interned, as names in code are: the interpreter caches attributes by the identity of the name.
        vars(self).update(zip(map(sys.intern, names), names.values(), strict=True))

    def __setattr__(self, name: str, value: object) -> None:
        message = f"module {self._name!r} is read-only here: {name!r} cannot be set"
        raise AttributeError(message)

    def __delattr__(self, name: str) -> None:
        message = f"module {self._name!r} is read-only here: {name!r} cannot be deleted"
        raise AttributeError(message)

    def __dir__(self) -> list[str]:
        return table_names(self)

    def __copy__(self) -> Table:
        return self

    def __deepcopy__(self, memo: object) -> Table:
        return self

    def __hash__(self) -> int:
        return hash(self._name)

    def __eq__(self, other: object) -> bool:
        return self is other  # not NotImplemented, which would pass the table to the other's `__eq__`

    def __repr__(self) -> str:
        return f"<module {self._name!r}>"


Table.__name__ = Table.__qualname__ = "module"
Table.__module__ = "builtins"


def table_name(table: Table) -> str:
    """Return the name of the module."""
    return table._name


def table_names(table: Table) -> list[str]:
    """Return the sorted names of a table."""
    return sorted(vars(table))


def explain_missing(table: Table, name: str) -> str:
    """Return the message for a missing name, with the reason or near names."""
    module = table_name(table)
    reason = table._withheld.get(name)
    if reason:
        return f"{module}.{name} is not available here: {reason}"
    near = get_close_matches(name, table_names(table), n=3)
    also = f"; near names: {', '.join(near)}" if near else ""
    return f"module {module!r} has no attribute {name!r} here{also}"
