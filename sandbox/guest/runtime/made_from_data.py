"""What the library makes from data that a program hands it: members of an Enum, references that are compiled."""

from __future__ import annotations

import dataclasses
import enum
import functools
import typing
from collections.abc import Mapping
from types import BuiltinFunctionType
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.source import SourceRefused, parse
from sandbox.guest.language.variables import ENUM_NAMES, is_dunder, is_reserved
from sandbox.guest.runtime.bare import order_of
from sandbox.guest.runtime.classes import is_vetted
from sandbox.guest.runtime.handed_out import on_classes_below
from sandbox.guest.runtime.own import MARK, MARK_NAME, Object, is_marked, of_class

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Levels of a forward reference.
REFERENCE_DEPTH = 40
REFERENCE_CHARACTERS = 10_000


def restrict_enums() -> None:
    """Look at what `Enum("Color", names, type=…)` is made of. Again is no error."""
    library: Any = enum.EnumMeta
    make = library._create_
    if hasattr(make, "__wrapped__"):
        return

    @functools.wraps(make)
    def create(cls: Any, class_name: Any, names: Any = None, *, type: Any = None, **options: Any) -> Any:  # noqa: A002  # the library's signature
        if type is not None and not is_marked(type) and not is_vetted(type):
            message = f"{getattr(type, '__name__', type)} cannot be inherited from here"
            raise TypeError(message)
        return make(cls, _text(class_name), _members(names), type=type, **options)

    library._create_ = create
    build = library.__new__

    @functools.wraps(build)
    def new(metacls: Any, name: Any, bases: Any, namespace: Any, **options: Any) -> Any:
        if "_simple" in options:  # an Enum without maps of its own shows those of the library
            raise TypeError("a class statement takes no _simple here")
        if "_ignore_" in namespace:  # names that are taken out again, in a list that the program holds
            ignored = [_text(each) for each in namespace["_ignore_"] if isinstance(each, str)]
            dict.__setitem__(namespace, "_ignore_", [each for each in ignored if each != MARK_NAME])
        return _with_repr(build(metacls, name, bases, namespace, **options), bases)

    library.__new__ = staticmethod(new)
    library._find_new_ = staticmethod(_find_new)
    unfinished: Any = enum._proto_member  # type: ignore[attr-defined]
    finish = unfinished.__set_name__

    @functools.wraps(finish)
    def set_name(self: Any, enum_class: Any, member_name: Any) -> None:
        if not issubclass(type(enum_class), enum.EnumMeta):  # it would say by itself what a member is made with
            raise TypeError("members are made for an Enum")
        finish(self, enum_class, member_name)

    unfinished.__set_name__ = set_name


#: The library's own, with which members are made without arguments.
_MAKE_MEMBERS = (enum.Enum.__new__, object.__new__)


def _find_new(classdict: Any, member_type: Any, first_enum: Any) -> Any:
    """Do what the library does by identity: it asks a `__new__` of the program's whether it equals `object.__new__`."""
    make = classdict.get("__new__")
    is_saved = first_enum is not None and make is not None
    if make is None:
        names, kinds = ("__new_member__", "__new__"), (member_type, first_enum)
        found = (getattr(kind, name, None) for name in names for kind in kinds)
        plain = (None, None.__new__, *_MAKE_MEMBERS)
        make = next((each for each in found if not _is_among(each, plain)), object.__new__)
    takes_arguments = first_enum is not None and not _is_among(make, _MAKE_MEMBERS)
    return _of_class(make), is_saved, takes_arguments


def _is_among(value: Any, others: tuple[Any, ...]) -> bool:
    return any(value is each for each in others)


def _of_class(make: Any) -> Any:
    """Let a `__new__` of the program make members alone: the library names what it gives, and calls its `__init__`."""
    if type(make) is BuiltinFunctionType:
        return make

    def made(cls: Any, /, *arguments: Any, **options: Any) -> Any:
        return of_class(cls, make(cls, *arguments, **options))

    return made


def _with_repr(made: Any, bases: tuple[Any, ...]) -> Any:
    """Let an Enum show as in the library, which does not see that a mixed-in class has `Object` behind it."""
    if type.__getattribute__(made, "__repr__") is Object.__repr__:
        type.__setattr__(made, "__repr__", bases[-1].__repr__)
        made._value_repr_ = next(filter(None, _reprs_of_values(bases)), None)
    return made


def _reprs_of_values(bases: tuple[Any, ...]) -> Iterator[Any]:
    above: list[Any] = [kind for base in bases for kind in order_of(base)]
    for kind in above:
        if kind is not object and kind is not Object:
            is_enum = issubclass(type(kind), enum.EnumMeta)
            yield kind._value_repr_ if is_enum else vars(kind).get("__repr__")


def _members(names: Any) -> Any:
    """Return the same members with plain text for names: a subclass may lie about its characters."""
    if names is None or isinstance(names, str):
        listed: list[Any] = [] if names is None else _text(names).replace(",", " ").split()
    else:
        listed = list(names.items() if isinstance(names, Mapping) else names)
    exact = [_text(each) if isinstance(each, str) else (_text(each[0]), *tuple(each)[1:]) for each in listed]
    for each in exact:
        name = each if isinstance(each, str) else each[0]
        if is_dunder(name) or is_reserved(name) or name in ENUM_NAMES:
            message = f"a member cannot be called {name!r}"
            raise ValueError(message)
    return exact


def _text(value: Any) -> Any:
    return str.__str__(value) if isinstance(value, str) else value


def own_named_tuples() -> None:
    """Let what `NamedTuple("Row", fields)` makes be a class of the program, and all make tuples of their class.

    Again is no error.
    """
    library: Any = typing
    make = library._make_nmtuple
    if hasattr(make, "__wrapped__"):
        return

    @functools.wraps(make)
    def make_own(*arguments: Any, **options: Any) -> Any:
        made = make(*arguments, **options)
        type.__setattr__(made, MARK_NAME, MARK)
        make_of_its_class(made)
        return made

    library._make_nmtuple = make_own
    kinds: list[type] = type.__subclasses__(tuple)
    for kind in kinds:
        if type(vars(kind).get("_make")) is classmethod:
            make_of_its_class(kind)
    library._special |= {MARK_NAME}  # which a class statement does not set on it again


def make_of_its_class(kind: Any) -> None:
    """Let `_make` of a named tuple make tuples of its class: who is compared with it is handed its function."""
    type.__setattr__(kind, "_make", classmethod(on_classes_below(kind, vars(kind)["_make"].__func__)))


def restrict_fields() -> None:
    """Let a field of a dataclass have one name: another class would name it again. Again is no error."""
    library: Any = dataclasses.Field

    def set_attribute(self: Any, name: str, value: Any) -> None:
        if name == "name" and getattr(self, "name", None) not in (None, value):
            message = f"field() of {self.name!r} cannot be {value!r} as well: call field() for each"
            raise TypeError(message)
        object.__setattr__(self, name, value)

    if library.__setattr__ is object.__setattr__:
        library.__setattr__ = set_attribute


def restrict_forward_references() -> None:
    """Look at the text of a reference such as `List["Row"]` before it is compiled, and let none evaluate itself.

    Again is no error.
    """
    reference: Any = typing.ForwardRef
    make = vars(reference).get("__init__")
    if make is None or hasattr(make, "__wrapped__"):
        return

    @functools.wraps(make)
    def initialize(self: Any, arg: Any, *arguments: Any, **options: Any) -> None:
        if isinstance(arg, str):
            arg = str.__str__(arg)
            try:
                if len(arg) > REFERENCE_CHARACTERS:
                    raise SourceRefused("it is too long")
                parse(f"[{arg}\n]", limit_bytes=4 * REFERENCE_CHARACTERS, limit_depth=REFERENCE_DEPTH)
            except SourceRefused as error:
                message = f"forward reference {arg[:40]!r}…: {error}"
                raise SyntaxError(message) from None
        make(self, arg, *arguments, **options)

    reference.__init__ = initialize
    if hasattr(reference, "evaluate"):
        reference.evaluate = _of_library(reference.evaluate)


def _of_library(evaluate: Any) -> Any:
    """From Python 3.14 on a reference evaluates its text. The library asks those for it that it made, of code."""

    @functools.wraps(evaluate)
    def of_library(self: Any, **options: Any) -> Any:
        if options.keys() != {"format"} or type(self.__globals__) is not dict:
            raise TypeError("a forward reference does not evaluate itself here: write typing.get_type_hints(...)")
        return evaluate(self, **options)

    return of_library
