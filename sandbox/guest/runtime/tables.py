"""Tables: what `import` gives. A fixed list of vetted names, read-only; never a module."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


#: Among the names of a module, the class of its table, where that is not `Table`. No program can spell it.
TABLE = ".table"


class Table:
    """The names of one module that a program may use: attributes that can be read at full speed, and not be written."""

    def __init__(self, name: str, names: Mapping[str, Any], withheld: Mapping[str, str] | None = None) -> None:
        if id(self) in _FACTS:
            message = f"module {table_name(self)!r} is read-only here"
            raise AttributeError(message)
        # As code has them: the interpreter remembers where it found a name by the name's identity.
        vars(self).update(zip(map(sys.intern, names), names.values(), strict=True))
        _FACTS[id(self)] = (name, withheld or {}, self)

    def __setattr__(self, name: str, value: object) -> None:
        message = f"module {table_name(self)!r} is read-only here: {name!r} cannot be set"
        raise AttributeError(message)

    def __delattr__(self, name: str) -> None:
        message = f"module {table_name(self)!r} is read-only here: {name!r} cannot be deleted"
        raise AttributeError(message)

    def __dir__(self) -> list[str]:
        return table_names(self)

    def __copy__(self) -> Table:
        return self

    def __deepcopy__(self, memo: object) -> Table:
        return self

    def __hash__(self) -> int:
        return hash(table_name(self))

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return f"<module {table_name(self)!r}>"


Table.__name__ = Table.__qualname__ = "module"

#: Name, and reasons for what is withheld, by the identity of a table, which this keeps alive.
_FACTS: dict[int, tuple[str, Mapping[str, str], Table]] = {}


def table_name(table: Table) -> str:
    """Return the name of the module that a table stands for."""
    return _FACTS[id(table)][0]


def table_names(table: Table) -> list[str]:
    """Return the names that a table holds, sorted."""
    return sorted(vars(table))


def forget_tables() -> None:
    """Let go of the tables of an execution that has ended."""
    _FACTS.clear()


def explain_missing(table: Table, name: str) -> str:
    """Say that a table lacks a name, why if that is known, and what is near."""
    module = table_name(table)
    reason = _FACTS[id(table)][1].get(name)
    if reason:
        return f"{module}.{name} is not available here: {reason}"
    near = get_close_matches(name, table_names(table), n=3)
    also = f"; near names: {', '.join(near)}" if near else ""
    return f"module {module!r} has no attribute {name!r} here{also}"
