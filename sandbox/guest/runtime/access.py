"""Attributes that the compiler could not decide: guards in compiled code, `getattr` and its like."""

from __future__ import annotations

import decimal
import reprlib
import textwrap
import types
from abc import ABCMeta
from collections import defaultdict
from datetime import date
from enum import Enum
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.attributes import DEFINABLE, ENUM, NAMED_TUPLE, NOT_METHODS, Decision, decide
from sandbox.guest.language.fields import walks_plainly
from sandbox.guest.runtime.formatting import Formatting
from sandbox.guest.runtime.inspection import Inspection
from sandbox.guest.runtime.loose import loose
from sandbox.guest.runtime.metaclasses import COMPARISONS, is_in_metaclass, is_program_type, may_judge
from sandbox.guest.runtime.moments import is_below_datetime
from sandbox.guest.runtime.own import MARK_NAME
from sandbox.guest.runtime.setting import Setter
from sandbox.guest.runtime.tables import Table, table_names

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from sandbox.guest.runtime.own import OwnClasses

#: Kinds besides the program's own whose attributes may be written; `names` adds those of vetted modules.
WRITABLE: set[type] = {types.SimpleNamespace, decimal.Context, defaultdict, textwrap.TextWrapper, reprlib.Repr}
#: Kinds that answer to any attribute name by themselves: tools, and what they return.
OPEN: set[type] = set()
#: Those of them that are nothing but data.
DATA: set[type] = set()

_SETTABLE = DEFINABLE - {"__match_args__", "__slots__", "__init_subclass__", "__class_getitem__", "__set_name__"}
#: Names that only the program's own objects, and answers of tools, show.
_WITHHELD = frozenset({"obj", "get_loop", "get_context", "set_loop", "get_coro", "get_stack", "print_stack"})
_THROUGH_SUPER = frozenset({"__new__", "__setattr__", "__delattr__"})
#: Methods that a class of the program hands over as they stand, and the attributes of an object.
_AT_ONCE = frozenset({"__init__", "__repr__", "__str__", "__eq__", "__len__", "__getitem__", "__setitem__", "__dict__"})
_MISSING: Any = object()
#: Names that were found to be plain, at most so many.
_PLAIN: set[str] = set()
_MOST_PLAIN = 1_000
#: Methods before they are bound. Those of C's, and of the library, do not look at what they are given.
_UNBOUND = (types.FunctionType, types.WrapperDescriptorType, types.MethodDescriptorType)
_NEVER = (types.ModuleType, types.FrameType, types.TracebackType, types.CodeType, types.CellType)


class Access:
    """Decides what compiled code and builtins may read and write on an object, for one program."""

    def __init__(self, own: OwnClasses, clock_now: Callable[[type, str], Callable[..., Any]]) -> None:
        self.own = own
        self._known = own.known
        self.private = _known_first(own.known, self._private, MARK_NAME)
        self.writable = _known_first(own.known, self._writable, "mro")
        self.bound = self._binder()
        #: What `getattr` and its like are for the program: functions, since a method has this object in its `__self__`.
        self.get, self.has = self._reader(), self._asker()
        self.set, self.delete = self._writer(), loose(self._delete)
        self.formatting = Formatting(self.get)
        self._inspection = Inspection(own, self.get, self._in_its_place)
        self._clock_now = clock_now

    # --- guards in compiled code: each returns the object itself, or raises -----------------------

    def _private(self, value: Any, name: str) -> Any:
        """Let `value._name` be read."""
        if name != MARK_NAME and (value in self.own or self._is_listed_private(value, name)):
            return value
        raise _missing(value, name)

    def _writable(self, value: Any, name: str) -> Any:
        """Let `value.name` be assigned or deleted."""
        if name == "mro":
            _check_no_metaclass(value, name)
        kind = type(value)
        if kind is types.SimpleNamespace or (kind is types.FunctionType and self.own.is_function(value)):
            return value
        if value in self.own:
            return value
        if (kind in WRITABLE or isinstance(value, BaseException)) and decide(name) is Decision.PLAIN:
            return value
        raise _not_writable(value, name)

    def setter(self, value: Any) -> Setter:
        """Return what takes an assignment to a name between underscores."""
        return Setter(self, value)

    def receiver(self, value: Any) -> Any:
        """Let a method use its first argument as `self` or `cls`, private attributes and writes included."""
        kind, known = type(value), self._known
        if kind in known or (kind is type and value in known):
            return value
        if value in self.own or kind is types.SimpleNamespace or kind in DATA:
            return value
        message = f"a method was called on a {_kind(value)}, which is not an object of this program"
        raise TypeError(message)

    def guarded(self, value: Any, name: str) -> Any:
        """Read one of the names in `attributes.GUARDED`."""
        if type(value) is str and name in ("format", "format_map") and walks_plainly(value):
            return getattr(value, name)
        if name in _WITHHELD and value not in self.own and type(value) not in OPEN:
            raise _missing(value, name)
        found = getattr(value, name)
        return self._in_its_place(found, name)

    def _in_its_place(self, found: Any, name: str) -> Any:
        """Replace what must not be handed over by ours.

        Decided by what was found, not by where: aliases, proxies, methods and `super()` stand for other objects.
        """
        if type(found) is types.BuiltinMethodType:
            return self._instead_of_builtin(found, found.__self__, name)
        if found is ABCMeta.register:
            return lambda kind, subclass: self._register(kind)(subclass)
        if type(found) is types.MethodType and found.__func__ is ABCMeta.register:
            return self._register(found.__self__)
        if type(found) is types.MethodDescriptorType and found.__objclass__ is str:
            return loose(getattr(self.formatting, name))
        if type(found) is types.MethodDescriptorType and found.__objclass__ is BaseException:
            return loose(self._with_traceback)
        return types.MappingProxyType(dict(found)) if type(found) is types.MappingProxyType else found

    def _instead_of_builtin(self, found: Any, owner: Any, name: str) -> Any:
        """Replace a method of C's, which is bound to `owner`."""
        if issubclass(type(owner), str):
            return self.formatting.bound(owner, name)
        if issubclass(type(owner), BaseException):
            return lambda trace: self._with_traceback(owner, trace)
        if not issubclass(type(owner), type):
            return found
        if name == "mro":
            return lambda: list(self.dunder(owner, "__mro__"))
        return self._clock_now(owner, name) if issubclass(owner, date) else found

    def dunder(self, value: Any, name: str) -> Any:
        """Read `value.__name__`."""
        kind = type(value)
        if kind is type and name == "__name__":
            return value.__name__
        if name == "__class__" and (kind in self._known or self.own.is_class(kind)):
            return kind
        if name in _AT_ONCE:
            found = self._at_once(value, kind, name)
            if found is not _MISSING:
                return found
        found = self._of_super(value, name) if type(value) is super else self._inspection.read(value, name)
        if isinstance(found, _NEVER) or (
            isinstance(found, type) and issubclass(found, type) and not is_program_type(found)
        ):
            raise _missing(value, name)
        return loose(found) if type(found) is types.MethodType and not self.own.is_function(found) else found

    def _at_once(self, value: Any, kind: type, name: str) -> Any:
        """What most programs ask for, of the program's own: `Base.__init__` and `x.__dict__`. Else `_MISSING`."""
        if name != "__dict__":
            found = value.__dict__.get(name) if kind is type and value in self._known else None
            return found if type(found) is types.FunctionType and self.own.is_function(found) else _MISSING
        if kind not in self._known or issubclass(kind, type):
            return _MISSING
        found = value.__dict__
        return found if type(found) is dict else _MISSING

    def _binder(self) -> Callable[[Any], Any]:
        is_function = self.own.is_function

        def bound(found: Any) -> Any:
            """Let what `super()` has under a name between underscores be used. A class has methods of no object."""
            kind = type(found)
            if kind is types.MethodType:
                return found if is_function(found) else loose(found)
            if kind in _UNBOUND and not is_function(found):
                raise TypeError("super() of a class has no methods of objects here: name the base class")
            return found

        return bound

    def _of_super(self, value: Any, name: str) -> Any:
        """`super(A, self).__init__`, and writes through `super()`, which must not change what an object is."""
        if name == "__getattribute__" and self._is_own_super(value):
            return self._inspection.attribute_reader(value)
        if not self._is_own_super(value) or name in NOT_METHODS - _THROUGH_SUPER:
            return self._inspection.read(value.__self__, name)
        found = getattr(value, name)
        if name == "__new__":
            return self._inspection.constructor(found)
        if name not in ("__setattr__", "__delattr__"):
            return self.bound(found)

        def write(attribute: str, *new: Any) -> None:
            attribute = self._writable_name(value.__self__, attribute)
            if attribute == "mro":
                _check_no_metaclass(value.__self__, attribute)
            found(attribute, *new)

        return write

    # --- builtins ---------------------------------------------------------------------------------

    def _reader(self) -> Callable[..., Any]:
        read, get = self._get, getattr

        def getattr_(value: Any, name: str, default: Any = _MISSING, /) -> Any:
            """Do what `getattr` does, by the same decisions as compiled code."""
            name = name if type(name) is str else _exact_name(name)
            if name in _PLAIN or _is_plain(name):
                return get(value, name) if default is _MISSING else get(value, name, default)
            try:
                return read(value, name)
            except AttributeError:
                if default is _MISSING:
                    raise
                return default

        return _named(getattr_, "getattr")

    def _asker(self) -> Callable[..., Any]:
        read, has = self._get, hasattr

        def hasattr_(value: Any, name: str, /) -> bool:
            """Do what `hasattr` does."""
            name = name if type(name) is str else _exact_name(name)
            if name in _PLAIN or _is_plain(name):
                return has(value, name)
            try:
                read(value, name)
            except AttributeError:
                return False
            return True

        return _named(hasattr_, "hasattr")

    def _writer(self) -> Callable[..., Any]:
        known, writable, writable_name, write = self._known, self.writable, self._writable_name, setattr

        def setattr_(value: Any, name: str, new: Any, /) -> None:
            """Do what `setattr` does, on objects that may be written."""
            name = name if type(name) is str else _exact_name(name)
            if type(value) not in known or not (name in _PLAIN or _is_plain(name)):
                name = writable_name(value, name)
                value = writable(value, name)
            write(value, name, new)

        return _named(setattr_, "setattr")

    def _delete(self, value: Any, name: str, /) -> None:
        """Do what `delattr` does, on objects that may be written."""
        name = self._writable_name(value, name)
        delattr(self.writable(value, name), name)

    def variables(self, value: Any) -> Any:
        """Do what `vars(value)` does."""
        if type(value) in self._known:
            return self.dunder(value, "__dict__")
        if isinstance(value, Table):
            return {name: self.get(value, name) for name in table_names(value)}
        try:
            return self._inspection.variables(value)
        except AttributeError:
            raise TypeError("vars() argument must have __dict__ attribute") from None

    # --- parts ------------------------------------------------------------------------------------

    def _get(self, value: Any, name: str) -> Any:
        decision = decide(name)
        if decision is Decision.PLAIN:
            return getattr(value, name)
        if decision is Decision.GUARDED:
            return self.guarded(value, name)
        if decision is Decision.DUNDER:
            return self.dunder(value, name)
        if decision is Decision.PRIVATE:
            return getattr(self.private(value, name), name)
        raise _missing(value, name)

    def _writable_name(self, value: Any, name: str) -> str:
        name = _exact_name(name)
        allowed = _SETTABLE if self.own.is_class(value) else ("__name__", "__qualname__", "__doc__")
        if decide(name) in (Decision.REFUSED, Decision.DUNDER) and name not in allowed:
            raise _not_writable(value, name)
        if name in COMPARISONS:
            _check_no_metaclass(value, name)
        if name == "__new__" and is_below_datetime(value):
            raise _not_writable(value, name)
        return name

    def _is_listed_private(self, value: Any, name: str) -> bool:
        kind = value if isinstance(value, type) else type(value)
        if issubclass(kind, tuple):
            return name in NAMED_TUPLE and hasattr(kind, "_fields")
        if issubclass(kind, Enum):
            return name in ENUM
        if type(value) is super:
            return self._is_own_super(value)
        return type(value) in DATA or type(value) is types.SimpleNamespace

    def _is_own_super(self, value: Any) -> bool:
        """Tell whether `super(A, x)` is about a class of the program and an object of it."""
        return self.own.is_class(value.__thisclass__) and value.__self__ in self.own

    def _register(self, value: Any) -> Callable[[Any], Any]:
        """`ABC.register`, of abstract classes of the program: those of the library are others', too."""
        if not self.own.is_class(value):
            raise _missing(value, "register")

        def register(kind: Any) -> Any:
            if not isinstance(kind, type) or issubclass(kind, type):
                raise TypeError("Can only register classes")
            if not may_judge(value, kind):
                message = f"{value.__name__} is below a class that others use: only classes of this program fit there"
                raise TypeError(message)
            return ABCMeta.register(value, kind)

        return register

    def _with_traceback(self, error: BaseException, trace: Any) -> BaseException:
        self.setter(error).__traceback__ = trace
        return error


def _known_first(known: Container[type], guard: Callable[[Any, str], Any], name_but: str) -> Callable[[Any, str], Any]:
    """Return the guard for compiled code: it lets known classes and their objects through before it asks further."""

    def known_first(value: Any, name: str) -> Any:
        kind = type(value)
        is_known = kind in known or (kind is type and value in known)
        return value if is_known and name != name_but else guard(value, name)

    return known_first


def _is_plain(name: str) -> bool:
    """Decide on a name, and remember the plain ones: to ask again costs as much as to read the attribute."""
    if decide(name) is not Decision.PLAIN:
        return False
    if len(_PLAIN) < _MOST_PLAIN:
        _PLAIN.add(name)
    return True


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    return function


def _exact_name(name: Any) -> str:
    if type(name) is str:
        return name
    if isinstance(name, str):  # a subclass may lie about its characters
        return str.__str__(name)
    message = f"attribute name must be string, not {type(name).__name__!r}"
    raise TypeError(message)


def _check_no_metaclass(value: object, name: str) -> None:
    if isinstance(value, type) and is_in_metaclass(value):
        raise _not_writable(value, name)


def _kind(value: object) -> str:
    return type(value).__name__


def _missing(value: object, name: str) -> AttributeError:
    if isinstance(value, type):
        return AttributeError(f"type object {value.__name__!r} has no attribute {name!r}", name=name)
    return AttributeError(f"{_kind(value)!r} object has no attribute {name!r}", name=name)


def _not_writable(value: object, name: str) -> AttributeError | TypeError:
    if isinstance(value, Table):
        return AttributeError(f"module {value!r} is read-only here: {name!r} cannot be set")
    if isinstance(value, type):
        return TypeError(f"cannot set {name!r} attribute of immutable type {value.__name__!r}")
    return AttributeError(f"{_kind(value)!r} object has no attribute {name!r} that can be set", name=name)
