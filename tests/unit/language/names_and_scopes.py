_private = 1
_x_y = 2
__version__ = "1"
__all__ = ["f"]
_ = 3
for _ in range(2): pass
def _helper(_arg, __x=1):
    return _arg + __x
class A:
    _shared = {}
    __count = 0
    def __init__(self):
        self._a = 1
        self.__b = 2
        A.__count += 1
        self._shared["k"] = A.__count
    def get(self): return self._a + self.__b
    @classmethod
    def total(cls): return cls.__count
    def other(self, o): return o._a + o.__b
    def inner(self):
        def f(): return self._a
        return [self._a for _ in range(2)] + [f()] + [(lambda: self.__b)()]
print(_private, _x_y, __version__, _, _helper(1), A().get(), A.total(), A().other(A()), A._shared, A().inner(), A()._a, A()._A__b)
sum = 5
list_ = [1]
print(sum, __name__)
max = lambda *a: "mine"
print(max(1, 2))
def outer():
    x = "outer"
    class C:
        y = x
        def m(self): return x
    return C.y, C().m()
print(outer())
class B:
    vals = [1, 2]
    doubled = [v * 2 for v in vals]
    def __class_getitem__(cls, item): return f"B[{item}]"
    class Inner:
        z = 1
print(B.doubled, B[int], B.Inner.z, B.Inner.__qualname__)
def deco(cls):
    cls.added = True
    return cls
@deco
class D: pass
print(D.added)
setattr(D, "dyn", 5)
d = D()
setattr(d, "v", 1)
print(D.dyn, d.v, getattr(d, "v"), hasattr(d, "nope"))
delattr(d, "v")
d.w = 2
del d.w
print(vars(d), [k for k in vars(D) if not k.startswith("_")])
f = lambda: None
f.attr = 3
print(f.attr, f.__name__, A.get.__name__, A.__name__, A.__module__, A.get.__qualname__)
x: int
y: "undefined" = 1
print(y)
a = b = c = 0
a, (b, *c) = 1, (2, 3, 4)
print(a, b, c)
import math as m, json
from math import sqrt as root, pi
print(m.floor(2.5), root(9), round(pi, 2))
