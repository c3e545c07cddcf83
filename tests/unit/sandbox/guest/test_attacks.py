# ruff: noqa: E501 - programs stand as they are sent
"""Ways around the policy that were found by looking for them; each is held."""

from __future__ import annotations

import pytest

from tests.unit.sandbox.guest.host_double import run_guest

#: Programs that print PWNED where they get at something that is not theirs.
ATTACKS = {
    "str.format through super": (
        "class S(str):\n    def f(self, x):\n        return super().format(x)\ndef g(): pass\n"
        "if '__builtins__' in S('{0.__globals__}').f(g): print('PWNED')"
    ),
    "str.format through super with arguments": (
        "class S(str): pass\ndef g(): pass\ns = super(S, S('{0.__globals__}'))\nif 'built' in s.format(g): print('PWNED')"
    ),
    "super rebound": "super = lambda: ns.op\nif super()._calls: print('PWNED')",
    "a frozen dataclass sets the class of what is below it": (
        "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass A: pass\nclass B(A): pass\nclass C(A): pass\nb = B()\n"
        "b.__setattr__('__class__', C)\nA.__setattr__(b, '__class__', C)\nif type(b) is C: print('PWNED')"
    ),
    "the names of a table by import from": (
        "from json import __dict__ as names\nnames['dumps'] = 1\nimport json\nif json.dumps == 1: print('PWNED')"
    ),
    "private slots of a tool": "if ns.op._calls: print('PWNED')",
    "private slots of a tool by getattr": "if getattr(ns.op, '_calls'): print('PWNED')",
    "a tool as receiver": ("class A:\n    def f(self):\n        return self._calls\nif A.f(ns.op): print('PWNED')"),
    "a thread as receiver": (
        "import threading\nclass A:\n    def f(self):\n        return self._sandbox_hub\nA.f(threading.Thread())\nprint('PWNED')"
    ),
    "the scheduler through a thread of one's own": (
        "import threading\nclass T(threading.Thread):\n    def f(self):\n        return [getattr(self, n) for n in dir(self) if 'hub' in n]\n"
        "if any(T().f()): print('PWNED')"
    ),
    "modules through Enum._convert_": (
        "import enum\nclass E(enum.IntEnum): pass\nE._convert_('X', 'sys', lambda n: n == 'maxsize')\nprint('PWNED')"
    ),
    "Signature.from_callable evaluates text": (
        "import inspect\ndef f(a: '[].__class__.__base__.__subclasses__()'): pass\n"
        "s = inspect.signature(f)\nprint('PWNED', s.from_callable(f, eval_str=True))"
    ),
    "source through annotations of a class": (
        "from dataclasses import dataclass\nclass A:\n    __annotations__['x=1): print(\"PWNED\")\\n  def f(y'] = int\ndataclass(A)"
    ),
    "source through assigned annotations": (
        "from dataclasses import dataclass\nclass A: pass\nA.__annotations__ = {'x=print(\"PWNED\")': int}\ndataclass(A)()"
    ),
    "source through vars": (
        "from dataclasses import dataclass\nclass A:\n    x: int = 1\nvars(A)['__annotations__']['y=print(\"PWNED\")'] = int\ndataclass(A)()"
    ),
    "source through make_dataclass": (
        "from dataclasses import make_dataclass\nclass S(str):\n    def isidentifier(self): return True\n"
        "make_dataclass('A', [S('y=print(\"PWNED\")')])()"
    ),
    "the module of a library's function through make_dataclass": (  # its decorator: from Python 3.14 on
        "import json\nfrom dataclasses import make_dataclass\ntry: make_dataclass('A', [], decorator=lambda *_, **__: json.dumps)\n"
        "except TypeError: pass\nif json.dumps.__module__ == '__main__': print('PWNED')"
    ),
    "a metaclass through make_dataclass": (
        "from dataclasses import make_dataclass\nM = make_dataclass('M', [], bases=(type(int),))\nprint('PWNED', M)"
    ),
    "a shared class changed by a decorator": (
        "import collections, dataclasses\ndataclasses.dataclass(collections.Counter)\nprint('PWNED')"
    ),
    "a file through an XML tree": (
        "import io, xml.etree.ElementTree as ET\nt = ET.parse(io.StringIO('<a/>'))\nt.write('/tmp/x')\nprint('PWNED')"
    ),
    "the class of an object changed": (
        "import asyncio\nclass A:\n    def f(self):\n        super().__setattr__('__class__', type(asyncio.get_event_loop()))\n"
        "a = A()\na.f()\nif type(a) is not A: print('PWNED')"
    ),
    "private names in patterns": "def f(): pass\nmatch f:\n    case ns.op._calls: print('PWNED')",
    "patterns over lying classes": (
        "import abc\nclass A(abc.ABC):\n    __match_args__ = ('_calls',)\nA.register(type(ns.op))\n"
        "match ns.op:\n    case A(found): print('PWNED')"
    ),
    "match args set later": ("class A: pass\nsetattr(A, '__match_args__', ('__globals__',))\nprint('PWNED')"),
    "a receiver that was rebound": (
        "class A:\n    def f(self):\n        for self in [ns.op]:\n            return self._calls\nif A().f(): print('PWNED')"
    ),
    "a receiver in a nested function": (
        "class A:\n    def f(self):\n        self.x = 1\n        def g(self):\n            return self._calls\n        return g(ns.op)\nif A().f(): print('PWNED')"
    ),
    "operator.attrgetter": "import operator\ndef f(): pass\nprint('PWNED', operator.attrgetter('__globals__')(f))",
    "functools.partial over format": (
        "import functools\ndef g(): pass\nif 'built' in functools.partial(str.format, '{0.__globals__}')(g): print('PWNED')"
    ),
    "the module of a builtin": "print('PWNED', len.__self__)",
    "the formatter behind a method": "print('PWNED', 'a'.format.__self__)",
    "the function behind a partial": "print('PWNED', 'a'.format.func.__self__)",
    "a guard by its name": "print('PWNED', globals()['.own'])",
    "a raw type by three arguments": "A = type('A', (), {'__prepare__': lambda s: 0})\nprint('PWNED')",
    "a metaclass that orders bases": (
        "class M(type(type(1))):\n    def mro(cls): return [cls, int, object]\nclass A(metaclass=M): pass\nprint('PWNED')"
    ),
    "the class of classes through a subclass hook": (
        "from abc import ABC\nseen = []\nclass A(ABC):\n    @classmethod\n    def __subclasshook__(cls, kind):\n"
        "        seen.append(kind)\n        return False\nisinstance(int, A), issubclass(type, A)\n"
        "if any(str(kind) == str(type) and kind is not type for kind in seen): print('PWNED')"
    ),
    "another's class": "class A: pass\nns.op.__class__ = A\nprint('PWNED')",
    "becoming another's": "class A: pass\na = A()\na.__class__ = type(ns.op)\nprint('PWNED')",
    "another's dict": "import types\n(lambda: 0).__dict__ = {}\nns.op.__dict__ = {}\nprint('PWNED')",
    "a hook that hides what an object is": (
        "class A:\n    def __getattribute__(self, name): return type(ns.op)\n"
        "if isinstance(A(), type(ns.op)) or A().__class__ is not A: print('PWNED')"
    ),
    "the frame behind a task": "import asyncio\nt = asyncio.create_task(asyncio.sleep(0))\nprint('PWNED', getattr(t, 'get_' + 'stack')())",
    "a name spelled in another alphabet": "def f(): pass\nprint('PWNED', f.__𝑔𝑙𝑜𝑏𝑎𝑙𝑠__)",
    "a lying attribute name": (
        "class S(str):\n    def startswith(self, *a): return False\n    def __eq__(self, o): return False\n    __hash__ = str.__hash__\n"
        "def f(): pass\nprint('PWNED', getattr(f, S('__globals__')))"
    ),
    "object.__getattribute__": "def f(): pass\nprint('PWNED', object.__getattribute__(f, '__globals__'))",
    "a table filled again": "import math\nmath.__init__('math', {'pi': 3})\nprint('PWNED')",
    "a private name mangled": (
        "class Tool:\n    def f(self, x):\n        return x.__calls\nTool().f(ns.op)\nprint('PWNED')"
    ),
}


@pytest.mark.parametrize("code", ATTACKS.values(), ids=ATTACKS.keys())
def test_a_known_way_around_is_held(code: str) -> None:
    ended = run_guest(code, {"ns.op": lambda: 1})

    assert "PWNED" not in ended.output, ended.output
    assert ended.status in ("refused", "failed") or "PWNED" not in ended.output
    if ended.failure is not None:
        assert ended.failure["type"] not in ("GuestDefect", "ValueError"), ended.message
