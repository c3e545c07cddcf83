# Ordinary idioms, many to a line: classes, decorators, containers, text.

class Meta: pass
class Node:
    __slots__=("value","next","__weakref__")
    def __init__(self,v,n=None): self.value=v; self.next=n
class LinkedList:
    def __init__(self,it=()):
        self._head=None; self._size=0
        for x in it: self.push(x)
    def push(self,x): self._head=Node(x,self._head); self._size+=1
    def __iter__(self):
        n=self._head
        while n: yield n.value; n=n.next
    def __len__(self): return self._size
    def reverse(self):
        prev=None; cur=self._head
        while cur: cur.next,prev,cur=prev,cur,cur.next
        self._head=prev
l=LinkedList([1,2,3]); l.reverse(); print(list(l),len(l),l._size)


from functools import total_ordering, lru_cache, partial, reduce, cached_property, singledispatch, wraps
@total_ordering
class V:
    def __init__(self,a): self.a=a
    def __eq__(self,o): return self.a==o.a
    def __lt__(self,o): return self.a<o.a
    def __repr__(self): return f"V({self.a})"
    def __hash__(self): return hash(self.a)
print(sorted([V(3),V(1)]), V(1)<=V(2), max(V(1),V(5)), {V(1),V(1)})
class C:
    n=0
    @cached_property
    def p(self): C.n+=1; return C.n
c=C(); print(c.p,c.p,c.__dict__)
def deco(f):
    @wraps(f)
    def w(*a,**k): w.calls+=1; return f(*a,**k)
    w.calls=0
    return w
@deco
def g(x): "doc"; return x+1
print(g(1),g(2),g.calls,g.__name__,g.__doc__,g.__wrapped__(5))
@singledispatch
def s(x): return "o"
@s.register
def _(x:int): return "i"
@s.register(str)
def _(x): return "s"
print(s(1),s("a"),s([]))


import enum
class Color(enum.Enum):
    RED="r"; GREEN="g"
    @property
    def pretty(self): return self.name.title()
    @classmethod
    def _missing_(cls,v): return cls.RED
print(Color("x"),Color.RED.pretty,list(Color),Color["GREEN"].value,Color.RED._value_, len(Color), Color.RED in Color)
class P(enum.IntFlag): A=1; B=2
print(P.A|P.B, P(3), enum.auto)
class S(str,enum.Enum): X="x"
print(S.X=="x", S.X.value)
class W(enum.Enum):
    def __init__(self,m,r): self.m=m; self.r=r
    E=(1,2)
print(W.E.m)


from dataclasses import dataclass, field, asdict, replace, astuple, fields
from typing import Optional, List, ClassVar, NamedTuple
@dataclass(order=True, frozen=True)
class P:
    x:int
    y:int=0
    tags:List[str]=field(default_factory=list,compare=False)
    k:ClassVar[int]=3
print(P(1)<P(2), asdict(P(1)), replace(P(1),y=5), astuple(P(1)), [f.name for f in fields(P)])
try: P(1).x=2
except Exception as e: print(type(e).__name__, e)
@dataclass
class Q:
    a:int
    _b:int=2
    def __post_init__(self): self.c=self.a+self._b
print(Q(1),Q(1).c,Q(1)==Q(1), Q(a=1,_b=3))
class N(NamedTuple):
    a:int; b:str="z"
    def both(self): return (self.a,self.b)
n=N(1); print(n,n._asdict(),n._replace(b="q"),N._fields,N._make([1,2]),n.both())
@dataclass(slots=True)
class Sl:
    a:int=1
    def inc(self): self.a+=1; return self
print(Sl().inc())


from abc import ABC, abstractmethod, ABCMeta
class Shape(ABC):
    registry={}
    def __init_subclass__(cls,**k): super().__init_subclass__(**k); Shape.registry[cls.__name__]=cls; cls._tag=cls.__name__.lower()
    @property
    @abstractmethod
    def area(self): ...
    @staticmethod
    def make(n,*a): return Shape.registry[n](*a)
class Sq(Shape):
    def __init__(self,s): self.__s=s
    @property
    def area(self): return self.__s**2
print(Shape.make("Sq",3).area, Sq._tag)
try: Shape()
except TypeError as e: print(e)
class M(metaclass=ABCMeta):
    @abstractmethod
    def f(self): pass
try: M()
except TypeError as e: print("no")


class Tree(dict):
    def __missing__(self,k): v=self[k]=Tree(); return v
t=Tree(); t["a"]["b"]=1; print(t)
class Temp:
    def __init__(self): self._c=0
    @property
    def f(self): return self._c*9/5+32
    @f.setter
    def f(self,v): self._c=(v-32)*5/9
    def __getattr__(self,n): return n.upper()
    def __setattr__(self,n,v): object.__setattr__(self,n,v)
    def __enter__(self): return self
    def __exit__(self,*a): print("exit",a[0]); return True
x=Temp(); x.f=212; print(x._c,x.zzz)
with x: raise ValueError(1)
class D:
    def __set_name__(self,o,n): self.n="_"+n
    def __get__(self,i,o=None): return self if i is None else getattr(i,self.n,None)
    def __set__(self,i,v): setattr(i,self.n,v)
class H:
    d=D()
h=H(); h.d=4; print(h.d, h._d, vars(h))
class Sing:
    _i=None
    def __new__(cls,*a):
        if cls._i is None: cls._i=super().__new__(cls)
        return cls._i
print(Sing() is Sing())
class Base:
    def __init__(self,**k):
        for a,b in k.items(): setattr(self,a,b)
    def __repr__(self): return f"{self.__class__.__name__}({', '.join(f'{k}={v!r}' for k,v in self.__dict__.items())})"
class De(Base): pass
print(De(a=1,b=[2]), type(De()).__name__, De.__bases__, isinstance(De(),Base), De.__mro__[1] is Base)
class Err(Exception):
    def __init__(self,code,msg=""): self.code=code; super().__init__(msg or str(code))
try: raise Err(4) from KeyError("k")
except Err as e: print(e,e.code,e.args,repr(e.__cause__), e.__traceback__.tb_lineno>0)

import collections, itertools, heapq, re, json, string, copy, operator, math, statistics, textwrap, io, csv, sys, bisect, fractions, decimal, datetime, typing, types, contextlib, time, calendar, hashlib, base64, uuid, pprint, struct, array
from collections import *
print(Counter("abca").most_common(1), OrderedDict(a=1), deque([1,2],maxlen=1), ChainMap({1:2})[1], namedtuple("P","x y")(1,2))
print(copy.deepcopy({"a":[1,{2}]}), operator.itemgetter(1)([1,2]), fractions.Fraction(1,3)+1, decimal.Decimal("1.1")*2)
buf=io.StringIO(); w=csv.DictWriter(buf,["a","b"]); w.writeheader(); w.writerow({"a":1,"b":2}); print(repr(buf.getvalue())); print(list(csv.DictReader(io.StringIO("a,b\n1,2"))))
pprint.pprint({"z":1,"a":[1]*3}); print(pprint.pformat([1]))
print(textwrap.dedent("  a\n  b"), string.Template("$x").substitute(x=1), statistics.mean([1,2,4]), bisect.bisect([1,2],1))
@contextlib.contextmanager
def cm(): print("in"); yield 5; print("out")
with cm() as v: print(v)
with contextlib.redirect_stdout(io.StringIO()) as o: print("hid")
print(repr(o.getvalue()), datetime.date(2024,1,31)+datetime.timedelta(days=1), calendar.monthrange(2024,2), json.dumps({"a":datetime.date(2024,1,1)},default=str))
print("{0:>{w}}|{0!r}".format("a",w=4), "%5.2f" % 3.14159, f"{3:03d}", "{a[0]}{b.year}".format(a=[1],b=datetime.date(2020,1,1)))
class E(json.JSONEncoder):
    def default(self,o): return list(o) if isinstance(o,set) else super().default(o)
print(json.dumps({"s":{1}},cls=E))
s=types.SimpleNamespace(a=1); s.b=2; print(s, vars(s)); sys.stdout.write("w\n"); print("e",file=sys.stdout,flush=True)
def fib(n,memo={}):
    if n<2: return n
    if n not in memo: memo[n]=fib(n-1)+fib(n-2)
    return memo[n]
print(fib(50)); print(*map(lambda t: t[0]*t[1], zip([1,2],[3,4])), sep=";")
match {"k":[1,2]}:
    case {"k":[a,*r]}: print(a,r)
class Pt:
    __match_args__=("x","y")
    def __init__(s,x,y): s.x=x; s.y=y
match Pt(1,2):
    case Pt(1,yy): print(yy)
T=typing.TypeVar("T")
class Stack(typing.Generic[T]):
    def __init__(self)->None: self._items:list[T]=[]
    def push(self,i:T)->None: self._items.append(i)
    def __bool__(self): return bool(self._items)
st=Stack[int](); st.push(1); print(bool(st), typing.get_type_hints(Stack.push)["i"])
class Prot(typing.Protocol):
    def push(self,i): ...
print(isinstance(st,typing.runtime_checkable(Prot)))
f=lambda *a,**k:(a,k)
print(f(1,b=2), (lambda x:x)(3), [*range(3)], {**{"a":1}}, sum(x for x in range(4)))
g=(i*i for i in range(3)); print(next(g), list(g), any([0,1]), sorted("bca",reverse=True))
def gen():
    x=yield 1
    print("got",x); yield 2
q=gen(); next(q); print(q.send("v"))
class It:
    def __init__(s,n): s.n=n
    def __iter__(s): return s
    def __next__(s):
        if s.n==0: raise StopIteration
        s.n-=1; return s.n
print(list(It(3)), hash(frozenset([1])) == hash(frozenset([1])), id(f)==id(f), callable(f), dir(It(1))[-1])
print(getattr(st,"_items"), hasattr(st,"nope"), setattr(st,"z",1), st.z, st.__class__.__name__, Stack.push.__name__, Stack.__doc__)
try: [].foo
except AttributeError as e: print(e)
try: {}["k"]
except (KeyError, IndexError) as e: print(repr(e), e.args)
assert True, "x"
del st.z
global_x=1
def outer():
    y=0
    def inner():
        nonlocal y; global global_x
        y+=1; global_x+=1; return y
    return inner
i=outer(); i(); print(i(), global_x, type(i).__name__, type(1) is int, type(i) == type(outer), isinstance(i, types.FunctionType), type(It), issubclass(bool,int))
