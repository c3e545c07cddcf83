"""`x.__name__` and its like, read with care: what operators or builtins tell anyway, and nothing of the interpreter."""

from __future__ import annotations

import types
import typing
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.attributes import HOOKS, OF_VARIABLES, Decision, decide
from sandbox.guest.language.variables import UNAVAILABLE, is_dunder
from sandbox.guest.runtime.bare import names_of, order_of
from sandbox.guest.runtime.classes import is_vetted
from sandbox.guest.runtime.loose import loose
from sandbox.guest.runtime.metaclasses import ProgramType, is_hook, is_program_type
from sandbox.guest.runtime.own import MARK_NAME, Object, is_of_sandbox
from sandbox.guest.runtime.tables import Table, table_name
from sandbox.guest.runtime.traces import Trace
from sandbox.guest.runtime.types_seen import SeenType, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.guest.runtime.own import OwnClasses

#: In the namespace of a class, and of no use to a program.
_UNSEEN = frozenset({MARK_NAME, "__dict__", "__weakref__"})


#: What the library writes code from: programs get copies.
_WRITTEN_INTO_CODE = frozenset({"__annotations__", "__dataclass_fields__"})


def _is_seen(name: Any) -> bool:
    """Tell whether a class shows a name in its namespace. The library keeps methods of C's under reserved ones."""
    if type(name) is not str or name in _UNSEEN:
        return False
    return is_dunder(name) or decide(name) is not Decision.REFUSED


def _detached(name: str, item: Any) -> Any:
    if name == "__orig_bases__":
        return _written_bases(item)
    return dict(item) if name in _WRITTEN_INTO_CODE else item


def _written_bases(bases: Any) -> tuple[Any, ...]:
    return tuple(base for base in bases if base is not Object)


class Inspection:
    """Reads dunder attributes. Names without a rule here are operators: read as they are."""

    def __init__(
        self, own: OwnClasses, get: Callable[[object, str], Any], in_its_place: Callable[[Any, str], Any]
    ) -> None:
        self._own = own
        self._get = get
        self._in_its_place = in_its_place
        self._rules: dict[str, Callable[[Any, str], Any]] = {
            "__class__": lambda value, name: kind_of(value),
            "__dict__": lambda value, name: self.variables(value),
            "__name__": self._text,
            "__qualname__": self._text,
            "__module__": self._text,
            "__doc__": self._text,
            "__annotations__": self._annotations,
            "__bases__": self._bases,
            "__base__": self._bases,
            "__mro__": self._bases,
            "__subclasses__": self._subclasses,
            "__traceback__": lambda value, name: Trace.of(value),
            "__self__": self._owned_result,
            "__func__": self._function,
            "__defaults__": self._of_own,
            "__kwdefaults__": self._of_own,
            "__orig_bases__": self._original_bases,
            "__orig_class__": self._of_own,
            "__slots__": self._of_own,
            "__getattribute__": self._accessor,
            "__getattr__": self._accessor,
            "__setattr__": self._accessor,
            "__delattr__": self._accessor,
            "__get__": self._descriptor,
            "__set__": self._descriptor,
            "__delete__": self._descriptor,
            "__set_name__": self._name_taker,
            "__init_subclass__": self._of_own,
            "__init__": self._initializer,
            "__new__": self._constructor,
            "__code__": self._code,
            "__getstate__": self._state,
            "__setstate__": self._state,
            "__members__": lambda value, name: types.MappingProxyType(dict(getattr(value, name))),
            "__dataclass_fields__": lambda value, name: dict(getattr(value, name)),
        }

    def read(self, value: Any, name: str) -> Any:
        """Return the attribute. Raises AttributeError where it is missing or not for programs."""
        rule = self._rules.get(name)
        return rule(value, name) if rule is not None else self._method(value, name)

    def variables(self, value: Any) -> dict[str, Any]:
        """Return what `vars(value)` shows: the live dict of an object of the program, a copy for a class."""
        if self._own.is_class(value):
            names = names_of(value).items()
            return {name: self._shown(value, name, _detached(name, item)) for name, item in names if _is_seen(name)}
        if self._own.is_instance(value) or type(value) is types.SimpleNamespace:
            found: dict[str, Any] = value.__dict__
            return found
        if self._own.is_function(value) or isinstance(value, BaseException):
            return dict(value.__dict__)
        if isinstance(value, type):
            return self._names_of(value)
        raise self._missing(value, "__dict__")

    def _shown(self, kind: type, name: str, item: Any) -> Any:
        """Return what stands in a class of the program; of what the library put there, what reading it gives."""
        if name == "__new__" and type(item) is staticmethod:
            return item if self._own.is_function(item.__func__) else self.constructor(item.__func__)
        return self._for_objects_of(kind, item)

    def _names_of(self, kind: type) -> dict[str, Any]:
        """Return the public names of a class of the library, with what reading them gives."""
        found = {}
        for name in names_of(kind):
            if name not in _UNSEEN and (not name.startswith("_") or name.endswith("__")):
                with suppress(AttributeError):
                    found[name] = self._get(kind, name)
        return found

    # --- rules -----------------------------------------------------------------------------------------------------

    def _text(self, value: Any, name: str) -> Any:
        if isinstance(value, Table):
            return None if name == "__doc__" else table_name(value)
        found = getattr(value, name)
        if found is None or isinstance(found, str) or value in self._own:
            return found
        raise self._missing(value, name)

    def _annotations(self, value: Any, name: str) -> Any:
        if value not in self._own and not _is_made_of_fields(value):
            raise self._missing(value, name)
        return dict(getattr(value, name, None) or {})

    def _bases(self, value: Any, name: str) -> Any:
        found = getattr(value, name)
        if value is SeenType or is_program_type(value):
            found = (*(base for base in order_of(value) if self._own.is_class(base)), SeenType)
            found = found if name == "__mro__" else found[-1:]
            return (*found, object) if name == "__mro__" else found[0] if name == "__base__" else found
        if name == "__base__":
            return found if _is_shown(found, value) else object
        return tuple(base for base in found if _is_shown(base, value)) or (object,)

    def _subclasses(self, value: Any, name: str) -> Any:
        if not isinstance(value, type):
            raise self._missing(value, name)

        def subclasses() -> list[type]:
            found: list[type] = type.__subclasses__(value)
            return [kind for kind in found if self._own.is_class(kind)]

        return subclasses

    def _owned_result(self, value: Any, name: str) -> Any:
        found = getattr(value, name)
        if found in self._own:
            return found
        raise self._missing(value, name)

    def _function(self, value: Any, name: str) -> Any:
        if isinstance(value, types.MethodType) and self._own.is_function(value):
            return value.__func__
        if isinstance(value, staticmethod | classmethod) and self._own.is_function(value.__func__):
            return value.__func__
        raise self._missing(value, name)

    def _code(self, value: Any, name: str) -> Any:
        """`f.__code__`: what it tells of names and numbers of arguments."""
        if not self._own.is_function(value):
            raise self._missing(value, name)
        return types.SimpleNamespace(**{fact: getattr(value.__code__, fact) for fact in _FACTS_OF_CODE})

    def _of_own(self, value: Any, name: str) -> Any:
        if value in self._own:
            return getattr(value, name)
        raise self._missing(value, name)

    def _original_bases(self, value: Any, name: str) -> Any:
        return _written_bases(self._of_own(value, name))

    def _accessor(self, value: Any, name: str) -> Any:
        """`object.__setattr__` and `x.__getattribute__`, by the same decisions as `setattr` and `getattr`."""
        if self._own_hook(value, name):
            return self._checked_hook(value, name)
        function: Any = {
            "__getattribute__": self._get,
            "__getattr__": self._get,
            "__setattr__": self._plain_set,
            "__delattr__": self._plain_delete,
        }[name]
        if isinstance(value, type):
            return loose(self._plain_get if name == "__getattribute__" else function)
        return lambda *arguments: function(value, *arguments)

    def _checked_hook(self, value: Any, name: str) -> Any:
        """Return a hook of the program's class. What a frozen dataclass was given does not look at the name."""
        found = getattr(value, name)
        if self._own.is_function(found) or name in HOOKS:
            return found

        if isinstance(value, type):
            return self._for_objects_of(
                value, lambda one, attribute, *new: found(one, self._variable(one, attribute), *new)
            )
        return lambda attribute, *new: found(self._variable(value, attribute), *new)

    def _variable(self, value: Any, name: str) -> str:
        """Return the name of a variable that an object of the program may have, in exact text."""
        name = str.__str__(name)  # a subclass may lie about its characters
        if not self._own.is_instance(value) or decide(name) not in OF_VARIABLES:
            raise self._missing(value, name)
        return name

    def _own_hook(self, value: Any, name: str) -> bool:
        kind = value if isinstance(value, type) else type(value)
        for base in order_of(kind):
            if name in names_of(base):
                return self._own.is_class(base)
        return False

    def attribute_reader(self, next_class: Any) -> Any:
        """Return `super().__getattribute__`: the hook of the next class of the program, or what comes without one."""
        found = next_class.__getattribute__
        if type(found) is types.MethodType and is_hook("__getattribute__", found.__func__):
            return found

        def read(name: Any) -> Any:
            is_plain = type(name) is str and decide(name) is Decision.PLAIN
            return found(name) if is_plain else self._plain_get(next_class.__self__, name)

        return read

    def _plain_get(self, value: Any, name: str) -> Any:
        """`object.__getattribute__(self, …)`: past a hook of the program's class, by the same decisions.

        Of its own objects a program may read `x._name`, whatever it finds, and names that are guarded with what was
        found replaced where it must be (`Access.private`, `Access.guarded`). This looks where those look, but for the
        hooks: what a class that programs inherit from hides in one (`threading.local`) has a name that is refused.
        """
        decision = decide(name) if type(name) is str and self._own.is_instance(value) else Decision.REFUSED
        if decision not in OF_VARIABLES:
            return self._get(value, name)
        found = object.__getattribute__(value, name)
        return self._in_its_place(found, name) if decision is Decision.GUARDED else found

    def _plain_set(self, value: Any, name: str, new: Any) -> None:
        """`object.__setattr__(self, …)`: past a hook of the program's class, as frozen dataclasses do."""
        object.__setattr__(value, self._variable(value, name), new)

    def _plain_delete(self, value: Any, name: str) -> None:
        object.__delattr__(value, self._variable(value, name))

    def _method(self, value: Any, name: str) -> Any:
        if value is SeenType and name == "__call__":  # `type.__call__(cls, …)` in a metaclass
            return lambda kind, /, *arguments, **options: ProgramType.__call__(kind, *arguments, **options)
        found = getattr(value, name)
        if isinstance(value, type):
            return self._for_objects_of(value, found)
        if name == "__wrapped__" and value in self._own:
            return found  # what the program itself has put there
        if type(found) is types.FunctionType and not self._own.is_function(found):
            raise self._missing(value, name)  # an alias or a proxy of a class: its methods would take any object
        return found

    def _for_objects_of(self, kind: type, found: Any) -> Any:
        """Let what a class has by itself (from `@dataclass`, from the library) be called on its objects alone.

        It reads and writes its first argument without guards. The program's own functions look at it themselves.
        """
        if type(found) is not types.FunctionType or self._own.is_function(found):
            return found

        def method(*arguments: Any, **options: Any) -> Any:
            _check_is_one(kind, arguments)
            return found(*arguments, **options)

        return method

    def _state(self, value: Any, name: str) -> Any:
        """State of the program's own objects: that of others is what they keep to themselves."""
        found = getattr(value, name)
        if self._own.is_instance(value):
            return found

        def ask(*arguments: Any) -> Any:
            if not arguments or not self._own.is_instance(arguments[0]):
                message = f"{name}() is for objects of this program's classes"
                raise TypeError(message)
            return found(*arguments)

        if isinstance(value, type):
            return ask
        raise self._missing(value, name)

    def _initializer(self, value: Any, name: str) -> Any:
        """`Base.__init__(self, …)`; an object that is not the program's is not made again."""
        if not isinstance(value, type):
            if value in self._own:
                return getattr(value, name)
            raise self._missing(value, name)
        if value is SeenType:
            return lambda kind, /, *arguments, **options: None  # it was made by `__new__`
        found = getattr(value, name)
        if self._own.is_function(found) or is_program_type(value):
            return found

        def initialize(*arguments: Any, **options: Any) -> None:
            _check_is_one(value, arguments)
            if not self._own.is_instance(arguments[0]) and type(arguments[0]) not in _CONTAINERS:
                message = f"{value.__name__}.__init__() takes objects of this program's classes"
                raise TypeError(message)
            found(*arguments, **options)

        return initialize

    def _constructor(self, value: Any, name: str) -> Any:
        if value is SeenType:  # `type.__new__(mcls, …)` in a metaclass
            return lambda kind, /, *arguments, **options: ProgramType.__new__(_metaclass(kind), *arguments, **options)
        return self.constructor(getattr(value, name))

    def constructor(self, found: Any) -> Any:
        """Return what `Base.__new__` gives: it makes objects of the program's classes, and of vetted ones."""
        if self._own.is_function(found) or found is ProgramType.__new__:
            return found

        def construct(kind: Any, /, *arguments: Any, **options: Any) -> Any:
            if not self._own.is_class(kind) and not is_vetted(kind):
                message = f"__new__() takes classes of this program, not {getattr(kind, '__name__', kind)!r}"
                raise TypeError(message)
            return found(kind, *arguments, **options)

        return construct

    def _wraps_own(self, value: Any) -> bool:
        """Tell whether a class method, static method or property holds functions of the program alone."""
        if type(value) is property:
            return all(each is None or self._own.is_function(each) for each in (value.fget, value.fset, value.fdel))
        return type(value) in (classmethod, staticmethod) and self._own.is_function(value.__func__)

    def _descriptor(self, value: Any, name: str) -> Any:
        found = getattr(value, name)
        is_of_function = type(value) is types.FunctionType and type(found) is types.MethodWrapperType
        if type(value) is classmethod and self._wraps_own(value):
            return lambda one, owner=None: found(one, kind_of(one) if owner is None else owner)
        if value in self._own or is_of_function or self._wraps_own(value):
            return found
        raise self._missing(value, name)

    def _name_taker(self, value: Any, name: str) -> Any:
        """`x.__set_name__`: a property that programs share would keep the name."""
        if (value is property or type(value) is property) and not self._wraps_own(value):
            raise self._missing(value, name)
        return self._method(value, name)

    def _missing(self, value: object, name: str) -> AttributeError:
        return AttributeError(f"{type(value).__name__!r} object has no attribute {name!r}", name=name)


#: Variables of the compiler's: the mark of a class, and, in scopes that are evaluated later, the live namespace of
#: the class around. The last is what the interpreter knows of warnings: it counts the programs of the process.
_HIDDEN = frozenset({MARK_NAME, "__classdict__", "__conditional_annotations__", "__warningregistry__"})


def visible(variables: dict[str, Any]) -> dict[str, Any]:
    """Return a copy without the names that belong to the sandbox."""
    return {
        name: dict(value) if name == "__annotations__" else value  # the library writes source text from these
        for name, value in variables.items()
        if not name.startswith(".") and name not in _HIDDEN and name not in UNAVAILABLE
    }


#: What `f.__code__` tells.
_FACTS_OF_CODE = frozenset({
    "co_name", "co_qualname", "co_varnames", "co_names", "co_freevars", "co_cellvars", "co_argcount",
    "co_posonlyargcount", "co_kwonlyargcount", "co_nlocals", "co_flags", "co_firstlineno", "co_filename",
})  # fmt: skip


def _metaclass(kind: Any) -> Any:
    if not is_program_type(kind):
        raise TypeError("type.__new__() takes a metaclass of this program; type(name, bases, dict) makes a class")
    return kind


def _is_made_of_fields(value: Any) -> bool:
    """Tell whether a class is what `TypedDict("A", {…})` or `NamedTuple("A", […])` makes."""
    if typing.is_typeddict(value):
        return True
    return type(value) is type and issubclass(value, tuple) and hasattr(value, "_fields")


def _is_shown(base: type, kind: type) -> bool:
    """Tell whether a base is shown: not `Object`, and not what stands behind a class of ours for a reason."""
    if base is Object or base is object or base is kind or is_vetted(base):
        return base is not Object
    order = order_of(kind)
    return not any(is_of_sandbox(each) and base in order_of(each) for each in order)


_CONTAINERS = frozenset({list, dict, set, bytearray})


def _check_is_one(kind: type, arguments: tuple[Any, ...]) -> None:
    """Raise TypeError where the first argument is no object of the class, as C's own methods do."""
    if not arguments:
        message = f"unbound method of {kind.__name__!r} needs an argument"
        raise TypeError(message)
    if kind not in order_of(type(arguments[0])):
        message = f"a method of {kind.__name__!r} was called on a {type(arguments[0]).__name__!r} object"
        raise TypeError(message)
