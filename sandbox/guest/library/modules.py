"""Imports of a program: each module is a table of the names in `allowlist`."""

from __future__ import annotations

import random
import re
from copy import copy
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.access import getattr_
from sandbox.guest.language.own import show_numbers
from sandbox.guest.library.allowlist import MODULES
from sandbox.guest.library.deferred import DEFERRED, DeferredModules
from sandbox.guest.library.facades import asynchronous, chance, classes, clocks, system, threads, tracebacks
from sandbox.guest.library.facades.copies import read_sources
from sandbox.guest.library.not_offered import NOT_OFFERED, WITHHELD
from sandbox.guest.library.tables import TABLE, Table, explain_missing, table_names

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from sandbox.guest.library.scene import Scene

#: Facades without state, by module.
FACADES: dict[str, dict[str, Any]] = {**classes.FACADES, "traceback": tracebacks.TRACEBACK}
#: Functions that build the facades of one program, by module.
BUILDERS: dict[str, Callable[[Scene], dict[str, Any]]] = {
    "asyncio": asynchronous.asyncio_names,
    "concurrent.futures": threads.futures_names,
    "contextvars": asynchronous.context_names,
    "email.utils": clocks.email_names,
    "queue": threads.queue_names,
    "random": chance.random_names,
    "secrets": chance.secrets_names,
    "sys": system.sys_names,
    "threading": threads.threading_names,
    "time": clocks.time_names,
    "timeit": clocks.timeit_names,
    "uuid": chance.uuid_names,
    "warnings": tracebacks.warnings_names,
}
#: Facades in deferred modules: the module below `facades`, and its builder or its `FACADES`.
_DEFERRED_FACADES = {
    "configparser": ("texts", "FACADES"),
    "gzip": ("texts", "gzip_names"),
    "logging": ("logs", "logging_names"),
    "shlex": ("texts", "FACADES"),
    "xml.etree.ElementTree": ("texts", "FACADES"),
    "xml.sax.saxutils": ("texts", "FACADES"),
}
#: Submodules that are attributes of their package.
_PARENTS = {
    "collections": {"abc": "collections.abc"},
    "concurrent": {"futures": "concurrent.futures"},
    "email": {"utils": "email.utils"},
    "html": {"parser": "html.parser"},
    "urllib": {"parse": "urllib.parse"},
    "xml": {"etree": "xml.etree", "sax": "xml.sax"},
    "xml.etree": {"ElementTree": "xml.etree.ElementTree"},
    "xml.sax": {"saxutils": "xml.sax.saxutils"},
}
#: Submodules that stand for their whole module: importing one returns the table of the module.
_PARTS = {
    "asyncio": ("exceptions", "locks", "queues", "taskgroups", "tasks", "timeouts"),
    "concurrent.futures": ("thread",),
    "json": ("decoder", "encoder"),
}
_WHOLE = {f"{module}.{part}": module for module, parts in _PARTS.items() for part in parts}

OFFERED = frozenset({*MODULES, *_PARENTS, *_WHOLE})
#: Modules of facades alone: the library's module is not imported.
_OURS = frozenset(name for name, listed in MODULES.items() if not (listed.raw or listed.lent))


@cache
def library_names(module: str) -> dict[str, Any]:
    """Return the library's objects that are listed for a module and exist in this version of Python."""
    listed = MODULES.get(module)
    if listed is None or module in _OURS:
        return {}
    found = import_module(module)
    return {name: getattr(found, name) for name in (*listed.raw, *listed.lent) if hasattr(found, name)}


def load_all() -> None:
    """Import the modules that programs use often, and read the code of the others. No file is opened later."""
    read_sources()
    deferred = DeferredModules(DEFERRED)
    deferred.install()
    for module in MODULES:
        if module not in deferred:
            library_names(module)


#: Names of exception classes.
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
        """Set the names of the tool namespaces and the seed of the execution."""
        self._roots, self._seed = roots, seed

    def import_module(self, name: str, result: str) -> Any:
        """Run `import name` and return the table of `result`, which is `name` or its root."""
        if name in OFFERED:
            self.table(name)
            return self.table(result)
        return self._other(name, result)

    def import_from(self, module: str, name: str) -> Any:
        """Run `from module import name` and return the object."""
        if module not in OFFERED:
            if f"{module}.{name}" in OFFERED:
                return self.table(f"{module}.{name}")
            return self.import_submember(module, name)
        table = self.table(module)
        try:
            return getattr_(table, name)
        except AttributeError:
            full = f"{module}.{name}"
            why = _explain(full) if full in NOT_OFFERED else explain_missing(table, name)
            message = f"cannot import name {name!r}: {why}"
            raise ImportError(message, name=module) from None

    def import_all(self, module: str) -> None:
        """Run `from module import *` at the top level of a program."""
        if module not in OFFERED:
            self._other(module, module)
            message = f"{module} is a namespace of tools: call {module}.group.operation(name=value)"
            raise ImportError(message, name=module)
        table = self.table(module)
        self._scene.variables.update(
            {name: getattr(table, name) for name in table_names(table) if not name.startswith("_")}
        )

    def import_by_call(self, name: str, *scopes: Any, fromlist: Any = (), **_: Any) -> Any:
        """Run `__import__(name)`: return the module with a `fromlist`, and its root without."""
        name = str.__str__(name)
        is_inner = bool(fromlist or scopes[2:3] not in ((), (None,), ((),), ([],)))
        return self.import_module(name, name if is_inner else name.partition(".")[0])

    import_by_call.__name__ = "__import__"

    def import_submember(self, module: str, name: str) -> Any:
        """Return a name of a tool namespace that is imported like a module.

        Models invent modules for namespaces (`from functions import club`); what is bound anyway is bound again.
        """
        root, last = module.partition(".")[0], module.rpartition(".")[2]
        if root not in self._roots and root != "tools":
            if name in self._roots:
                self._scene.note(f"{name} is bound already: leave the import out")
                return self._bind_root(name)
            if last in self._roots:
                self._scene.note(f"{last} is bound already: write {last}.{name} without an import")
                return self._part(self._bind_root(last), name)
        value = self._other(module, module)
        if _OF_ERRORS.fullmatch(name):
            return self._error(module, name)
        if module == "tools":
            return self._bind_root(name)
        return self._part(value, name)

    def _error(self, module: str, name: str) -> Any:
        """Return an exception class of failed calls. All namespaces share these classes."""
        found = self._scene.variables["__builtins__"].get(name)
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
            if self._seed is not None:  # seeded at the first import, since random numbers need one
                self._scene.random.seed(self._seed)
                random.seed(self._seed)  # some functions of the library use the shared generator
                self._seed = None
            found = self._tables[name] = self._make(name)
        return found

    def _make(self, name: str) -> Table:
        listed = library_names(name)
        names = {key: copy(value) if isinstance(value, list | dict | set) else value for key, value in listed.items()}
        names |= FACADES.get(name, {})
        if name in BUILDERS or name in _DEFERRED_FACADES:
            facades = self._build(name)
            for facade in facades.values():
                if isinstance(facade, type) and facade.__module__.startswith(name):
                    show_numbers(facade)
            names |= facades
        if name == "importlib":
            names["import_module"] = lambda name, package=None: self.import_by_call(name, fromlist=("*",))
        for short, full in _PARENTS.get(name, {}).items():
            names[short] = self.table(full)
        kind: Any = names.pop(TABLE, Table)
        table: Table = kind(name, names, WITHHELD.get(name))
        vars(table).update(dict.fromkeys(_PARTS.get(name, ()), table))
        return table

    def _build(self, name: str) -> dict[str, Any]:
        if name in BUILDERS:
            return BUILDERS[name](self._scene)
        home, attribute = _DEFERRED_FACADES[name]
        found = getattr(import_module(f"sandbox.guest.library.facades.{home}"), attribute)
        facades: dict[str, Any] = found[name] if isinstance(found, dict) else found(self._scene)
        return facades

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
        """Return an attribute by the rules of `getattr`."""
        try:
            return getattr_(namespace, name)
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
