"""Class statements: which bases a class of the program may have, and what replaces a missing one."""

from __future__ import annotations

import abc
import enum
import types
import typing
from typing import Any

from sandbox.guest.runtime.metaclasses import ProgramABCMeta, ProgramType, check_fields, check_patterns, is_program_type
from sandbox.guest.runtime.own import Object, OwnClasses
from sandbox.guest.runtime.types_seen import SeenType

#: Builtins that may be inherited from: data, and `object`.
_BUILTIN_BASES = frozenset(
    {object, int, float, complex, str, bytes, bytearray, list, dict, set, frozenset, tuple, property}
)
#: Classes of vetted modules that may be inherited from; the modules' tables add theirs.
BASES: set[Any] = {
    abc.ABC,
    enum.Enum,
    enum.IntEnum,
    enum.StrEnum,
    enum.Flag,
    enum.IntFlag,
    typing.Generic,
    typing.Protocol,
    typing.NamedTuple,
    typing.TypedDict,
}


class Metaclass:
    """Stands for a metaclass in `class A(metaclass=…)`, and is good for nothing else."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"<class '{self._name}'>"


class _WithoutBases:
    """Makes a class that names no bases, as a metaclass of the library does. Those of the program do it themselves."""

    __slots__ = ("_kind",)

    def __init__(self, kind: Any) -> None:
        self._kind = kind

    def __prepare__(self, name: str, _: Any, **options: Any) -> Any:
        return self._kind.__prepare__(name, (Object,), **options)

    def __call__(self, name: str, _: Any, namespace: Any, **options: Any) -> Any:
        return self._kind(name, (Object,), namespace, **options)


ABC_META = Metaclass("abc.ABCMeta")
ENUM_META = Metaclass("enum.EnumType")
_METACLASSES: dict[int, type] = {id(ABC_META): abc.ABCMeta, id(ENUM_META): enum.EnumMeta, id(SeenType): type}


#: What stands in the place of these among the bases of a metaclass.
_INSTEAD: dict[int, type] = {id(SeenType): ProgramType, id(ABC_META): ProgramABCMeta}


#: Classes of ours among the bases of a class that is made again from data, or of a metaclass.
_OF_OURS = (Object, *_INSTEAD.values())


class Classes:
    """Answers what a class statement asks before the class is made.

    Errors that `except Exception` does not catch are written out: `type(name, (BaseException,), {})` makes none.
    """

    def __init__(self, own: OwnClasses, written_out: frozenset[Any] = frozenset({BaseException})) -> None:
        self._own = own
        self._written_out = written_out

    def bases(self, *bases: Any) -> tuple[Any, ...]:
        """Return the bases to use. Raises TypeError for one that may not be inherited from."""
        bases = self.named_bases(*bases)
        has_metaclass = any(is_program_type(type(_origin(base))) for base in bases)
        return bases if has_metaclass else with_object(bases)

    def named_bases(self, *bases: Any) -> tuple[Any, ...]:
        """Return the bases as a metaclass of the program sees them, which are those that were written."""
        bases = tuple(_INSTEAD.get(id(base), base) for base in bases)
        for base in bases:
            self._check(base)
        if any(isinstance(base, abc.ABCMeta) for base in bases):
            check_patterns(bases)
        if len(bases) > 1:
            check_fields(_origin(base) for base in bases)
        return bases

    def metaclass(self, value: Any, is_alone: bool) -> Any:  # noqa: FBT001  # compiled code calls it
        """Return the metaclass that a keyword means; what makes a class without bases gives it ours."""
        found = value if is_program_type(value) else _METACLASSES.get(id(value))
        if found is None:
            name = getattr(value, "__name__", type(value).__name__)
            message = f"{name} cannot be a metaclass here: use a class decorator, __init_subclass__, or abc.ABC"
            raise TypeError(message)
        return _WithoutBases(found) if is_alone and not is_program_type(found) else found

    def above(self, kind: Any, *value: Any) -> Any:
        """`super(A, x)`, where A is the program's: of ours it would show what stands behind them for a reason."""
        if not self._own.is_class(kind):
            raise TypeError("super() takes a class of this program here")
        return super(kind, *value)

    def _check(self, base: Any) -> None:
        origin = _origin(base)
        if self._own.is_class(origin) or is_vetted(origin) or any(origin is each for each in _OF_OURS):
            return
        if any(origin is each for each in self._written_out):
            return
        name = origin.__name__ if isinstance(origin, type) else repr(origin)
        message = f"{name} cannot be inherited from here; hold one in an attribute instead"
        raise TypeError(message)


def with_object(bases: tuple[Any, ...]) -> tuple[Any, ...]:
    """Put `Object` in the place of `object`, and behind bases that need it."""
    if all(base is object for base in bases):
        return (Object,)
    return (*bases, Object) if _takes_object(bases) else bases


def _takes_object(bases: tuple[Any, ...]) -> bool:
    """Tell whether `Object` is to stand behind these bases: they say nothing of the hash, or what they say goes first.

    Enums say it all, Protocols and typed dicts take their like alone, and named tuples make classes of their own.
    """
    kinds = [_origin(base) for base in bases]
    if any(not isinstance(kind, type) or issubclass(kind, type) or kind is Object for kind in kinds):
        return False
    makers = {type(kind) for kind in kinds}
    if typing.Protocol in kinds or (typing.Generic in kinds and type(typing.Protocol) in makers):
        return False
    if any(issubclass(maker, (enum.EnumMeta, _TYPED_DICT_META)) for maker in makers):
        return False
    return len(kinds) > 1 or type.__getattribute__(kinds[0], "__hash__") is object.__hash__


_TYPED_DICT_META: type = type(typing.TypedDict("_", {}))  # type: ignore[operator]


def _origin(base: Any) -> Any:
    return getattr(base, "__origin__", base) if isinstance(base, _ALIASES) else base


def is_vetted(base: Any) -> bool:
    """Tell whether a class that is not the program's may be inherited from."""
    if not isinstance(base, type):
        return base is typing.NamedTuple or base is typing.TypedDict  # `==` would ask the other side
    if base in _BUILTIN_BASES or base in BASES:
        return True
    return issubclass(base, Exception) and not issubclass(base, BaseExceptionGroup)


def _bases_of_class(*bases: Any) -> tuple[Any, ...]:
    return with_object(_ANY_CLASSES.named_bases(*bases))


_ANY_CLASSES = Classes(OwnClasses({}), written_out=frozenset())
ProgramType._sandbox_bases = staticmethod(_bases_of_class)
_ALIASES = (types.GenericAlias, type(typing.List), type(typing.List[int]), type(typing.Callable[[], int]))  # noqa: UP006
