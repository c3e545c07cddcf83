"""Modules about functions, classes and types: `functools`, `operator`, `typing`, `types`, `contextlib`, `inspect` …"""

from __future__ import annotations

import abc
import contextlib
import dataclasses
import functools
import inspect
import itertools
import keyword
import operator
import types
import typing
import unicodedata
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.attributes import Decision, decide
from sandbox.guest.names.builtin_names import seen_names
from sandbox.guest.names.kinds import KINDS
from sandbox.guest.names.single_dispatch import SingleDispatch, SingleDispatchMethod
from sandbox.guest.names.type_hints import field_marker, read_hint, type_hints
from sandbox.guest.runtime.bare import names_of
from sandbox.guest.runtime.classes import ABC_META, ENUM_META, Classes
from sandbox.guest.runtime.made_from_data import make_of_its_class
from sandbox.guest.runtime.metaclasses import NOT_OF_METACLASSES, check_fields
from sandbox.guest.runtime.own import MARK, MARK_NAME, is_marked
from sandbox.guest.runtime.signatures import full_argument_specification, signature_of
from sandbox.guest.runtime.tables import Table
from sandbox.guest.runtime.traces import Trace
from sandbox.guest.runtime.types_seen import SeenType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sandbox.guest.names.scene import Scene

_COPIED = ("__module__", "__name__", "__qualname__", "__doc__")


# --- functools ----------------------------------------------------------------------------------


def own_only(scene: Scene, decorator: Callable[..., Any]) -> Callable[..., Any]:
    """Return a decorator that writes into its target for targets of the program alone."""

    def decorate(*targets: Any, **options: Any) -> Any:
        if not targets or targets[0] is None:
            return lambda target: decorate(target, **options)
        target = targets[0]
        if not (scene.own.is_class(target) or scene.own.is_function(target) or _is_wrapper(scene, target)):
            name = getattr(target, "__name__", type(target).__name__)
            message = f"{decorator.__name__}() takes classes and functions of the program, not {name}"
            raise TypeError(message)
        return decorator(*targets, **options)

    decorate.__name__ = decorate.__qualname__ = decorator.__name__
    return decorate


_WRAPPERS = (classmethod, staticmethod, property, functools.partial)


def _is_wrapper(scene: Scene, target: Any) -> bool:
    """Tell whether a decorator may mark a target; cached properties of the library are shared, and can be marked."""
    if type(target) is functools.cached_property:
        return target.func in scene.own
    return isinstance(target, _WRAPPERS)


def _functools(scene: Scene) -> dict[str, Any]:
    own = scene.own

    def update_wrapper(wrapper: Any, wrapped: Any, assigned: Any = None, updated: Any = None) -> Any:
        """Copy name, text and attributes; only onto what the program defined itself."""
        if wrapper not in own and not isinstance(wrapper, functools.partial):
            return wrapper
        for name in _COPIED:
            value = getattr(wrapped, name, None)
            if value is None or isinstance(value, str):
                _try_set(wrapper, name, value if value is None else str.__str__(value))  # a subclass may lie later
        if own.is_function(wrapped):
            if own.is_function(wrapper):
                wrapper.__annotations__ = dict(wrapped.__annotations__)
            for name, value in wrapped.__dict__.items():
                _try_set(wrapper, name, value)
        _try_set(wrapper, "__wrapped__", wrapped)
        return wrapper

    def wraps(wrapped: Any, assigned: Any = None, updated: Any = None) -> Callable[[Any], Any]:
        return lambda wrapper: update_wrapper(wrapper, wrapped)

    hint = functools.partial(read_hint, scene)
    return {
        "total_ordering": own_only(scene, functools.total_ordering),
        "update_wrapper": update_wrapper,
        "wraps": wraps,
        "singledispatch": lambda function: SingleDispatch(function, scene.access.get, hint),
        "singledispatchmethod": lambda function: SingleDispatchMethod(function, scene.access.get, hint),
        "WRAPPER_ASSIGNMENTS": _COPIED,
        "WRAPPER_UPDATES": ("__dict__",),
    }


def _try_set(target: Any, name: str, value: Any) -> None:
    if name in NOT_OF_METACLASSES and isinstance(target, type):
        return
    if name == "__doc__" or value is not None:
        try:
            setattr(target, name, value)
        except (AttributeError, TypeError):
            return


# --- operator -----------------------------------------------------------------------------------

_OPERATORS = """
    abs add and_ concat contains countOf delitem eq floordiv ge getitem gt iadd iand iconcat ifloordiv ilshift
    imatmul imod imul index indexOf inv invert ior ipow irshift is_ is_not isub itemgetter itruediv ixor le
    length_hint lshift lt matmul mod mul ne neg not_ or_ pos pow rshift setitem sub truediv truth xor
"""


def _is_plain(name: str) -> bool:
    return type(name) is str and decide(name) is Decision.PLAIN


def _operator(scene: Scene) -> dict[str, Any]:
    """attrgetter and methodcaller ask for attributes as `getattr` does."""
    get = scene.access.get

    def read(value: Any, dotted: str) -> Any:
        for name in dotted.split("."):
            value = get(value, name)
        return value

    def attrgetter(*names: str) -> Any:
        if not names or not all(isinstance(name, str) for name in names):
            raise TypeError("attribute name must be a string")
        names = tuple(map(str.__str__, names))  # a subclass may lie about its parts
        if all(_is_plain(part) for name in names for part in name.split(".")):
            plain = operator.attrgetter(*names)
            return lambda value: plain(value)
        if len(names) == 1:
            return lambda value: read(value, names[0])
        return lambda value: tuple(read(value, name) for name in names)

    def methodcaller(name: str, /, *args: Any, **kwargs: Any) -> Any:
        if _is_plain(name):
            plain = operator.methodcaller(name, *args, **kwargs)
            return lambda value: plain(value)
        return lambda value: get(value, name)(*args, **kwargs)

    return {
        **{name: getattr(operator, name) for name in _OPERATORS.split()},
        "attrgetter": attrgetter,
        "methodcaller": methodcaller,
        "call": lambda function, /, *args, **kwargs: function(*args, **kwargs),
    }


# --- types and typing ---------------------------------------------------------------------------

_TYPING = """
    AbstractSet Annotated Any AnyStr AsyncContextManager AsyncGenerator AsyncIterable AsyncIterator Awaitable
    BinaryIO IO TextIO ByteString Callable ChainMap ClassVar Collection Concatenate Container ContextManager
    Coroutine Counter DefaultDict Deque Dict Final ForwardRef FrozenSet Generator Generic Hashable ItemsView
    Iterable Iterator KeysView List Literal LiteralString Mapping MappingView Match MutableMapping MutableSequence
    MutableSet NamedTuple Never NewType NoReturn NotRequired Optional OrderedDict ParamSpec ParamSpecArgs
    ParamSpecKwargs Pattern Protocol ReadOnly Required Reversible Self Sequence Set Sized SupportsAbs SupportsBytes
    SupportsComplex SupportsFloat SupportsIndex SupportsInt SupportsRound Text Tuple Type TypeAlias TypeAliasType
    TypedDict TypeGuard TypeIs TypeVar TypeVarTuple Union Unpack ValuesView assert_never assert_type cast
    dataclass_transform NoDefault final get_args get_origin get_protocol_members is_protocol is_typeddict
    no_type_check overload override reveal_type runtime_checkable
"""


def _typing(scene: Scene) -> dict[str, Any]:
    names = {name: getattr(typing, name) for name in _TYPING.split() if hasattr(typing, name)}

    def override(function: Any) -> Any:
        if scene.own.is_function(function):
            function.__override__ = True
        return function

    for name in ("dataclass_transform", "final", "no_type_check", "runtime_checkable"):
        names[name] = own_only(scene, names[name])
    return {
        **names,
        "override": override,
        "TYPE_CHECKING": False,
        "Type": SeenType,  # the library's is made of `type` itself
        "get_type_hints": type_hints(scene),
        "get_origin": lambda tp: _seen(typing.get_origin(tp)),
        "get_args": lambda tp: tuple(_seen(each) for each in typing.get_args(tp)),
        "reveal_type": lambda value: value,
    }


def _seen(value: Any) -> Any:
    return SeenType if isinstance(value, type) and issubclass(value, type) else value


def _types(scene: Scene) -> dict[str, Any]:
    return {
        **KINDS,
        "SimpleNamespace": types.SimpleNamespace,
        "MappingProxyType": types.MappingProxyType,
        "GenericAlias": types.GenericAlias,
        "MethodType": types.MethodType,
        "NoneType": types.NoneType,
        "EllipsisType": types.EllipsisType,
        "NotImplementedType": types.NotImplementedType,
        "UnionType": types.UnionType,
        "DynamicClassAttribute": types.DynamicClassAttribute,
    }


# --- classes ------------------------------------------------------------------------------------


def _dataclasses(scene: Scene) -> dict[str, Any]:
    def make_dataclass(
        cls_name: str, fields: Any, *, bases: tuple[Any, ...] = (), namespace: Any = None, **options: Any
    ) -> Any:
        listed = [(field, Any) if isinstance(field, str) else tuple(field) for field in fields]
        members = dict(namespace or {})  # a mapping of the program may name other things when it is asked again
        for name in (cls_name, *(field[0] for field in listed), *members):
            _check_field_name(name)
        bases = Classes(scene.own).bases(*bases)
        if any(isinstance(base, type) and issubclass(base, type) for base in bases):
            raise TypeError("a metaclass is written as a class statement")
        check_fields(bases, [field[0] for field in listed])
        return _make_dataclass(cls_name, listed, bases, {MARK_NAME: MARK, **members}, options)

    def dataclass(target: Any = None, /, **options: Any) -> Any:
        return _dataclass(scene, target, options) if target is not None else lambda later: dataclass(later, **options)

    return {"dataclass": dataclass, "make_dataclass": make_dataclass}


def _dataclass(scene: Scene, target: Any, options: dict[str, Any]) -> Any:
    """Make a dataclass of a class whose annotations are names: the library writes them into source text."""
    if not scene.own.is_class(target):
        message = f"dataclass() takes classes of the program, not {getattr(target, '__name__', type(target).__name__)}"
        raise TypeError(message)
    annotations = _own_annotations(target)
    if annotations is not None:
        for name in annotations:
            _check_field_name(name)
        check_fields((target,), annotations)
        marked = {name: field_marker(scene, hint) for name, hint in annotations.items()}
        type.__setattr__(target, "__annotations__", marked)  # the program holds the old one
    made = _with_match_args(dataclasses.dataclass(**{**options, "match_args": False})(target), options)
    if annotations is not None:
        type.__setattr__(made, "__annotations__", annotations)
    return made


def _own_annotations(kind: type) -> dict[str, Any] | None:
    """Return those of a class itself, as text where they name what comes later; None where there are none."""
    variables = names_of(kind)
    if "__annotations__" in variables:
        return dict(variables["__annotations__"])
    if "__annotate_func__" not in variables:
        return None
    try:
        return dict(vars(type)["__annotations__"].__get__(kind))
    except NameError:
        library: Any = vars(dataclasses)["annotationlib"]
        return dict(library.get_annotations(kind, format=library.Format.STRING))


def _make_dataclass(
    name: str, fields: Any, bases: tuple[Any, ...], namespace: dict[str, Any], options: dict[str, Any]
) -> Any:
    options.pop("module", None)
    made = dataclasses.make_dataclass(
        name, fields, bases=bases, namespace=namespace, **{**options, "match_args": False}
    )
    if not is_marked(made):  # what a decorator has made of it, which is not ours to write to
        return made
    made.__module__ = "__main__"
    return _with_match_args(made, options)


def _with_match_args(made: Any, options: dict[str, Any]) -> Any:
    """Say what patterns read by position. The library would first say more, and keep it in a class that it replaces."""
    if options.get("match_args", True) and "__match_args__" not in names_of(made):
        fields = names_of(made)["__dataclass_fields__"].values()
        names = (field.name for field in fields if field.init and not field.kw_only and _is_parameter(field))
        type.__setattr__(made, "__match_args__", _plain(names))
    return made


def _is_parameter(field: Any) -> bool:
    return field._field_type is not dataclasses._FIELD_CLASSVAR  # type: ignore[attr-defined]


def _plain(names: Any) -> tuple[str, ...]:
    return tuple(itertools.takewhile(lambda name: decide(name) is Decision.PLAIN, names))


def _with_plain_match_args(made: Any) -> Any:
    """Keep what patterns may read by position: they read without a guard, and a Protocol may call anything its own."""
    names = vars(made).get("__match_args__", ())
    plain = _plain(names)
    if plain != names:
        setattr(made, "__match_args__", plain)  # noqa: B010  # a final name to the type checker
    return made


def _check_field_name(name: Any) -> None:
    if (
        type(name) is not str
        or not name.isidentifier()
        or keyword.iskeyword(name)
        or name.startswith("__")
        or unicodedata.normalize("NFKC", name) != name  # the compiler reads another name in the text
    ):
        message = f"field names must be plain identifiers, not {name!r}"
        raise TypeError(message)


def _abc(scene: Scene) -> dict[str, Any]:
    names = ("abstractmethod", "abstractclassmethod", "abstractstaticmethod", "abstractproperty")
    return {"ABCMeta": ABC_META, **{name: own_only(scene, getattr(abc, name)) for name in names}}


def _enum(scene: Scene) -> dict[str, Any]:
    return {"EnumMeta": ENUM_META, "EnumType": ENUM_META}


def _collections(scene: Scene) -> dict[str, Any]:
    import collections  # noqa: PLC0415  # wraps one function of it

    make: Any = collections.namedtuple

    def namedtuple(
        typename: str, field_names: Any, *, rename: bool = False, defaults: Any = None, module: Any = None
    ) -> Any:
        made = make(typename, field_names, rename=rename, defaults=defaults, module="__main__")
        type.__setattr__(made, MARK_NAME, MARK)  # a class of the program, as with a class statement
        make_of_its_class(made)
        return _with_plain_match_args(made)

    return {"namedtuple": namedtuple}


def _contextlib(scene: Scene) -> dict[str, Any]:
    def redirected(name: str) -> Any:
        @contextlib.contextmanager
        def redirect(target: Any) -> Iterator[Any]:
            """Send what is written to another stream."""
            before = scene.streams.redirect(name, target)
            try:
                yield target
            finally:
                scene.streams.redirect(name, before)

        return redirect

    return {"redirect_stdout": redirected("stdout"), "redirect_stderr": redirected("stderr")}


# --- inspect ------------------------------------------------------------------------------------


def _inspect(scene: Scene) -> dict[str, Any]:
    def signature(function: Any, **_: Any) -> inspect.Signature:
        return signature_of(function, scene.own)

    def getdoc(value: Any) -> str | None:
        text = scene.access.get(value, "__doc__", None)
        return inspect.cleandoc(text) if isinstance(text, str) else None

    tests = """
        isasyncgen isasyncgenfunction isawaitable isbuiltin isclass iscoroutine iscoroutinefunction isfunction
        isgenerator isgeneratorfunction ismethod isabstract isroutine getgeneratorstate getcoroutinestate
        isdatadescriptor ismethoddescriptor ismemberdescriptor isgetsetdescriptor isframe iscode
    """

    def getmembers(value: Any, predicate: Any = None) -> list[tuple[str, Any]]:
        found = []
        for name in sorted(seen_names(scene.access, value)):
            with contextlib.suppress(AttributeError):
                item = scene.access.get(value, name)
                if isinstance(item, types.MethodType | types.FunctionType) and item not in scene.own:
                    continue  # what stands between the program's classes and `object`
                if predicate is None or predicate(item):
                    found.append((name, item))
        return found

    def getfullargspec(function: Any) -> Any:
        is_bound = type(function) is types.MethodType
        return full_argument_specification(signature(function.__func__ if is_bound else function))

    def getsource(value: Any) -> str:
        raise OSError("could not get source code")

    return {
        "getmembers": getmembers,
        "getfullargspec": getfullargspec,
        "get_annotations": lambda value, **_: dict(scene.access.get(value, "__annotations__", {})),
        "getmro": lambda cls: scene.access.get(cls, "__mro__"),
        "ismodule": lambda value: isinstance(value, Table),
        "istraceback": lambda value: type(value) is Trace,
        "unwrap": lambda function, *, stop=None: _unwrapped(scene, function, stop),
        "getsource": getsource,
        **{name: getattr(inspect, name) for name in tests.split()},
        "signature": signature,
        "getdoc": getdoc,
        "cleandoc": inspect.cleandoc,
        "Parameter": inspect.Parameter,
        "Signature": inspect.Signature,
    }


def _unwrapped(scene: Scene, function: Any, stop: Any) -> Any:
    """Return what decorators stand around; one that names itself ends it."""
    seen: list[Any] = []
    while function is not None and all(function is not each for each in seen):
        seen.append(function)
        if stop is not None and stop(function):
            break
        function = scene.access.get(function, "__wrapped__", None)
    return seen[-1]


BUILDERS: dict[str, Callable[[Scene], dict[str, Any]]] = {
    "abc": _abc,
    "collections": _collections,
    "contextlib": _contextlib,
    "dataclasses": _dataclasses,
    "enum": _enum,
    "functools": _functools,
    "inspect": _inspect,
    "operator": _operator,
    "types": _types,
    "typing": _typing,
}
