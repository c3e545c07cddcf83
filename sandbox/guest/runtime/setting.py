"""Assignments to names between underscores: `self.__class__ = …`, `Row.__repr__ = …`, `error.__cause__ = …`.

So are those that read the name first, of names that are looked at when they are read: `text.format += more`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from sandbox.guest.runtime.traces import Trace, real_traceback

if TYPE_CHECKING:
    from sandbox.guest.runtime.own import OwnClasses


class Access(Protocol):
    """Decides what may be written."""

    own: OwnClasses

    def set(self, value: Any, name: str, new: Any, /) -> None:
        """Do what `setattr` does."""

    def delete(self, value: Any, name: str, /) -> None:
        """Do what `delattr` does."""

    def writable(self, value: Any, name: str) -> Any:
        """Return the value if it may be written."""

    def get(self, value: Any, name: str, /) -> Any:
        """Do what `getattr` does."""


class Setter:
    """Stands for an object while a name that is looked at is assigned or deleted.

    `x.__dict__ |= more` reads the name first: of the object, too.
    """

    __slots__ = ("_parts",)

    def __init__(self, access: Access, value: Any) -> None:
        object.__setattr__(self, "_parts", (access, value))

    def __getattribute__(self, name: str) -> Any:
        access, value = _parts(self)
        try:
            return access.get(value, name)
        except AttributeError:  # one of the program's own is told who was asked: not this object
            message = f"{type(value).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message, name=name) from None

    def __setattr__(self, name: str, new: Any) -> None:
        access, value = _parts(self)
        rule = _RULES.get(name)
        if rule is not None:
            rule(access, value, new)
        else:
            access.set(value, name, new)

    def __delattr__(self, name: str) -> None:
        access, value = _parts(self)
        access.delete(value, name)


def _parts(setter: Setter) -> tuple[Access, Any]:
    parts: tuple[Access, Any] = object.__getattribute__(setter, "_parts")
    return parts


def _set_class(access: Access, value: Any, new: Any) -> None:
    """Make an object of the program one of another of its classes."""
    if not access.own.is_instance(value) or not access.own.is_class(new):
        raise TypeError("__class__ can be set on objects of this program, to a class of this program")
    object.__setattr__(value, "__class__", new)


def _set_dict(access: Access, value: Any, new: Any) -> None:
    if not access.own.is_instance(value) or not isinstance(new, dict):
        raise TypeError("__dict__ can be set on objects of this program, to a dict")
    object.__setattr__(value, "__dict__", new)


def _set_traceback(access: Access, value: Any, new: Any) -> None:
    if not isinstance(value, BaseException) or not (new is None or type(new) is Trace):
        raise TypeError("__traceback__ must be a traceback or None")
    value.__traceback__ = None if new is None else real_traceback(new)


def _set_module(access: Access, value: Any, new: Any) -> None:
    if value not in access.own or isinstance(value, BaseException) or type(new) is not str:
        raise TypeError("__module__ can be set on classes and functions of this program, to text")
    value.__module__ = new


def _set_name(name: str) -> Any:
    def set_it(access: Access, value: Any, new: Any) -> None:
        if not access.own.is_class(value):
            access.set(value, name, new)
        elif type(new) is not str:
            message = f"can only assign string to {value.__name__}.{name}, not {type(new).__name__!r}"
            raise TypeError(message)
        else:
            setattr(value, name, new)

    return set_it


def _set_of_error(name: str) -> Any:
    def set_it(access: Access, value: Any, new: Any) -> None:
        if not isinstance(value, BaseException):
            access.set(value, name, new)
        else:
            setattr(value, name, new)  # the interpreter checks the type

    return set_it


def _set_wrapped(access: Access, value: Any, new: Any) -> None:
    access.writable(value, "__wrapped__").__wrapped__ = new


_RULES: dict[str, Any] = {
    "__class__": _set_class,
    "__dict__": _set_dict,
    "__traceback__": _set_traceback,
    "__module__": _set_module,
    "__wrapped__": _set_wrapped,
    **{name: _set_name(name) for name in ("__name__", "__qualname__")},
    **{name: _set_of_error(name) for name in ("__cause__", "__context__", "__suppress_context__", "__notes__")},
}
