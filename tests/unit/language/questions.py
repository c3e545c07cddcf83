"""`type`, `getattr`, `hasattr`, `setattr`, `format` and `hash`, in all the ways in which they are written."""

from operator import attrgetter, methodcaller


class Plain:
    x = 1

    def name(self, end="!"):
        return type(self).__name__ + end


class Derived(Plain):
    __slots__ = ("y",)

    def __init__(self):
        self.y = [Plain()]


plain, derived = Plain(), Derived()
for value in (1, "a", None, True, [1], {"a": 1}, plain, derived, Plain, int, ValueError("v")):
    print(type(value).__name__, value.__class__ is type(value), type(value) is Plain, isinstance(type(value), type))
print(type(type(plain)) is type, type(*[1]) is int)

for name in ("x", "missing", "_hidden", "__class__", "real"):
    print(name, hasattr(plain, name), getattr(plain, name, "none") == "none", hasattr(3, name))
print(getattr(plain, "x"), getattr(plain, "missing", 5), hasattr(plain, "x"), hasattr(plain, "missing"))
try:
    getattr(plain, "missing")
except AttributeError as error:
    print(error, error.name)
for wrong in (lambda: getattr(plain, 3), lambda: hasattr(plain), lambda: setattr(plain, 3, 4)):
    try:
        wrong()
    except TypeError:
        print("a type error")

for name in ("x", "z", "_w"):
    setattr(plain, name, name * 2)
    print(getattr(plain, name))
setattr(plain, "q", 1)
print(plain.q, sorted(vars(plain)))

text = "{0} {x.x} {0!r:>4}"
print(text.format(1, x=plain), "{a}".format_map({"a": 2}), [line.format(3) for line in ("{}", "{:03d}")])
print([attrgetter("x")(each) for each in (plain, derived)], attrgetter("x", "y")(derived)[0], methodcaller("name", "?")(plain))
print(attrgetter("__class__.__name__")(plain), sorted("bca", key=methodcaller("upper")))

seen = {plain, derived, plain}
print(len(seen), plain in seen, Plain() in seen, hash(plain) == hash(plain), hash(plain) == hash(derived))


def shadowed(type, getattr, hasattr):
    return type(1), getattr(1, "x"), hasattr(1, "x")


print(shadowed(lambda value: "t", lambda *_: "g", lambda *_: "h"))

import math

scope = {"x": 3}
scope.update(vars(math))
print(scope["sqrt"](4), scope["pi"] == math.pi, [name for name in vars(math) if name.startswith("ata")])
