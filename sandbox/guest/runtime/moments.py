"""Classes of the program below `datetime`: C takes what their `__new__` gives for an object of the class, unseen.

`astimezone` writes the zone into it (CPython up to 3.13 at least).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sandbox.guest.runtime.bare import names_of, order_of


def is_below_datetime(kind: Any) -> bool:
    """Tell whether a value is a class below `datetime`."""
    return isinstance(kind, type) and datetime in order_of(kind)


def let_make_its_own(owner: Any) -> None:
    """Let a class make objects of its own, whatever its `__new__`, or one above it, gives. Raises TypeError."""
    defined = names_of(owner).get("__new__")
    if defined is not None and type(defined) is not staticmethod:
        raise TypeError("__new__ of a class below datetime is a function")

    def new(cls: Any, /, *arguments: Any, **options: Any) -> Any:
        make: Any = super(owner, cls).__new__ if defined is None else defined.__func__
        made = make(cls, *arguments, **options)
        if owner not in order_of(type(made)):
            message = f"__new__() of {owner.__name__} made a {type(made).__name__}"
            raise TypeError(message)
        return made

    type.__setattr__(owner, "__new__", staticmethod(new))
