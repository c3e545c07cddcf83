import functools
import typing
from abc import ABC, abstractmethod


class Base:
    """A base."""
    count = 0

    def __init__(self, name, *, size=1):
        self._name = name
        self.__secret = size
        Base.count += 1

    @property
    def name(self):
        return self._name

    @name.setter
    def name(self, value):
        self._name = value.title()

    @name.deleter
    def name(self):
        del self._name

    @staticmethod
    def twice(x):
        return x * 2

    @classmethod
    def make(cls, name):
        return cls(name, size=3)

    def secret(self):
        return self.__secret

    def __repr__(self):
        return f"{type(self).__name__}({self._name!r})"

    def __eq__(self, other):
        return isinstance(other, Base) and self._name == other._name

    def __hash__(self):
        return hash(self._name)

    def __lt__(self, other):
        return self._name < other._name


class Child(Base):
    def __init__(self, name, **kw):
        super().__init__(name, **kw)
        self.extra = []

    def secret(self):
        return super().secret() + 1


class Shape(ABC):
    @abstractmethod
    def area(self): ...

    def describe(self):
        return f"{self.__class__.__name__}: {self.area():.2f}"


class Square(Shape):
    __slots__ = ("side",)

    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side ** 2


a, b = Base("x"), Child.make("y")
b.name = "zed"
print(a, b, a.name, b.name, b.secret(), Base.twice(4), Base.count, a == Base("x"), a < b, len({a, Base("x")}))
print(Square(2).describe(), isinstance(b, Base), issubclass(Child, Base), Base.__doc__, Child.__name__, Child.__mro__[1].__name__)
try:
    Shape()
except TypeError as e:
    print("abstract", type(e).__name__)
del b.name
print(hasattr(b, "name"), hasattr(b, "_name"), getattr(b, "zzz", "default"), Child.__bases__[0] is Base, b.__class__ is Child)


class Vec:
    def __init__(self, *xs): self.xs = xs
    def __add__(self, o): return Vec(*[p + q for p, q in zip(self.xs, o.xs)])
    def __radd__(self, o): return self
    def __mul__(self, k): return Vec(*[p * k for p in self.xs])
    __rmul__ = __mul__
    def __neg__(self): return self * -1
    def __abs__(self): return sum(p * p for p in self.xs) ** 0.5
    def __len__(self): return len(self.xs)
    def __getitem__(self, i): return self.xs[i]
    def __contains__(self, v): return v in self.xs
    def __iter__(self): return iter(self.xs)
    def __bool__(self): return any(self.xs)
    def __call__(self, f): return Vec(*map(f, self.xs))
    def __str__(self): return "<" + ", ".join(map(str, self.xs)) + ">"
    def __format__(self, spec): return "|".join(format(p, spec) for p in self.xs)
    def __matmul__(self, o): return sum(p * q for p, q in zip(self, o))


v = Vec(3, 4)
print(v + v, 2 * v, -v, abs(v), len(v), v[0], 4 in v, list(v), bool(Vec(0)), v(lambda p: p + 1), f"{v:.1f}", v @ v, sum([v, v]))


class Meta1:
    registry = {}

    def __init_subclass__(cls, key=None, **kw):
        super().__init_subclass__(**kw)
        Meta1.registry[key or cls.__name__] = cls


class P1(Meta1, key="one"): pass
class P2(Meta1): pass


print(sorted(Meta1.registry), [c.__name__ for c in Meta1.__subclasses__()])


class Descriptor:
    def __set_name__(self, owner, name): self.name = "_" + name
    def __get__(self, obj, owner=None):
        if obj is None:
            return self
        return getattr(obj, self.name, 0)
    def __set__(self, obj, value):
        if value < 0:
            raise ValueError("negative")
        setattr(obj, self.name, value)


class Account:
    balance = Descriptor()
    def __init__(self): self.balance = 10
    def __getattr__(self, name):
        if name.startswith("get_"):
            return lambda: getattr(self, name[4:])
        raise AttributeError(name)


acc = Account()
acc.balance += 5
print(acc.balance, acc.get_balance(), vars(acc), acc.__dict__)
try:
    acc.balance = -1
except ValueError as e:
    print(e)


@functools.total_ordering
class Version:
    def __init__(self, t): self.t = tuple(map(int, t.split(".")))
    def __eq__(self, o): return self.t == o.t
    def __lt__(self, o): return self.t < o.t


print(max(Version("1.10"), Version("1.9")).t, Version("1") >= Version("0.9"))


class Singleton:
    _instance = None
    def __new__(cls, *args):
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance


print(Singleton() is Singleton())


class Node:
    def __init__(self, value, next=None):
        self.value, self.next = value, next


n = None
for i in range(3):
    n = Node(i, n)
out = []
while n:
    out.append(n.value)
    n = n.next
print(out)


class Temp:
    def __enter__(self):
        print("in")
        return self
    def __exit__(self, kind, error, tb):
        print("out", kind.__name__ if kind else None, error)
        return kind is ValueError


with Temp() as t, Temp():
    raise ValueError("inside")
print("after")


class Frozen:
    def __setattr__(self, k, v):
        if hasattr(self, k):
            raise AttributeError(f"{k} is set")
        super().__setattr__(k, v)


f = Frozen()
f.a = 1
try:
    f.a = 2
except AttributeError as e:
    print(e)


class M(list):
    def total(self): return sum(self)


class D(dict):
    def __missing__(self, key):
        self[key] = key * 2
        return self[key]


class MyError(Exception):
    def __init__(self, code, msg="bad"):
        super().__init__(msg)
        self.code = code


print(M([1, 2]).total(), D()[4], isinstance(M(), list))
try:
    raise MyError(7)
except MyError as e:
    print(e, e.code, e.args, repr(e))


class Countdown(typing.Iterator):
    def __init__(self, n): self.n = n
    def __next__(self):
        if self.n == 0: raise StopIteration
        self.n -= 1
        return self.n


class Managed(typing.ContextManager):
    def __exit__(self, *error): print("left", error[0])


class Sizes(typing.Mapping):
    def __getitem__(self, key): return len(key)
    def __iter__(self): return iter(["a", "bb"])
    def __len__(self): return 2


with Managed():
    print(list(Countdown(3)), dict(Sizes()), "c" in Sizes(), Countdown.__mro__[1], isinstance(Sizes(), typing.Mapping))


class Named:
    def method(self):
        pass


class Below(Named):
    pass


Named.method.__module__ = "sandbox.guest"
print(Below.__bases__, Below.__mro__, Below.__base__)


class Older:
    __schema__ = {"id": int}

    def __cmp__(self, other):
        return 0

    def __div__(self, other):
        return "divided"

    def __fspath__(self):
        return "/path"

    __truediv__ = __div__

    def __nonzero__(self):
        return False

    __bool__ = __nonzero__


print(Older() / 2, bool(Older()), Older.__schema__, Older().__fspath__(), Older().__div__(3), Older().__cmp__(1))
