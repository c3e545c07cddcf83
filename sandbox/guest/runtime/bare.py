"""What the interpreter itself keeps of a class, whatever its metaclass, which may be a program's, says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: The classes in which it looks for names, in their order.
order_of: Callable[[type], tuple[type, ...]] = vars(type)["__mro__"].__get__
#: Its own names.
names_of: Callable[[type], Mapping[str, Any]] = vars(type)["__dict__"].__get__
