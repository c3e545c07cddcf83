# ruff: noqa: E501 - programs stand as they are sent
"""What is restricted in the library still does what programs use it for."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.guest import program
from tests.sandbox.guest.host_double import run_guest

ORDINARY: list[tuple[str, Any]] = [
    (
        "told = []\nfor data in (b'a\\xff', b'abc\\xe2\\x82'):\n    try:\n        data.decode()\n"
        "    except UnicodeDecodeError as error:\n        told.append(str(error))\n"
        "class Own(UnicodeDecodeError): pass\n[*told, str(Own('x', b'ab', 1, 2, 'why'))]",
        [
            "'utf-8' codec can't decode byte 0xff in position 1: invalid start byte",
            "'utf-8' codec can't decode bytes in position 3-4: unexpected end of data",
            "'x' codec can't decode byte 0x62 in position 1: why",
        ],
    ),
    (
        "import weakref\nclass A:\n    def m(self): return 1\na = A()\nweak = weakref.WeakMethod(a.m)\n"
        "[weak()(), weak == weakref.WeakMethod(a.m)]",
        [1, True],
    ),
    (
        "from functools import partialmethod\nclass A:\n    def m(self, x, y): return [x, y]\n    half = partialmethod(m, 1)\n"
        "    @classmethod\n    def c(cls, x): return [cls.__name__, x]\n    made = partialmethod(c, 2)\n[A().half(2), A.made()]",
        [[1, 2], ["A", 2]],
    ),
    (
        "from contextlib import ExitStack\nlog = []\nclass M:\n    def __enter__(self): return self\n"
        "    def __exit__(self, kind, error, trace):\n        log.append(kind and kind.__name__)\n        return True\n"
        "with ExitStack() as stack:\n    stack.enter_context(M())\n    stack.callback(log.append, 'called')\n    1 / 0\n"
        "stack.__exit__(None, None, None)\nlog",
        ["called", "ZeroDivisionError"],
    ),
    (
        "from dataclasses import dataclass, fields, asdict, astuple, replace\n@dataclass(frozen=True)\nclass A:\n    x: int\n"
        "    y: list\na = A(1, [2])\n[[f.name for f in fields(A)], len(fields(a)), asdict(a), astuple(a), replace(a, x=3).x]",
        [["x", "y"], 2, {"x": 1, "y": [2]}, [1, [2]], 3],
    ),
    (
        "from enum import Enum, IntEnum\nclass Mixed:\n    def label(self): return self.name.title()\n"
        "class Text(str, Enum):\n    upper = 'x'\n    b = 'y'\nclass Other(Mixed, Enum):\n    ONE = 1\n"
        "[Text.upper.value, Text.b.value, Other.ONE.label(), Other(1).name]",
        ["x", "y", "One", "ONE"],
    ),
    (
        "import copy, types, uuid, enum\nfrom collections import Counter, OrderedDict, UserDict\nfrom datetime import date\n"
        "class D(dict): pass\nclass S(str): pass\nclass E(Exception): pass\nclass C(Counter): pass\nclass U(UserDict): pass\n"
        "class T(date): pass\nclass I(uuid.UUID): pass\nclass P:\n    __slots__ = ('x',)\nclass K(enum.Enum):\n    A = [1]\n"
        "p = P()\np.x = [1]\nd = D(a=[1])\nd.more = 2\ne = E('a')\ne.note = 3\n"
        "values = [d, S('a'), e, C('aab'), U(a=1), T(2020, 1, 2), I(int=5), p, types.SimpleNamespace(a=[1]), K.A]\n"
        "made = [copy.copy(v) for v in values] + [copy.deepcopy(v) for v in values]\n"
        "[[type(m).__name__ for m in made[:10]], made[0].more, made[2].note, made[17].x is not p.x, made[18].a, made[9] is K.A]",
        [["D", "S", "E", "C", "U", "T", "I", "P", "SimpleNamespace", "K"], 2, 3, True, [1], True],
    ),
    (
        "from functools import cached_property, singledispatch, wraps, lru_cache\nclass A:\n    @cached_property\n"
        "    def x(self): return [1]\na = A()\n@singledispatch\ndef f(value): return 'other'\n"
        "@f.register(type)\ndef _(value): return 'class'\n@lru_cache\ndef g(): pass\n@wraps(len)\ndef h(): pass\n"
        "[a.x is a.x, f(int), f(1), g.__wrapped__.__name__, h.__wrapped__ is len]",
        [True, "class", "other", "g", True],
    ),
    (
        "from collections import ChainMap\nfrom ipaddress import ip_address\n"
        "[ChainMap({'a': 1}, {'b': 2}).parents['b'], ip_address('10.0.0.1').is_private]",
        [2, True],
    ),
    (
        "class A: pass\na = A()\na.__dict__ |= {'x': 1}\nA.__name__ += 'x'\n[a.x, A.__name__]",
        [1, "Ax"],
    ),
    (
        "from dataclasses import dataclass\nclass Meta(type):\n    made = []\n    def __setattr__(cls, name, value):\n"
        "        Meta.made.append(name)\n        super().__setattr__(name, value)\n@dataclass\nclass A(metaclass=Meta):\n    x: int = 1\n"
        "@dataclass\nclass B(A):\n    y: int = 2\n    def __post_init__(self): self.z = super().__eq__(self)\n"
        "b = B(3)\nb.__init__(4)\n[b.x, b.z, b.__eq__(B(4)), b.__init__.__name__, super(B, b).__repr__()]",
        [4, True, True, "__init__", "B(x=4)"],
    ),
    (
        "import enum\nclass Coin(bytes, enum.Enum):\n    def __new__(cls, value, label):\n        made = bytes.__new__(cls, [value])\n"
        "        made._value_, made.label = value, label\n        return made\n    ONE = (1, 'one')\n"
        "class Plain(enum.Enum):\n    def __new__(cls, value):\n        made = object.__new__(cls)\n        made._value_ = value * 2\n"
        "        return made\n    A = 1\nclass Kind(enum.StrEnum):\n    X = enum.auto()\n"
        "class Bits(enum.IntFlag):\n    R = 1\n    W = 2\n"
        "[Coin.ONE.label, Coin(1).name, Plain.A.value, Plain(2).name, Kind.X, (Bits.R | Bits.W).value]",
        ["one", "ONE", 2, "A", "x", 3],
    ),
    (
        "import copy, types\nfrom collections import UserDict, UserList\nclass D(UserDict): pass\nclass L(UserList): pass\n"
        "class N(types.SimpleNamespace): pass\nd, l, n = D(a=[1]), L([[1]]), N(x=1)\nd.note, l.note = 1, 2\n"
        "c, m = copy.copy(d), l.copy()\nc['b'] = 2\nm.append(3)\n"
        "new = copy.replace(n, x=2) if hasattr(copy, 'replace') else N(x=2)\n"
        "[type(c).__name__, c.note, d.data, c.data['a'] is d.data['a'], l.data, copy.copy(l).note, new.x, n.x, type(new).__name__]",
        ["D", 1, {"a": [1]}, True, [[1]], 2, 2, 1, "N"],
    ),
    (
        "from datetime import datetime, date, timedelta, timezone\nclass D(datetime):\n    def __new__(cls, *given, note='', **more):\n"
        "        made = super().__new__(cls, *given, **more)\n        made.note = note\n        return made\n"
        "class E(D): pass\nclass P(datetime): pass\nd, e = D(2020, 1, 2, note='x'), E(2020, 1, 2, tzinfo=timezone.utc)\n"
        "later = e + timedelta(days=1)\n[d.note, type(later).__name__, later.note, "
        "e.astimezone(timezone(timedelta(hours=2))).hour, P.fromisoformat('2020-01-01').year, type(P.now()).__name__]",
        ["x", "E", "", 2, 2020, "P"],
    ),
    (
        "from collections import UserDict\nclass D(UserDict):\n    def __init__(self, **more):\n        super().__init__(more)\n"
        "    def __setitem__(self, key, value):\n        super().__setitem__(key.upper(), value)\n    @classmethod\n"
        "    def __init_subclass__(cls, **more):\n        super().__init_subclass__(**more)\nclass E(D): pass\ndict(E(a=1))",
        {"A": 1},
    ),
    (
        "getattr.__name__, [getattr('a', 'upper')(), getattr(1, 'none', 2), hasattr(1, 'real'), str.format('{}', 1)]",
        ["getattr", ["A", 2, True, "1"]],
    ),
    (
        "from dataclasses import dataclass, replace\nfrom functools import singledispatch\n@dataclass\nclass A: x: int\n"
        "@dataclass\nclass B(A): y: int = 0\n@singledispatch\ndef f(v): return 'other'\n@f.register\ndef _(v: A): return 'a'\n"
        "[[kind.__name__ for kind in B.__mro__], B.__bases__[0].__name__, B.__base__ is A, f(B(1)), replace(B(1), y=2)]",
        [["B", "A", "object"], "A", True, "a", {"x": 1, "y": 2}],
    ),
]


@pytest.fixture(autouse=True)
def warm() -> None:
    program.warm_up()


@pytest.mark.parametrize(("code", "value"), ORDINARY)
def test_ordinary_use_is_as_ever(code: str, value: object) -> None:
    ended = run_guest(code)

    assert ended.value == value, ended.message
