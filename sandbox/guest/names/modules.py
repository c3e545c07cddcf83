"""Import: module names to tables. Tables without state are made once, the others for each program that asks."""

from __future__ import annotations

import random
import re
from copy import copy
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sandbox.guest.names import (
    async_names,
    doctest_names,
    language_names,
    memory_names,
    random_names,
    syntax_names,
    system_names,
    text_names,
    thread_names,
    time_names,
)
from sandbox.guest.names.inheritable import inheritable
from sandbox.guest.names.refused import NOT_OFFERED, WITHHELD
from sandbox.guest.names.shared import freeze_shared
from sandbox.guest.names.vetted import VETTED
from sandbox.guest.names.zones import restrict_zones
from sandbox.guest.runtime.classes import BASES
from sandbox.guest.runtime.copying import restrict_copies
from sandbox.guest.runtime.decode_errors import restrict_decode_errors
from sandbox.guest.runtime.first_use import use_for_the_first_time
from sandbox.guest.runtime.library import restrict_library
from sandbox.guest.runtime.made_from_data import (
    own_named_tuples,
    restrict_enums,
    restrict_fields,
    restrict_forward_references,
)
from sandbox.guest.runtime.tables import TABLE, Table, explain_missing, table_names

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from sandbox.guest.names.scene import Scene

#: Modules with names that are made for one execution (or that replace the library's).
BUILDERS: dict[str, Callable[[Scene], dict[str, Any]]] = {
    **async_names.BUILDERS,
    **doctest_names.BUILDERS,
    **language_names.BUILDERS,
    **memory_names.BUILDERS,
    **random_names.BUILDERS,
    **syntax_names.BUILDERS,
    **system_names.BUILDERS,
    **text_names.BUILDERS,
    **thread_names.BUILDERS,
    **time_names.BUILDERS,
}

#: Modules under which others stand.
_PARENTS = {
    "collections": {"abc": "collections.abc"},
    "concurrent": {"futures": "concurrent.futures"},
    "email": {"utils": "email.utils"},
    "html": {"parser": "html.parser"},
    "urllib": {"parse": "urllib.parse"},
    "xml": {"etree": "xml.etree", "sax": "xml.sax"},
    "xml.etree": {"ElementTree": "xml.etree.ElementTree"},
    "xml.sax": {"saxutils": "xml.sax.saxutils"},
    "importlib": {},
}
#: Parts of the library under which names of a module are found as well: they give the table of that module.
_PARTS = {
    "asyncio": ("exceptions", "locks", "queues", "taskgroups", "tasks", "timeouts"),
    "concurrent.futures": ("thread",),
    "json": ("decoder", "encoder"),
}
_WHOLE = {f"{module}.{part}": module for module, parts in _PARTS.items() for part in parts}
#: Modules of which some of the names bring named tuples, which a result shows as objects.
_WITH_NAMED_TUPLES = frozenset({"collections", "typing", "urllib.parse", "time", "difflib", "sys", "csv"})

OFFERED = frozenset({*VETTED, *BUILDERS, *_PARENTS, *_WHOLE})


def vetted_names(module: str) -> dict[str, Any]:
    """Return the listed names of a module that this version of Python has."""
    if module not in VETTED:
        return {}
    found = import_module(module)
    return {name: getattr(found, name) for name in VETTED[module].names.split() if hasattr(found, name)}


def load_all() -> None:
    """Read all stateless tables, so that no import is left for when files are out of reach."""
    use_for_the_first_time()  # of the library as it is
    for module in VETTED:
        import_module(module)  # their own classes are made before making them is restricted
    restrict_library()  # before others: tables hold functions as they are when they are read
    restrict_copies()
    restrict_decode_errors()
    restrict_enums()
    own_named_tuples()
    restrict_fields()
    restrict_forward_references()
    restrict_zones()
    for module in VETTED:
        _STATELESS.setdefault(module, vetted_names(module))
    BASES.update(inheritable())
    shown = [value for names in _STATELESS.values() for value in names.values()]
    shown += [getattr(import_module(module), name) for module, names in _SHOWN.items() for name in names.split()]
    freeze_shared([*VETTED, "inspect", "operator", "random", "types", "typing", "uuid"], shown)


_STATELESS: dict[str, dict[str, Any]] = {}
#: What else of the library programs share: classes that our modules show, and what `typing` makes when first asked.
_SHOWN = {
    "concurrent.futures": "BrokenExecutor CancelledError InvalidStateError",
    "concurrent.futures.thread": "BrokenThreadPool",
    "gzip": "BadGzipFile",
    "threading": "BrokenBarrierError",
    "time": "struct_time",
    "typing": "AsyncContextManager ContextManager Match Pattern",
    "xml.etree.ElementTree": "ParseError QName",
}
#: What libraries call the errors that they raise.
_OF_ERRORS = re.compile(r"[A-Z]\w*(Error|Exception)|ToolRejected")


class Modules:
    """Answers the import statements of one program."""

    def __init__(self, scene: Scene, bind_root: Callable[[str], Any]) -> None:
        self._scene = scene
        self._roots: Collection[str] = ()
        self._seed: bytes | None = None
        self._bind_root = bind_root
        self._tables: dict[str, Table] = {}

    def begin(self, roots: Collection[str], seed: bytes) -> None:
        """Take the names of the namespaces, and the seed of the execution."""
        self._roots, self._seed = roots, seed

    def import_module(self, name: str, result: str) -> Any:
        """Do what `import name` does, and return what the name `result` stands for: `name` itself, or its root."""
        if name in OFFERED:
            self.table(name)
            return self.table(result)
        return self._other(name, result)

    def import_from(self, module: str, name: str) -> Any:
        """Do what `from module import name` does."""
        if module not in OFFERED:
            if f"{module}.{name}" in OFFERED:
                return self.table(f"{module}.{name}")
            return self.import_submember(module, name)
        table = self.table(module)
        try:
            return self._scene.access.get(table, name)
        except AttributeError:
            full = f"{module}.{name}"
            why = _explain(full) if full in NOT_OFFERED else explain_missing(table, name)
            message = f"cannot import name {name!r}: {why}"
            raise ImportError(message, name=module) from None

    def import_all(self, module: str) -> None:
        """Do what `from module import *` does at the top level of a program."""
        if module not in OFFERED:
            self._other(module, module)
            message = f"{module} is a namespace of tools: call {module}.group.operation(name=value)"
            raise ImportError(message, name=module)
        table = self.table(module)
        self._scene.program_globals.update(
            {name: getattr(table, name) for name in table_names(table) if not name.startswith("_")}
        )

    def import_by_call(self, name: str, *scopes: Any, fromlist: Any = (), **_: Any) -> Any:
        """Do what `__import__(name)` does; with a `fromlist` it gives the module itself, else its root."""
        name = str.__str__(name)
        is_inner = bool(fromlist or scopes[2:3] not in ((), (None,), ((),), ([],)))
        return self.import_module(name, name if is_inner else name.partition(".")[0])

    def import_submember(self, module: str, name: str) -> Any:
        """Take a name out of a namespace of tools that is imported as if it were a module."""
        value = self._other(module, module)
        if _OF_ERRORS.fullmatch(name):
            return self._error(module, name)
        if module == "tools":
            return self._bind_root(name)
        return self._part(value, name)

    def _error(self, module: str, name: str) -> Any:
        """Return one of the errors that calls raise, the same for all namespaces, and no operation of that name."""
        found = self._scene.program_globals["__builtins__"].get(name)
        if isinstance(found, type):
            return found
        message = (
            f"cannot import name {name!r}: {module} holds operations, and no errors. A failed call raises ToolError: "
            "write `except ToolError as e`, and look at e.status and e.kind"
        )
        raise ImportError(message, name=module)

    def table(self, name: str) -> Table:
        """Return the table of an offered module."""
        name = _WHOLE.get(name, name)
        found = self._tables.get(name)
        if found is None:
            if self._seed is not None:  # at the first import: no program draws without one
                self._scene.random.seed(self._seed)
                random.seed(self._seed)  # a few functions of the library draw from the shared generator
                self._seed = None
            found = self._tables[name] = self._make(name)
        return found

    def _make(self, name: str) -> Table:
        stateless = _STATELESS.get(name) or _STATELESS.setdefault(name, vetted_names(name))
        names = {
            key: copy(value) if isinstance(value, list | dict | set) else value for key, value in stateless.items()
        }
        if name == "importlib":
            names["import_module"] = lambda name, package=None: self.import_by_call(name, fromlist=("*",))
        builder = BUILDERS.get(name)
        if builder is not None:
            names |= builder(self._scene)
        for short, full in _PARENTS.get(name, {}).items():
            names[short] = self.table(full)
        if name in _WITH_NAMED_TUPLES:
            self._scene.has_named_tuples = True
        kind: Any = names.pop(TABLE, Table)
        table: Table = kind(name, names, WITHHELD.get(name))
        vars(table).update(dict.fromkeys(_PARTS.get(name, ()), table))
        return table

    def _other(self, name: str, result: str) -> Any:
        root = name.partition(".")[0]
        if root in self._roots or root == "tools":
            value = self._bind_root(root)
            if result == root:
                return value
            for part in name.split(".")[1:]:
                value = self._part(value, part)
            return value
        raise ModuleNotFoundError(_explain(name), name=name)

    def _part(self, namespace: Any, name: str) -> Any:
        """Read an attribute that an import names, by the rules of `getattr`."""
        try:
            return self._scene.access.get(namespace, name)
        except AttributeError as error:
            raise ImportError(str(error), name=name) from None


def _explain(name: str) -> str:
    missing = f"no module {name} here"
    root = name.partition(".")[0]
    told = [above for above in (name, name.rpartition(".")[0], root) if above in NOT_OFFERED]
    if told:
        return f"{missing}: {NOT_OFFERED[told[0]]}"
    below = [each for each in sorted(OFFERED) if each.startswith(f"{root}.")]
    near = get_close_matches(name, below if root in OFFERED else OFFERED, n=3, cutoff=0.7)
    if near:
        return f"{missing}: did you mean {', '.join(near)}?"
    if root in OFFERED:
        return f"{missing}; of {root} there is {', '.join(below) or 'nothing below'}"
    misspelt = get_close_matches(name, NOT_OFFERED, n=1, cutoff=0.8)
    if misspelt:
        return f"{missing}, and no {misspelt[0]}: {NOT_OFFERED[misspelt[0]]}"
    return f"{missing}; there are {', '.join(sorted(each for each in OFFERED if '.' not in each))}"
