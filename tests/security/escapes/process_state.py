"""Everything that a program could change in its process and find changed later: taken before and after, and compared.

Each thing has a path (`statistics.mean`, `sys.path`, `class str.upper`, `signal 15`) and a fingerprint: plain values as
they are, containers by what they hold, functions by code, defaults and attributes, all else by identity. What is new is
no change (an import, a class), except in a container or an object that was there before.
"""

from __future__ import annotations

import _abc
import atexit
import contextvars
import decimal
import gc
import locale
import logging
import os
import random
import resource
import signal
import sys
import threading
import warnings
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MappingProxyType, ModuleType

PLAIN = (str, bytes, int, float, complex, bool, type(None), type(Ellipsis), range, slice)
MOST_ITEMS = 500
#: The engine's own modules, which keep caches of their own.
OURS = "sandbox.guest"
#: Caches of the library: every program may fill them.
CACHES = frozenset(
    ("re._cache", "re._cache2", "linecache.cache", "_strptime._regex_cache", "warnings.onceregistry",
     "warnings._filters_version", "fnmatch.cache", "sys.last_exc", "sys.last_value", "sys.last_type",
     "sys.last_traceback", "sys.path_importer_cache", "sys.modules", "importlib._bootstrap._module_locks",
     "importlib._bootstrap._blocking_on", "encodings._cache", "threading._limbo", "copyreg._extension_cache")
)  # fmt: skip
#: Attributes that the library itself sets, when it first needs them.
NOTED = frozenset(("__warningregistry__", "__slotnames__", "__abstractmethods__", "__annotate_cache__",
                   "__annotations_cache__", "__cached__", "__type_params__", "__annotations__"))  # fmt: skip


#: Hooks of audits that were added since `watch`: nothing else tells of them.
_HOOKS: list[str] = []


def watch():
    """Count the hooks of audits that are added from here on."""
    sys.addaudithook(lambda event, arguments: _HOOKS.append(event) if event == "sys.addaudithook" else None)


class ProcessState:
    """The state at one moment. `extra` are objects of the host's, by name, in which a program has no business."""

    def __init__(self, extra):
        self._kept = []  # what was there stays, so that no identity is given twice
        self.facts = dict(_facts())
        for name, module in list(sys.modules.items()):
            if isinstance(module, ModuleType) and name not in ("__main__", __name__) and not name.startswith(OURS):
                self.facts[f"module {name}"] = id(module)
                self._names(name, vars(module))
        for kind in _classes():
            self._names(
                f"class {kind.__module__}.{kind.__qualname__} {id(kind):x}", type.__dict__["__dict__"].__get__(kind)
            )
            self._registry(kind)
        for name, value in extra.items():
            self.facts[f"host {name}"] = self._deep(value)

    def changed_since(self, before):
        """The paths of all that is otherwise than `before`, or gone."""
        return [path for path, fact in before.facts.items() if self.facts.get(path, "gone") != fact] + self._added(
            before
        )

    def _added(self, before):
        """Names that were put into modules and classes that were there."""
        roots = {path.rpartition(".")[0] for path in before.facts}
        return [
            path for path in self.facts.keys() - before.facts.keys() if path.rpartition(".")[0] in roots and "." in path
        ]

    def _names(self, owner, names):
        for name, value in list(names.items()):
            path = f"{owner}.{name}"
            if isinstance(name, str) and name not in NOTED and path not in CACHES:
                self.facts[path] = self._deep(value)

    def _registry(self, kind):
        try:
            registry = _abc._get_dump(kind)[0]
        except (AttributeError, TypeError):
            return
        self.facts[f"subclasses registered with {kind.__module__}.{kind.__qualname__}"] = sorted(map(id, registry))

    def _deep(self, value):
        """A value with what it holds, as far as one step goes."""
        fact = self._flat(value)
        if isinstance(value, (list, tuple, set, frozenset)) and len(value) <= MOST_ITEMS:
            inner = [self._flat(one) for one in list(value)]
            return (fact, inner if isinstance(value, (list, tuple)) else sorted(map(repr, inner)))
        if isinstance(value, (dict, MappingProxyType)) and len(value) <= MOST_ITEMS:
            return (fact, [(self._flat(key), self._flat(one)) for key, one in list(value.items())])
        if isinstance(value, (FunctionType, classmethod, staticmethod)):
            return (fact, self._function(value if isinstance(value, FunctionType) else value.__func__))
        if isinstance(value, (type, ModuleType, BuiltinFunctionType)) or type(value).__module__ == "threading":
            return fact
        try:
            attributes = object.__getattribute__(value, "__dict__")
        except (AttributeError, TypeError):
            return fact
        return (fact, sorted((str(name), repr(self._flat(one))) for name, one in list(attributes.items())))

    def _flat(self, value):
        if type(value) in PLAIN:
            return repr(value)[:200]
        self._kept.append(value)
        return (type(value).__name__, id(value))

    def _function(self, function):
        if not isinstance(function, FunctionType):
            return id(function)
        cells = [self._flat(_content(cell)) for cell in function.__closure__ or ()]
        named = [(name, self._flat(one)) for name, one in (function.__kwdefaults__ or {}).items()]
        own = [(name, self._flat(one)) for name, one in function.__dict__.items()]
        return (id(function.__code__), [self._flat(one) for one in function.__defaults__ or ()], named, own, cells)


def _content(cell):
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _classes():
    found, left = {}, [object]
    while left:
        kind = left.pop()
        if id(kind) not in found:
            found[id(kind)] = kind
            left += type.__subclasses__(kind)
    return found.values()


def _facts():
    """What the interpreter and the kernel keep of a process beside objects."""
    yield from _of_the_interpreter()
    yield from _of_the_process()


def _of_the_interpreter():
    yield "tracing", _named(sys.gettrace())
    yield "profiling", _named(sys.getprofile())
    yield "threads' tracing", _named(threading.gettrace())
    yield "threads' profiling", _named(threading.getprofile())
    yield "recursion limit", sys.getrecursionlimit()
    yield "switch interval", sys.getswitchinterval()
    yield "digits", sys.get_int_max_str_digits()
    yield "asyncgen hooks", repr(sys.get_asyncgen_hooks())
    yield "origin tracking", sys.get_coroutine_origin_tracking_depth()
    if hasattr(sys, "monitoring"):
        yield "monitoring", [(sys.monitoring.get_tool(n), _events(n)) for n in range(6)]
    yield "audit hooks", len(_HOOKS)
    yield "collector", (gc.isenabled(), gc.get_threshold(), gc.get_debug(), [id(one) for one in gc.callbacks])
    yield "at exit", atexit._ncallbacks()
    yield "decimal context", repr(decimal.getcontext())
    yield "context variables", sorted(repr(one) for one in contextvars.copy_context())
    yield "locale", locale.setlocale(locale.LC_ALL)
    yield "random", hash(random.getstate())
    yield "warnings", repr(warnings.filters)
    yield "logging", (logging.root.level, repr(logging.root.handlers), repr(logging.root.filters))
    yield "umask", _umask()


def _of_the_process():
    for number in range(1, signal.NSIG):
        try:
            yield f"signal {number}", repr(signal.getsignal(number))
        except ValueError:
            continue
    yield "signal mask", sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ()))
    yield (
        "timers",
        [signal.getitimer(which)[1] for which in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)],
    )
    yield "environment", sorted(os.environ.items())
    yield "folder", os.getcwd()
    yield "users", (os.getresuid(), os.getresgid(), os.getgroups())
    yield "groups of processes", (os.getpgrp(), os.getsid(0))
    yield "priority", (os.getpriority(os.PRIO_PROCESS, 0), sorted(os.sched_getaffinity(0)), os.sched_getscheduler(0))
    limits = sorted(name for name in dir(resource) if name.startswith("RLIMIT_"))
    yield "limits", [(name, resource.getrlimit(getattr(resource, name))) for name in limits]
    yield "name", Path("/proc/self/comm").read_text()
    yield "chance to be killed", Path("/proc/self/oom_score_adj").read_text()
    yield "descriptors", sorted(_descriptors())
    yield "kernel threads", len(list(Path("/proc/self/task").iterdir()))
    yield "root", (Path("/").stat().st_dev, Path("/").stat().st_ino)
    yield "namespaces", sorted(str(link.readlink()) for link in Path("/proc/self/ns").iterdir())


def _named(function):
    return None if function is None else repr(function)


def _events(tool):
    return sys.monitoring.get_events(tool) if sys.monitoring.get_tool(tool) is not None else 0


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _descriptors():
    for link in Path("/proc/self/fd").iterdir():
        try:
            yield int(link.name), str(link.readlink()).partition(":")[0]
        except OSError:
            continue
