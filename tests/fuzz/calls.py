# ruff: noqa: E501 - programs stand as they are sent
"""Call everything that a program can reach with objects that do not behave, and look at what comes of it.

    python tests/fuzz/calls.py [--seconds 60] [--seed N] [--details]

A walk over attributes shows what is in reach; this walk calls it. The objects are of classes that a program defines:
they answer every operation, keep what they are handed, lie about equality, hashes and lengths. After each call, what
was returned, raised or handed to them must not be a module, a frame, code, a class of classes or a part of the
sandbox, and no class, table or view that programs share may have changed. A failure prints the call.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import sys
import time
import types
from collections import Counter, deque
from contextvars import Context
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from sandbox.guest import program as guest_program
from sandbox.guest.language.compilation import compile_program
from sandbox.guest.library.modules import OFFERED
from sandbox.guest.library.tables import Table
from sandbox.guest.process.channel import Channel
from sandbox.guest.process.run import Run
from sandbox.guest.scheduling.hub import fresh_context
from sandbox.guest.tools import Record
from sandbox.limits import Limits
from sandbox.protocol.host_messages import encode_program, encode_run
from tests.sandbox.guest.host_double import HostDouble
from tests.sandbox.guest.test_reach import _FORBIDDEN, SAMPLES, readable, samples_of, visible_builtins

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The program that makes the objects: every definable method keeps its arguments and answers with something odd.
HOSTILE = """
heard = []
def spy(name, answer):
    def method(self, *args, **kwargs):
        heard.extend(args)
        heard.extend(kwargs.values())
        return answer(self)
    return method
class Odd:
    def __init__(self, *args, **kwargs):
        heard.extend(args)
        heard.extend(kwargs.values())
    def __getattr__(self, name):
        heard.append(name)
        if name[:2] == '__':
            raise AttributeError(name)
        return Odd()
    def __call__(self, *args, **kwargs):
        heard.extend(args)
        heard.extend(kwargs.values())
        return Odd()
    def __iter__(self):
        return iter([Odd(), 1])
    def __next__(self):
        raise StopIteration
    def __enter__(self):
        return self
    def __exit__(self, *args):
        heard.extend(args)
        return True
    def __len__(self): return 1
    def __bool__(self): return True
    def __index__(self): return 1
    def __int__(self): return 1
    def __float__(self): return 1.0
    def __complex__(self): return 1j
    def __hash__(self): return 1
    def __str__(self): return 'a'
    def __repr__(self): return 'a'
    def __bytes__(self): return b'a'
    def __format__(self, spec):
        heard.append(spec)
        return 'a'
    __eq__ = spy('eq', lambda self: True)
    __ne__ = spy('ne', lambda self: False)
    __lt__ = spy('lt', lambda self: True)
    __le__ = __gt__ = __ge__ = __lt__
    __contains__ = spy('contains', lambda self: True)
    __getitem__ = spy('getitem', lambda self: Odd())
    __setitem__ = spy('setitem', lambda self: None)
    __delitem__ = spy('delitem', lambda self: None)
    __missing__ = spy('missing', lambda self: 1)
    __add__ = __radd__ = __or__ = __ror__ = __and__ = __rand__ = __sub__ = __rsub__ = __mul__ = __rmul__ = spy('op', lambda self: self)
    __mod__ = __rmod__ = __divmod__ = __rdivmod__ = __pow__ = __rpow__ = __xor__ = __rxor__ = __lshift__ = __rshift__ = __add__
    __matmul__ = __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __neg__ = __abs__ = __invert__ = __add__
    __copy__ = spy('copy', lambda self: self)
    __deepcopy__ = spy('deepcopy', lambda self: self)
    __get__ = spy('get', lambda self: self)
    __set_name__ = spy('set_name', lambda self: None)
class OddText(str):
    __eq__ = spy('eq', lambda self: True)
    __mod__ = spy('mod', lambda self: 'a')
    def __hash__(self): return hash('a')
    def __getitem__(self, part):
        heard.append(part)
        return 'a'
    def __contains__(self, part):
        heard.append(part)
        return False
    def __len__(self): return 0
    def split(self, *args): return [OddText('a')]
    def encode(self, *args): return b'a'
    def startswith(self, *args): return False
class OddNumber(int):
    __eq__ = __or__ = __ror__ = __and__ = __rand__ = spy('op', lambda self: True)
    def __hash__(self): return 3
class OddMap(dict):
    __eq__ = __or__ = __ror__ = spy('op', lambda self: True)
    def __missing__(self, key):
        heard.append(key)
        return Odd()
    def __iter__(self): return iter(['a', OddText('b')])
    def items(self): return [(OddText('__class__'), Odd()), ('b', Odd())]
    def keys(self): return ['__class__', 'b']
class OddList(list):
    __eq__ = spy('eq', lambda self: True)
    def __iter__(self): return iter([OddText('a'), Odd()])
class OddError(Exception):
    def __str__(self): return 'a'
class OddContext:
    def run(self, function, *args, **kwargs):
        heard.append(function)
        heard.extend(args)
        return function(*args, **kwargs)
class OddFuture:
    _asyncio_future_blocking = True
    def __iter__(self):
        yield self
    __await__ = __iter__
    def get_loop(self): return asyncio.get_event_loop()
    def add_done_callback(self, *args, **kwargs):
        heard.extend(args)
    def __getattr__(self, name):
        raise AttributeError(name)
class Meta(type):
    def __new__(mcls, name, bases, namespace, **options):
        heard.extend(item for name, item in namespace.items() if name != '__classcell__')
        return super().__new__(mcls, name, bases, namespace)
    def __hash__(cls): return hash(dict)
    def __instancecheck__(cls, value):
        heard.append(value)
        return True
    def __subclasscheck__(cls, kind):
        heard.append(kind)
        return True
    def __getattr__(cls, name):
        heard.append(name)
        raise AttributeError(name)
class OddMade(metaclass=Meta):
    def __getattribute__(self, name):
        heard.append(name)
        return Odd()
class OddBelow(collections.abc.Mapping):
    def __getitem__(self, key): return Odd()
    def __iter__(self): return iter(['a'])
    def __len__(self): return 1
    @classmethod
    def __subclasshook__(cls, kind):
        heard.append(kind)
        return True
class OddSum:
    __add__ = __radd__ = __mul__ = spy('sum', lambda self: self)
    __truediv__ = spy('mean', lambda self: collections.abc.Mapping)
    def is_finite(self): return False
class OddKind:
    @classmethod
    def as_integer_ratio(cls): return OddSum(), None
    @classmethod
    def decode(cls, *args): return 'a'
def taker(*args, **kwargs):
    heard.extend(args)
    heard.extend(kwargs.values())
    return Odd()
def giver(*args, **kwargs):
    heard.extend(args)
    heard.extend(kwargs.values())
    return int
class OddNew(Warning):
    __new__ = giver
async def waiter(*args):
    heard.extend(args)
    return await OddFuture()
def maker(*args):
    heard.extend(args)
    try:
        heard.append((yield Odd()))
    except BaseException as error:
        heard.append(error)
makers = [
    lambda: Odd(), lambda: Odd, lambda: OddText('a'), lambda: OddText('{0.a}'), lambda: OddNumber(3), lambda: OddMap(a=1),
    lambda: OddList([1]), lambda: OddError('a'), lambda: OddError, lambda: OddContext(), lambda: OddFuture(),
    lambda: taker, lambda: waiter(), lambda: maker(), lambda: 1, lambda: 'a', lambda: b'a', lambda: None, lambda: [1, 'a'],
    lambda: {'a': 1}, lambda: (1, 2), lambda: {1}, lambda: 0.5, lambda: int, lambda: type, lambda: ['a', 'b'], lambda: iter([1]),
    lambda: giver, lambda: OddNew, lambda: functools.cached_property, lambda: types.GenericAlias(functools.cached_property, int),
    lambda: OddKind, lambda: [OddKind, OddKind], lambda: collections.abc.Mapping,
    lambda: OddMade, lambda: OddMade(), lambda: OddBelow(), lambda: OddBelow, lambda: Data(1), lambda: Color.RED, lambda: tools, lambda: json, lambda: sys.stdout, lambda: collections.Counter,
]
"""

#: Not called: they end the program, wait for it, or wait for nothing.
LEFT_OUT = {"exit", "quit", "breakpoint"}
_MOST_ARGUMENTS = 4
_CALL_S = 0.5
#: To look whether a class has changed takes longer than a call: so many calls are made between two looks.
_BETWEEN_LOOKS = 20
#: Objects of one class, the class among them, are alike: so many are looked into.
_OF_ONE_CLASS = 3


class Found(Exception):
    """A call handed out what must be out of reach, or changed what is shared."""


class _Slow(BaseException):
    """A call that does not come back."""


def execution() -> Run:
    """Return a run whose program has made samples of everything, and the objects to call it with."""
    host = HostDouble({"ns.op": lambda **_: {"a": {"b": [1]}}, "ns.fail": lambda **_: 1 / 0})
    code = SAMPLES + HOSTILE
    start = encode_run(encode_program(code, ["ns"]), seed=b"\1" * 32, now=10**15, limits=Limits(calls=10**9), inputs={})
    compiled = compile_program(code, names=["ns"], limit_bytes=100_000, limit_depth=160)
    assert compiled.refusals == (), compiled.refusals
    made = Run(Channel(cast("Any", host), Record))
    made.begin({**json.loads(start[4:]), "inputs": {}}, compiled)
    ended = made.execute()
    assert ended.status == "completed", ended.failure
    return made


class Walk:
    """Calls what is in reach, what that returns, and so on."""

    def __init__(self, run: Run, chance: random.Random) -> None:
        self._run = run
        self._chance = chance
        self._heard: list[Any] = run._variables["heard"]
        self._makers: list[Any] = run._variables["makers"]
        self._callables: list[tuple[str, Any]] = []
        self._seen: set[int] = set()
        self._kept: list[Any] = []
        self._looked_into: Counter[type] = Counter()
        self._shared = Shared()
        self._recent: list[str] = []
        self.calls = 0

    def gather(self, starts: dict[str, Any], depth: int = 3) -> None:
        """Note what can be called among these and their attributes."""
        pending = deque((path, value, 0) for path, value in starts.items())
        while pending:
            path, value, level = pending.popleft()
            if id(value) in self._seen or isinstance(value, int | float | type(None)):
                continue
            self._seen.add(id(value))
            self._kept.append(value)
            if callable(value) and path.rpartition(".")[2] not in LEFT_OUT:
                self._callables.append((path, value))
            kind = value if isinstance(value, type) else type(value)
            self._looked_into[kind] += 1
            if level < depth and (self._looked_into[kind] <= _OF_ONE_CLASS or isinstance(value, Table)):
                pending.extend((f"{path}.{name}", inner, level + 1) for name, inner in readable(self._run, value))

    def call_some(self, seconds: float) -> int:
        """Call for this long. Returns the number of calls. Raises Found."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            path, function = self._chance.choice(self._callables)
            with contextlib.suppress(_Slow):  # the alarm of a call that has just ended
                self._call(path, function)
        return self.calls

    def _call(self, path: str, function: Any) -> None:
        self.calls += 1
        arguments = [self._chance.choice(self._makers)() for _ in range(self._chance.randrange(_MOST_ARGUMENTS + 1))]
        names = self._chance.sample(_KEYWORDS, self._chance.choice([0, 0, 0, 1, 2]))
        options = {name: self._chance.choice(self._makers)() for name in names}
        self._heard.clear()
        results: list[Any] = []
        call = (
            f"{path}({', '.join(map(_shown, arguments))}, {', '.join(f'{n}={_shown(v)}' for n, v in options.items())})"
        )
        try:
            with _time_limit(_CALL_S):
                result = function(*arguments, **options)
                results.append(result)
                results += self._used(result)
        except _Slow:
            return
        except BaseException as error:  # noqa: BLE001 - whatever a call raises is looked at
            results += [error, *error.args]
        for value in [*results, *list(self._heard)]:
            self._check(call, value)
        self._recent.append(call)
        if len(self._recent) == _BETWEEN_LOOKS:
            self._shared.check("; ".join(self._recent))
            self._recent.clear()
        for value in results:
            if not isinstance(value, BaseException) and len(self._kept) < 20_000:
                self.gather({f"{path}()": value}, depth=1)

    def _used(self, value: Any) -> list[Any]:
        """Use what a call gave as a program would: iterate, await, enter."""
        found: list[Any] = []
        with contextlib.suppress(Exception):
            if isinstance(value, types.CoroutineType):
                found.append(value.send(None))
            elif hasattr(type(value), "__next__"):
                found += [next(value), next(value)]
            elif hasattr(type(value), "__enter__") and hasattr(type(value), "__exit__"):
                found.append(value.__enter__())
                value.__exit__(None, None, None)
        return found

    def _check(self, call: str, value: Any) -> None:
        pending, seen = [(value, 0)], set()
        while pending:
            item, level = pending.pop()
            if id(item) in seen:
                continue
            seen.add(id(item))
            if isinstance(item, _FORBIDDEN):
                message = f"{call} hands out a {type(item).__name__}"
                raise Found(message)
            if isinstance(item, type) and issubclass(item, type) and item is not self._run._variables["Meta"]:
                message = f"{call} hands out the class of classes {item}"
                raise Found(message)
            if self._shared.is_live(item):
                message = f"{call} hands out a live dict of the library: {str(item)[:200]}"
                raise Found(message)
            if isinstance(item, Context):
                message = f"{call} hands out a context"
                raise Found(message)
            if level < 4:
                pending += [(inner, level + 1) for inner in _inside(item)]


def _inside(value: Any) -> list[Any]:
    if any(type(value) is kind for kind in (list, tuple, set, frozenset)):  # `in` would ask a class of the program
        return list(value)[:50]
    if type(value) is dict or type(value) is types.MappingProxyType:
        with contextlib.suppress(AttributeError):  # a proxy of a text has no values
            return [*list(value.values())[:50], *list(value.keys())[:50]]
    return []


_KEYWORDS = (
    "key",
    "loop",
    "context",
    "default",
    "name",
    "type",
    "module",
    "namespace",
    "bases",
    "cls",
    "memo",
    "fields",
)


def _shown(value: Any) -> str:
    return type(value).__name__ if not isinstance(value, type) else f"<{value.__name__}>"


class Shared:
    """What programs share: the dicts of library classes and modules, and what was in them."""

    def __init__(self) -> None:
        self._live: dict[int, Any] = {}
        self._classes: list[tuple[type, dict[str, int]]] = []
        for module in list(sys.modules.values()):
            names = getattr(module, "__dict__", None)
            if type(names) is dict:
                self._note_live(names)
                for value in list(names.values()):
                    self._note_live(value)
        for kind in _all_classes(object):
            if not kind.__module__.startswith("__main__"):  # now: a program may name its classes as it likes
                self._classes.append((kind, _identities(kind)))
            for value in list(vars(kind).values()):
                if not kind.__module__.startswith(("__main__", "_pytest", "pytest")):
                    self._note_live(value)

    def _note_live(self, value: Any) -> None:
        if type(value) in (dict, list, set) and len(value):
            self._live[id(value)] = value

    def is_live(self, value: Any) -> bool:
        """Tell whether this is a container of the library itself."""
        return id(value) in self._live and self._live[id(value)] is value

    def check(self, call: str) -> None:
        """Raise Found where a class has changed."""
        for kind, before in self._classes:
            if _identities(kind) != before:
                message = f"{call} changed {kind}"
                raise Found(message)


def _identities(kind: type) -> dict[str, int]:
    names = type.__getattribute__(kind, "__dict__")
    return {name: id(value) for name, value in names.items() if name not in _CHANGING}


#: Kept by the interpreter itself.
_CHANGING = {"__slotnames__", "__abstractmethods__", "__annotations__", "__annotations_cache__", "__doc__"}


def _all_classes(kind: type) -> set[type]:
    found: set[type] = set()
    pending: list[type[Any]] = [kind]
    while pending:
        for each in type.__subclasses__(pending.pop()):
            if each not in found and not issubclass(each, type):
                found.add(each)
                pending.append(each)
    return {each for each in found if not each.__flags__ & (1 << 8)}


@contextlib.contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise _Slow

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)  # again: what a destructor raises goes nowhere
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def fuzz(seconds: float, seed: int) -> tuple[int, int]:
    """Fuzz for this long. Returns the numbers of calls made and of callables known. Raises Found."""
    guest_program.warm_up()

    def run() -> tuple[int, int]:
        made = execution()
        walk = Walk(made, random.Random(seed))  # noqa: S311 - repeatable on purpose
        tables = {name: made._modules.table(name) for name in sorted(OFFERED)}
        walk.gather({**visible_builtins(made), **tables, **samples_of(made)})
        made._variables["heard"].clear()
        return walk.call_some(seconds), len(walk._callables)

    return fresh_context().run(run)


def main() -> int:
    """Parse the command line and fuzz in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    sys.setrecursionlimit(3_000)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    calls, known = fuzz(options.seconds, options.seed)
    sys.stdout.write(f"{calls} calls of {known} callables, seed {options.seed}: nothing handed out, nothing changed\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
