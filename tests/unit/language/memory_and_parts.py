"""Weak references and `__del__`, parts of modules under their longer names, and smaller modules."""

import asyncio.exceptions
import codecs
import contextvars
import gc
import json.decoder
import reprlib
import timeit
import weakref
from asyncio.exceptions import CancelledError
from asyncio.queues import Queue
from collections import namedtuple
from concurrent.futures import Future
from concurrent.futures.thread import ThreadPoolExecutor
from json.decoder import JSONDecodeError
from typing import IO, BinaryIO, NamedTuple, TextIO


class Held:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("gone", self.name)


held = Held("a")
del held


def make():
    inner = Held("b")
    hash(inner), id(inner), repr(inner)


make()
node = Held("c")
ref = weakref.ref(node)
by_name = weakref.WeakValueDictionary(c=node)
seen = weakref.WeakSet([node])
print(ref() is node, len(by_name), len(seen), weakref.proxy(node).name)
del node
print(ref(), len(by_name), len(seen))
gc.collect()
gc.disable()
print(gc.isenabled())

print(json.decoder.JSONDecodeError is JSONDecodeError, asyncio.exceptions.CancelledError is CancelledError)
print(asyncio.Queue is Queue, asyncio.TimeoutError is asyncio.exceptions.TimeoutError)
with ThreadPoolExecutor() as pool:
    print(isinstance(pool.submit(len, "ab"), Future), pool.submit(len, "ab").result())
done = Future()
done.set_result(3)
print(done.result(), done.done())

print(reprlib.repr(list(range(50))), codecs.encode("Hello", "rot13"), codecs.decode(b"\xc3\xa9", "utf-8"))
print(timeit.timeit(lambda: None, number=3) >= 0, timeit.default_timer() >= 0)

level = contextvars.ContextVar("level", default=0)
context = contextvars.copy_context()
context.run(level.set, 5)
print(level.get(), context[level], level in context, context.get(level))

Pair = namedtuple("Pair", "left right")


class Sum(Pair):
    @property
    def total(self):
        return self.left + self.right

    def __str__(self):
        return f"{self.left}+{self.right}"


class Row(NamedTuple):
    key: str
    value: int = 1


class Wide(Row):
    def doubled(self):
        return self.value * 2


print(Sum(1, 2).total, str(Sum(1, 2)), Sum(1, 2) == (1, 2), Sum(1, 2)._replace(left=5), Wide("a").doubled())
match Sum(1, 2):
    case Pair(left, right):
        print(left, right)


def reads(text: TextIO, data: BinaryIO, either: IO[str]) -> None: ...


print(reads.__annotations__["text"] is TextIO)

from collections import defaultdict
import textwrap
d = defaultdict(list); d["a"].append(1); d.default_factory = None
try: d["b"]
except KeyError as e: print(d, e)
d.default_factory = int; d["b"] += 1; print(d)
w = textwrap.TextWrapper(width=20); w.initial_indent = "* "; w.subsequent_indent = "  "; w.width = 15; print(w.fill("the quick brown fox jumps"))
r = reprlib.Repr(); r.maxlist = 2; r.maxstring = 10; print(r.repr([1, 2, 3, 4]), r.repr("x" * 50))
