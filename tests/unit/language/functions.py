import functools
import itertools
from contextlib import ExitStack, contextmanager, suppress
from collections.abc import Mapping, Sequence, Sized
from functools import cache, lru_cache, partial, reduce, singledispatch, singledispatchmethod, wraps


def timer(label="t"):
    def deco(fn):
        @wraps(fn)
        def wrapper(*args, **kwargs):
            wrapper.calls += 1
            return fn(*args, **kwargs)
        wrapper.calls = 0
        return wrapper
    return deco


@timer("x")
def add(a, b=2, /, c=3, *rest, d, e=5, **kw):
    "Adds."
    return (a, b, c, rest, d, e, kw)


print(add(1, d=4), add(1, 2, 3, 4, d=1, z=9), add.calls, add.__name__, add.__doc__, add.__wrapped__.__name__)


@lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@cache
def sq(n):
    return n * n


print(fib(80), fib.cache_info().hits > 0, sq(4), reduce(lambda a, b: a * b, range(1, 6)), partial(pow, 2)(5), partial(int, base=2)("101"))


def counter():
    n = 0
    def inc(by=1):
        nonlocal n
        n += by
        return n
    return inc


c = counter()
c(); c(5)
print(c())
total = 0
def bump():
    global total
    total += 1
bump(); bump()
print(total)


def gen(n):
    received = []
    for i in range(n):
        got = yield i
        if got:
            received.append(got)
    return received


def outer():
    result = yield from gen(3)
    yield ("done", result)


g = outer()
print(next(g), g.send("a"), g.send("b"), next(g), list(gen(2)))
g = gen(5)
next(g)
try:
    g.throw(ValueError("x"))
except ValueError as e:
    print("thrown", e)
g.close()
fns = [lambda i=i: i * 10 for i in range(3)]
print([f() for f in fns], (lambda *a, **k: (a, k))(1, x=2))


@contextmanager
def managed(x):
    print("enter", x)
    try:
        yield x * 2
    except KeyError as e:
        print("handled", e)
    finally:
        print("exit")


with managed(2) as v:
    print(v)
with managed(3):
    raise KeyError("k")
with suppress(ZeroDivisionError):
    1 / 0
with ExitStack() as stack:
    stack.enter_context(managed(1))


@singledispatch
def show(x):
    return f"obj {x}"


@show.register(int)
def _(x):
    return f"int {x}"


@show.register
def _(x: list):
    return f"list {len(x)}"


@show.register(Sized)
def _(x): return f"sized {len(x)}"
@show.register(Mapping)
def _(x): return f"mapping {len(x)}"
@show.register
def _(x: "float | complex"): return f"number {x}"
@show.register
def _(x: None): return "nothing"
class Table(dict): pass
class Bag:
    def __len__(self): return 2
class Kinds:
    @singledispatchmethod
    def name(self, x): return "other"
    @name.register
    def _(self, x: "Bag"): return "bag"
    @name.register(Sized)
    def _(self, x): return "sized"


print(show("s"), show(3), show([1]), show(True), show({}), show(Table(a=1)), show(Bag()), show(1.5), show(None), show({1}))
print([Kinds().name(x) for x in (Bag(), "s", 1)], show.dispatch(tuple)((1, 2)), len(show.registry))
@show.register(Sequence)
def _(x): return f"sequence {len(x)}"
for x in [(1,), "s", range(3)]:
    try: print(show(x))
    except RuntimeError as e: print(e)
try: show()
except TypeError as e: print(e)
print(list(itertools.chain.from_iterable([[1], [2]])), list(itertools.islice(itertools.count(5, 2), 3)), list(itertools.groupby("aab", key=str.upper))[0][0])
def kwonly(*, a, b=2): return a + b
print(kwonly(a=1), kwonly(**{"a": 5, "b": 6}))
try:
    kwonly(1)
except TypeError as e:
    print(e)
def rec(n): return 0 if n == 0 else 1 + rec(n - 1)
print(rec(900))
def default(x, acc=[]):
    acc.append(x)
    return acc
default(1)
print(default(2))
a, *b, (c1, d1) = 1, 2, 3, (4, 5)
print(a, b, c1, d1, [*b, *range(2)], {**{"x": 1}, "y": 2}, (*b,))
if (n := len([1, 2, 3])) > 2: print(n)
print([y for x in range(5) if (y := x * 2) > 4], {k: v for k, v in zip("ab", (1, 2))}, {x % 2 for x in range(4)}, sum(x for x in range(4)))
print(f"{3.14159:.2f} {'a':>5}|{10:05d}|{1234567:,}|{0.256:.1%}|{'x'!r}|{n=}|{{}}|{255:#x}|{'m':^7}|{max(1, 2)}")
print("%s %d %.2f %5s|%-5s|%r %%" % ("a", 3, 2.5, "r", "l", "q"), "%(k)s" % {"k": 1})
print("{} {1}".format(1, 2) if False else "{0} {1} {0} {name} {x[k]} {l[0]} {:>4}".replace("{:>4}", "{name:>4}").format(1, 2, name="n", x={"k": 5}, l=[9]))
print("{:.3f}|{:>8}|{!r}".format(1.5, "a", "b"), "{a.real} {b}".format(a=3, b=4), "{x}".format_map({"x": 1}), "{:{w}}|".format("a", w=4))
import functools
@functools.lru_cache(maxsize=3, typed=True)
def typed(x, *more, key=0):
    """Keep them."""
    return [x, *more, key]
print(typed(1), typed(1.0), typed(1) is typed(1), typed(1) is typed(1.0), typed(int), typed(int) is typed(int), typed(2, key=True) is typed(2, key=1))
print(typed.cache_info(), typed.cache_parameters(), typed.__name__, typed.__doc__, typed.__wrapped__(3), typed.cache_clear(), typed.cache_info().currsize)
print(classmethod(lambda cls, x: (cls, x)).__get__(None, int)(1), classmethod(lambda cls: cls).__get__(5)())
# A function that dispatches is one to look at: its name and text, and what decorates it reads them.
print(show.__name__, show.__qualname__, show.__doc__, show.__wrapped__(1))
def logged(function):
    @wraps(function)
    def call(*a): return f"{function.__name__}: {function(*a)}"
    return call
@logged
@singledispatch
def told(x):
    """Tell it."""
    return "other"
print(told(1), told.__name__, told.__doc__)
class Shapes:
    @singledispatchmethod
    def area(self, x):
        """Of any shape."""
        return 0
@Shapes.area.register
def _(self, x: int): return x * x
print(Shapes().area(3), Shapes.area.__name__, Shapes().area.__doc__)
import abc
class Abstract(abc.ABC):
    @singledispatchmethod
    @abc.abstractmethod
    def size(self, x): ...
try:
    Abstract()
except TypeError as e:
    print("size" in str(e))
