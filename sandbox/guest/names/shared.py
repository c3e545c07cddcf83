"""State of the library that every program would share: made unchangeable, or put back."""

from __future__ import annotations

import _strptime  # type: ignore[import-not-found]  # keeps a table of forms
import abc
import ast
import calendar
import csv
import ctypes
import enum
import functools
import gc
import inspect
import re
import struct
import sys
import textwrap
import typing
import zoneinfo
from asyncio import coroutines
from opcode import opmap
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from sandbox.guest.concurrency import executor, locks, loop, queues, threads
from sandbox.guest.language.compilation import FILENAME
from sandbox.guest.names.kinds import REAL
from sandbox.guest.names.logging_kinds import KNOWN_LEVELS
from sandbox.guest.runtime.access import DATA, OPEN, WRITABLE
from sandbox.guest.runtime.bare import names_of, order_of
from sandbox.guest.runtime.classes import BASES
from sandbox.guest.runtime.copying import COPIED, SLOT_NAMES
from sandbox.guest.runtime.handed_out import OF_DESCRIPTORS, bind_methods, handed_out
from sandbox.guest.runtime.identities import IDENTITIES
from sandbox.guest.runtime.own import disown, forget_classes, is_of_sandbox
from sandbox.guest.runtime.tables import forget_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

_FIELD_SIZE_LIMIT = 131_072  # the library's own
_IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE, see CPython's object.h
#: Where a type object keeps its flags: behind the head of an object, its size, and 18 pointers (cpython/object.h).
_FLAGS_OFFSET = object.__basicsize__ + 19 * ctypes.sizeof(ctypes.c_void_p)

#: Instructions that set attributes.
_SETS_ATTRIBUTES = frozenset(opmap[name] for name in ("STORE_ATTR", "DELETE_ATTR"))

#: Modules of the library whose classes programs share without the rest of the module.
_ALSO_SHARED = frozenset({
    "_queue", "ast", "asyncio.exceptions", "asyncio.locks", "asyncio.mixins", "asyncio.queues", "asyncio.taskgroups",
    "asyncio.tasks", "asyncio.timeouts", "queue", "traceback",
})  # fmt: skip

#: Modules, besides the vetted ones, whose functions programs see: in classes of those, in ours that bear their names.
_ALSO_SHOWN = frozenset({"_markupbase", "_weakrefset", "logging", "xml"})

#: Sets and tables to which a program adds classes of its own, or that are made for it: ours, and one of the library.
_OF_CLASSES: tuple[Any, ...] = (
    *(BASES, WRITABLE, OPEN, DATA, COPIED, SLOT_NAMES, REAL),
    coroutines._iscoroutine_typecache,  # type: ignore[attr-defined]
)

#: Tables by which calls find earlier ones. A text that claims to equal another would be found in its place.
_caches: list[Callable[[], None]] = []
#: Abstract classes: they remember what was asked of them.
_abstract: list[abc.ABCMeta] = []
#: What modules and classes of the library keep (members of an Enum, what a call found), and what it was before any
#: program ran.
_kept: list[tuple[Any, Any]] = []
#: Attributes of functions, of members of an Enum and their like, and lists that a call without an argument uses.
_attributes: list[tuple[Any, Any]] = []
#: Names of properties: a class that holds one of the library's tells it another, which errors show (and `__name__`).
_names: list[tuple[Any, str]] = []
_roots: set[str] = set()


def freeze_shared(modules: Collection[str], shown: Iterable[Any]) -> None:
    """Make unchangeable what programs share of these modules, and what these show of others. Again is no error."""
    for kind in _of_scheduler():
        handed_out(kind)
    roots = {name.partition(".")[0] for name in modules}
    above = {id(base) for value in shown if isinstance(value, type) for base in order_of(value)}

    def is_shared(kind: type) -> bool:
        module = str(kind.__module__)
        return id(kind) in above or module.partition(".")[0] in roots or module in _ALSO_SHARED

    _bind_to_own_objects(is_shared)
    wrapper: Any = textwrap.TextWrapper
    spaces = wrapper.unicode_whitespace_trans
    if isinstance(spaces, dict):
        wrapper.unicode_whitespace_trans = "".join(chr(spaces.get(code, code)) for code in range(max(spaces) + 1))
        days: Any = calendar.HTMLCalendar
        days.cssclasses, days.cssclasses_weekday_head = tuple(days.cssclasses), tuple(days.cssclasses_weekday_head)
    _roots.update(roots, {name.partition(".")[0] for name in _ALSO_SHARED})
    for kind in _subclasses(object):
        module = str(kind.__module__)
        is_stand_in = module == "builtins" and not kind.__flags__ & _IMMUTABLE
        is_ours = module.startswith("sandbox.guest.") or is_of_sandbox(kind)
        if is_stand_in or is_ours or is_shared(kind):
            freeze_class(kind)
    _caches[:] = [*_library_caches(), re.purge, struct._clearcache, zoneinfo.ZoneInfo.clear_cache]  # type: ignore[attr-defined]
    _caches.extend((IDENTITIES.clear, forget_tables, forget_classes, KNOWN_LEVELS.begin))
    _abstract[:] = [kind for kind in _subclasses(object) if isinstance(kind, abc.ABCMeta)]
    _kept[:] = [(table, table.copy()) for table in (*_tables(roots), *_OF_CLASSES)]


def keep_attributes() -> None:
    """Note the attributes of what programs share besides classes, which nothing makes unchangeable. Again is no error.

    A method of the library that is called by hand sets its attributes on whatever it is given: on a function, too.
    """
    if not _attributes:
        wanted = {*_roots, *_ALSO_SHOWN, "sandbox"}
        found = {id(table): table for space in _spaces(wanted.__contains__) for table in _of_parts(space)}
        _attributes.extend((table, table.copy()) for table in (*found.values(), *map(vars, shared_nodes())))
        _names.extend({id(each): (each, name) for name, each in _properties()}.values())


def _properties() -> Iterator[tuple[str, Any]]:
    for kind in _subclasses(object):
        for name, value in names_of(kind).items():
            if type(value) is property:
                yield getattr(value, "__name__", name), value  # there from Python 3.13 on


def shared_nodes() -> list[ast.AST]:
    """Return the contexts and operators, of which all trees share one object each."""
    kinds = (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)
    return [node for node in ast.walk(ast.parse(_WITH_ALL_NODES)) if isinstance(node, kinds)]


_WITH_ALL_NODES = """
a = b and b or not +-~b
b + b - b * b / b // b % b @ b ** b << b >> b | b ^ b & b
b < b <= b > b >= b == b != b is b is not b in b not in b
del a
"""


def _of_parts(space: Any) -> Iterator[Any]:
    """Give the attributes of what a module or a class holds, and the containers among the defaults of functions."""
    is_ours = str(space.get("__module__", space.get("__name__"))).startswith("sandbox.")
    for value in [*space.values(), *dict(space.get("_member_map_", ())).values()]:
        parts = (getattr(value, name, None) for name in ("__func__", "fget", "fset", "fdel"))
        for part in [each for each in parts if each is not None] or [value]:
            yield from _variables_of(part, is_ours=is_ours)


def _variables_of(part: Any, *, is_ours: bool) -> Iterator[Any]:
    if isinstance(part, FunctionType):
        defaults = (*(part.__defaults__ or ()), *(part.__kwdefaults__ or {}).values())
        yield from (each for each in (vars(part), *defaults) if isinstance(each, dict | list | set))
        yield from _of_functions(vars(part))
    elif not is_ours and not isinstance(part, type | ModuleType):
        variables = getattr(part, "__dict__", None)
        if type(variables) is dict:
            yield variables
            yield from _of_functions(variables)


def _of_functions(variables: dict[str, Any]) -> Iterator[Any]:
    """Give the attributes of functions that are attributes themselves, such as `cache_clear`."""
    yield from (vars(each) for each in list(variables.values()) if isinstance(each, FunctionType))


def _of_scheduler() -> list[type]:
    """Return the classes of what the scheduler hands out: futures, locks, queues, threads, the loop."""
    return [
        kind
        for module in (executor, locks, loop, queues, threads)
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__ == module.__name__ and not kind.__flags__ & _IMMUTABLE
    ]


def _bind_to_own_objects(is_shared: Callable[[type], bool]) -> None:
    """Let methods that make something of `self.__class__`, or set attributes, take objects of their class alone.

    Public names are decided at compile time: `Counter.copy(int)` would give the class of classes, unguarded, and
    `Random.setstate(json.dumps, …)` leave what it is given on a function.
    """
    for kind in _subclasses(object):
        if not kind.__flags__ & _IMMUTABLE and is_shared(kind):
            bind_methods(kind, _needs_own_object)


def _needs_own_object(function: FunctionType) -> bool:
    if function.__name__ in OF_DESCRIPTORS:
        return True
    is_waited_for = function.__code__.co_flags & inspect.CO_COROUTINE
    return any(
        not {"__class__", "type"}.isdisjoint(code.co_names)  # of which something is made, or methods are taken
        or not (is_waited_for or _SETS_ATTRIBUTES.isdisjoint(code.co_code[::2]))  # an instruction has two bytes
        for code in _with_inner(function.__code__)
    )


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _with_inner(each)


#: So often what is let go may run code of the program, before the process is of no use to another.
_MOST_ROUNDS = 100


def restore_shared() -> None:
    """Undo what a program may have set, again while letting go of that runs code of the program, which may set it anew.

    Raises RuntimeError for a program that goes on and on.
    """
    for _ in range(_MOST_ROUNDS):
        changed = [(now, before) for now, before in (*_kept, *_attributes) if _differ(now, before)]
        if not _runs_program(functools.partial(_forget, changed)):
            csv.field_size_limit(_FIELD_SIZE_LIMIT)
            return
    raise RuntimeError("a program has ended, and its finalizers go on: this process cannot serve another")


def _runs_program(act: Callable[[], None]) -> bool:
    """Tell whether code of a program ran meanwhile."""
    seen = []

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if frame.f_code.co_filename == FILENAME:
            seen.append(event)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(before)
    return bool(seen)


def _forget(changed: list[tuple[Any, Any]]) -> None:
    for clear in _caches:
        clear()
    _strptime._regex_cache.clear()
    for kind in _abstract:
        abc._reset_caches(kind)  # type: ignore[attr-defined]
    for table, before in changed:
        table.clear()
        table.extend(before) if isinstance(table, list) else table.update(before)
    for named, name in _names:
        named.__set_name__(object, name)
    gc.collect()
    for left in _subclasses(object):
        if not left.__flags__ & _IMMUTABLE:  # else it was there before: of a rehearsal
            disown(left)


def freeze_class(kind: type) -> None:
    """Let nobody set attributes of a class, as with classes written in C. There is no call for it, only a flag."""
    flags = ctypes.c_ulong.from_address(id(kind) + _FLAGS_OFFSET)
    if flags.value != kind.__flags__:
        message = f"type objects of this interpreter ({sys.version}) are laid out in another way"
        raise RuntimeError(message)
    flags.value |= _IMMUTABLE


def _subclasses(kind: type) -> Collection[type]:
    found: dict[int, type] = {}  # by address: a class may have its own idea of what is equal to it
    pending = [kind]
    while pending:
        kinds: list[type] = type.__subclasses__(pending.pop())
        for each in kinds:
            if id(each) not in found:
                found[id(each)] = each
                pending.append(each)
    return found.values()


def _spaces(is_wanted: Callable[[str], bool]) -> Iterator[Any]:
    """Give the names of all modules of the library whose root is wanted, and those of their classes."""
    for name, module in list(sys.modules.items()):
        if is_wanted(name.partition(".")[0]) and isinstance(module, ModuleType):
            yield vars(module)
    for kind in _subclasses(object):
        if is_wanted(str(kind.__module__).partition(".")[0]):
            yield vars(kind)


def _tables(roots: Collection[str]) -> list[Any]:
    spaces = [*_spaces({*roots, "copyreg", "xml"}.__contains__), *map(vars, _subclasses(enum.Enum))]
    found = {
        id(table): table
        for space in spaces
        for name, table in space.items()
        if isinstance(table, dict | list | set) and not name.startswith("__")
    }
    return list(found.values())


def _differ(table: Any, before: Any) -> bool:
    return bool(table or before) and _parts(table) != _parts(before)


def _parts(table: Any) -> list[int]:
    """Return what is in a table, without asking it whether it equals anything."""
    return [*map(id, table), *(map(id, table.values()) if isinstance(table, dict) else ())]


def _library_caches() -> Iterator[Callable[[], None]]:
    for space in _spaces(sys.stdlib_module_names.__contains__):
        for value in list(space.values()):
            function = value.fget if isinstance(value, property) else value
            if isinstance(function, functools._lru_cache_wrapper):
                yield function.cache_clear
    yield from typing._cleanups  # type: ignore[attr-defined]
