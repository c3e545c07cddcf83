"""Tables: what `import` gives. A fixed list of vetted names, read-only; never a module."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class Table:
    """The names of one module that a program may use."""

    __slots__ = ("_Table__name", "_Table__names", "_Table__withheld")

    def __init__(self, name: str, names: Mapping[str, Any], withheld: Mapping[str, str] | None = None) -> None:
        object.__setattr__(self, "_Table__name", name)
        object.__setattr__(self, "_Table__names", dict(names))
        object.__setattr__(self, "_Table__withheld", withheld or {})

    def __getattr__(self, name: str) -> Any:
        try:
            return object.__getattribute__(self, "_Table__names")[name]
        except KeyError:
            pass
        raise AttributeError(explain_missing(self, name), name=name)

    def __setattr__(self, name: str, value: object) -> None:
        message = f"module {table_name(self)!r} is read-only here: {name!r} cannot be set"
        raise AttributeError(message)

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __dir__(self) -> list[str]:
        return table_names(self)

    def __copy__(self) -> Table:
        return self

    def __deepcopy__(self, memo: object) -> Table:
        return self

    def __repr__(self) -> str:
        return f"<module {table_name(self)!r}>"


def table_name(table: Table) -> str:
    """Return the name of the module that a table stands for."""
    name: str = object.__getattribute__(table, "_Table__name")
    return name


def table_names(table: Table) -> list[str]:
    """Return the names that a table holds, sorted."""
    return sorted(object.__getattribute__(table, "_Table__names"))


def explain_missing(table: Table, name: str) -> str:
    """Say that a table lacks a name, why if that is known, and what is near."""
    module = table_name(table)
    reason = object.__getattribute__(table, "_Table__withheld").get(name)
    if reason:
        return f"{module}.{name} is not available here: {reason}"
    near = get_close_matches(name, table_names(table), n=3)
    also = f"; near names: {', '.join(near)}" if near else ""
    return f"module {module!r} has no attribute {name!r} here{also}"
