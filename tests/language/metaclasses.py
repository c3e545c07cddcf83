"""Metaclasses, classes made by calls, hooks of classes, and assignments to names between underscores."""

from abc import ABC, ABCMeta, abstractmethod


class Registry(type):
    known = {}

    def __new__(mcls, name, bases, namespace, **options):
        made = super().__new__(mcls, name, bases, namespace)
        made.options = options
        return made

    def __init__(cls, name, bases, namespace, **options):
        super().__init__(name, bases, namespace)
        Registry.known[name] = cls

    def __iter__(cls):
        return iter(cls.items)

    def __contains__(cls, item):
        return item in cls.items

    def __getitem__(cls, index):
        return cls.items[index]

    def __len__(cls):
        return len(cls.items)

    @property
    def first(cls):
        return cls.items[0]

    def __repr__(cls):
        return f"<{cls.__name__} of {cls._secret}>"


class Base(metaclass=Registry, tag="b"):
    items = [1, 2]
    _secret = 7


class Child(Base):
    items = ["c"]


print(list(Base), 2 in Base, Base[1], len(Child), Child.first, Child, sorted(Registry.known))
print(Base.options, Child.options, type(Base) is Registry, type(Base).__name__, isinstance(Base, Registry))
print(isinstance(Base, type), issubclass(Registry, type), Registry.__mro__ == (Registry, type, object))
print(Registry.__bases__ == (type,), type(Registry) is type, Child.__mro__)


class Singleton(type):
    _instances = {}

    def __call__(cls, *args, **kwargs):
        if cls not in cls._instances:
            cls._instances[cls] = super().__call__(*args, **kwargs)
        return cls._instances[cls]


class Settings(metaclass=Singleton):
    def __init__(self, level=0):
        self.level = level


print(Settings(3) is Settings(4), Settings().level)


class Counted(ABCMeta):
    made = 0

    def __call__(cls, *args):
        Counted.made += 1
        return type.__call__(cls, *args)


class Shape(metaclass=Counted):
    @abstractmethod
    def area(self): ...


class Square(Shape):
    def area(self):
        return 4


try:
    Shape()
except TypeError as error:
    print("abstract", "area" in str(error))
print(Square().area(), Counted.made, Shape.__abstractmethods__)


class Duck(type):
    def __instancecheck__(cls, value):
        return hasattr(value, "quack")

    def __subclasscheck__(cls, kind):
        return hasattr(kind, "quack")


class Ducks(metaclass=Duck):
    pass


class Mallard:
    quack = True


print(isinstance(Mallard(), Ducks), isinstance(1, Ducks), issubclass(Mallard, Ducks))


class HasSize(ABC):
    @classmethod
    def __subclasshook__(cls, kind):
        return any("size" in base.__dict__ for base in kind.__mro__)


class Sized:
    size = 1


print(issubclass(Sized, HasSize), isinstance(Sized(), HasSize), issubclass(int, HasSize))


class Animal(ABC):
    pass


@Animal.register
class Dog:
    pass


print(issubclass(Dog, Animal), isinstance(Dog(), Animal), Dog.__mro__)

Point = type("Point", (), {"x": 1, "_y": 2, "sum": lambda self: self.x + self._y, "__len__": lambda self: 9})
Point3 = type("Point3", (Point,), {"z": 3})
print(Point().sum(), Point3().z, len(Point3()), Point.__name__, Point3.__bases__ == (Point,), Point.__module__)
print(type("Words", (list,), {})("ab"), type("Odd", (Exception,), {})("x").args, type("D", (Base,), {"items": []}))


class Traced:
    def __init__(self):
        self.x = 1

    def __getattribute__(self, name):
        if name == "magic":
            return 42
        if name == "x":
            print("reads x")
        return super().__getattribute__(name)

    def __getattr__(self, name):
        return f"no {name}"


traced = Traced()
print(traced.x, traced.magic, traced.other, type(traced).__name__, traced.__class__ is Traced)


class Plain:
    def __getattribute__(self, name):
        return object.__getattribute__(self, name)

    def hi(self):
        return "hi"


print(Plain().hi())


class Borg:
    _shared = {}

    def __init__(self):
        self.__dict__ = self._shared


Borg().x = 5
print(Borg().x)


class On:
    def switch(self):
        self.__class__ = Off
        return "off"


class Off:
    def switch(self):
        self.__class__ = On
        return "on"


switch = On()
print(switch.switch(), switch.switch(), type(switch).__name__)

Off.__repr__ = lambda self: "Off!"
Off.__len__ = lambda self: 3
Off.__eq__ = lambda self, other: True
print(Off(), len(Off()), Off() == 5)
del Off.__len__
try:
    len(Off())
except TypeError as error:
    print(error)

try:
    try:
        1 / 0
    except ZeroDivisionError as error:
        raise ValueError("x").with_traceback(error.__traceback__) from error
except ValueError as error:
    print(error, type(error.__cause__).__name__, error.__traceback__ is not None)
    error.__traceback__ = None
    error.__suppress_context__ = False
    error.__cause__ = None
    print(error.__traceback__, error.__suppress_context__)


def described(first, /, second=2, *rest, third, **more):
    local = first
    return local


print(described.__code__.co_varnames, described.__code__.co_argcount, described.__code__.co_name)


class Tools:
    @staticmethod
    def twice(x):
        return x * 2

    @classmethod
    def name(cls):
        return cls.__name__


print(Tools.__dict__["twice"].__func__(4), Tools.__dict__["name"].__func__(Tools), Tools.name.__func__(Off))


class Bound:
    n = 3

    @classmethod
    def of_class(cls):
        return cls.n

    @property
    def twice(self):
        return self.n * 2


print(Bound.__dict__["of_class"].__get__(None, Bound)(), Bound.__dict__["twice"].__get__(Bound(), Bound))
