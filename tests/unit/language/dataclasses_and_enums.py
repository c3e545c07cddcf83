from __future__ import annotations

import dataclasses
import sys
from collections import namedtuple
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from enum import Enum, Flag, IntEnum, StrEnum, auto, unique
from typing import Any, ClassVar, Generic, NamedTuple, Optional, Protocol, TypedDict, TypeVar, Union, runtime_checkable


@dataclass(order=True)
class Item:
    sort: int = field(init=False, repr=False)
    name: str
    price: float = 0.0
    tags: list[str] = field(default_factory=list, compare=False)
    kind: ClassVar[str] = "thing"

    def __post_init__(self):
        self.sort = len(self.name)


@dataclass(frozen=True)
class Point:
    x: int
    y: int = 0

    @property
    def norm(self) -> float:
        return (self.x ** 2 + self.y ** 2) ** 0.5

    @classmethod
    def origin(cls) -> Point:
        return cls(0, 0)


@dataclass(slots=True, kw_only=True)
class Config:
    debug: bool = False
    _cache: dict = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Computed:
    a: int
    b: int = 0

    def __post_init__(self):
        object.__setattr__(self, "b", self.a * 2)


i = Item("ab", 2.5)
i.tags.append("t")
print(i, asdict(i), astuple(i), Item("a") < Item("abc"), [f.name for f in fields(Item)], Item.kind)
p = Point(3, 4)
print(p, p.norm, Point.origin(), replace(p, y=0), hash(p) == hash(Point(3, 4)), {p: 1}[Point(3, 4)], Computed(2))
try:
    p.x = 1
except dataclasses.FrozenInstanceError as e:
    print(type(e).__name__, e)
print(Config(debug=True), Config() == Config())
Dyn = dataclasses.make_dataclass("Dyn", [("a", int), ("b", int, field(default=3))])
print(Dyn(1), dataclasses.is_dataclass(Dyn))
if sys.version_info >= (3, 14):
    print(dataclasses.make_dataclass("Dyn", ["a"], decorator=lambda kind, **_: kind.__name__))
    print(dataclasses.make_dataclass("Dyn", ["a"], decorator=lambda kind, **options: dataclass(kind, **options))(1))


class Color(Enum):
    RED = 1
    GREEN = "g"

    @property
    def label(self):
        return self.name.title()

    @classmethod
    def default(cls):
        return cls.RED


class Level(IntEnum):
    LOW = auto()
    HIGH = auto()


class Kind(StrEnum):
    A = "a"
    B = auto()


class Perm(Flag):
    R = auto()
    W = auto()


class Planet(Enum):
    EARTH = (5.97, 6.37)

    def __init__(self, mass, radius):
        self.mass = mass
        self.radius = radius


print(Color.RED, Color("g"), Color["RED"].value, list(Color), Color.RED.label, Color.default(), Color.RED in Color)
print(Level.HIGH > Level.LOW, Level.HIGH + 1, sorted(Level), Kind.A == "a", f"{Kind.B}", Perm.R | Perm.W, Planet.EARTH.mass)
print({Color.RED: 1}[Color.RED], len(Color), Color.__members__["GREEN"], Color.RED is Color(1), repr(Color.RED), isinstance(Color.RED, Color))
Fn = Enum("Fn", "ONE TWO")
print(Fn.ONE, Fn.TWO.value, [m.name for m in Fn])
try:
    Color(9)
except ValueError as e:
    print(e)


class Pair(NamedTuple):
    left: int
    right: str = "r"

    def swap(self):
        return (self.right, self.left)

    def moved(self):
        return self._replace(left=self.left + 1)._asdict()


Old = namedtuple("Old", "a b", defaults=[2])
print(Pair(1), Pair(1).swap(), Pair(1).moved(), Pair(1)._asdict(), Pair(1)._replace(left=5), Pair._fields, Old(1), Old(1).b, Old._make([3, 4]), *Old(1))


class Movie(TypedDict, total=False):
    title: str
    year: int


m: Movie = {"title": "x"}
m2 = Movie(title="y", year=3)
print(m, m2)
T = TypeVar("T")


class Stack(Generic[T]):
    def __init__(self) -> None:
        self._items: list[T] = []

    def push(self, item: T) -> Stack[T]:
        self._items.append(item)
        return self

    def pop(self) -> Optional[T]:
        return self._items.pop() if self._items else None


@runtime_checkable
class Closable(Protocol):
    def close(self) -> None: ...


class File:
    def close(self): pass


x: int = 3
y: Union[int, str, None] = None
z: dict[str, list[int | None]] = {}
def f(a: int, b: "str" = "q", *args: Any, **kw: float) -> list[Point]: return [a, b]
print(Stack[int]().push(1).push(2).pop(), isinstance(File(), Closable), isinstance(3, Closable), x, y, z, f(1), sorted(f.__annotations__))
