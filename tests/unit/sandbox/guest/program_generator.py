# ruff: noqa: E501, S311 - programs stand as they are sent; random numbers are seeded
"""Random programs: small, ended by construction, and full of the constructs that the policy rewrites."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_NAMES = ("a", "b", "c", "_d", "_e_f", "total")
#: Names that are looked at where they are read of what is not the program's.
_GUARDED = ("obj", "register", "format", "metadata", "today")
_OPERATORS = ("+", "-", "*", "//", "%", "|", "&", "^")


class Generator:
    """Writes one program per seed. Each statement prints, so that two runs can be compared."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._depth = 0
        self._count = 0

    def program(self) -> str:
        """Return a program."""
        head = [f"{name} = {self._random.randint(0, 9)}" for name in _NAMES]
        body = [self._statement() for _ in range(self._random.randint(4, 10))]
        return "\n".join([*head, *body, f"print({', '.join(_NAMES)})"])

    # --- expressions -----------------------------------------------------------------------------------------------

    def _expression(self) -> str:
        if self._depth > 3:
            return self._atom()
        self._depth += 1
        try:
            return self._random.choice(self._expressions())()
        finally:
            self._depth -= 1

    def _expressions(self) -> list[Callable[[], str]]:
        e, r = self._expression, self._random
        return [
            self._atom,
            self._atom,
            lambda: f"({e()} {r.choice(_OPERATORS)} ({e()} or 1))",
            lambda: f"({e()} if {e()} else {e()})",
            lambda: f"({e()} {r.choice(('<', '==', '>=', '!='))} {e()})",
            lambda: f"sum([{e()} for i in range({r.randint(0, 4)})])",
            lambda: f"len({{{e()}: {e()}, 'k': {e()}}})",
            lambda: f"[{e()}, {e()}, *range(3)][{r.randint(-2, 2)}]",
            lambda: f"{{'k': {e()}}}['k']",
            lambda: f"(lambda x, y=2: x + y)({e()})",
            lambda: f"int('{{0}}{{x:>3}}'.format({r.randint(1, 9)}, x={r.randint(0, 9)}).replace(' ', '0'))",
            lambda: f"len(f'{{{e()}!r:>5}}{{{e()}}}')",
            lambda: f"(w := {e()})",
            lambda: f"max({e()}, {e()}, key=lambda v: -v)",
            lambda: f"getattr(box, '{r.choice(('x', '_y', 'nothing'))}', {e()})",
            lambda: f"box.{r.choice(('x', '_y', 'twice'))}",
            lambda: f"box.add({e()})",
            lambda: f"type({e()}).__name__.__len__()",
            lambda: f"isinstance({e()}, (int, str))",
            lambda: f"sorted({{{e()}, {e()}}})[0]",
            lambda: f"[z := {e()}, *(z + i for i in range(2)), [z := i for i in range(2)], z][-1]",
            lambda: f"(lambda x=(w := {e()}), *, y=[i for i in range(2)]: len(y) and x)()",
            lambda: f"box.{r.choice(_GUARDED)}",
            lambda: f"next((v for v in [{e()}] if (w := v)), {e()})",
        ]

    def _atom(self) -> str:
        return self._random.choice((*_NAMES, str(self._random.randint(0, 20))))

    # --- statements ------------------------------------------------------------------------------------------------

    def _statement(self) -> str:
        if self._depth > 2:
            return f"print({self._guarded()})"
        self._depth += 1
        try:
            return self._random.choice(self._statements())()
        finally:
            self._depth -= 1

    def _statements(self) -> list[Callable[[], str]]:
        r = self._random
        return [
            lambda: f"print({self._guarded()})",
            lambda: f"{r.choice(_NAMES)} = {self._guarded()}",
            lambda: f"{r.choice(_NAMES)} {r.choice(('+=', '-=', '*=', '|='))} {self._guarded()}",
            lambda: f"box.{r.choice(('x', '_y'))} {r.choice(('=', '+='))} {self._guarded()}",
            lambda: f"data['k{r.randint(0, 2)}'] = {self._guarded()}\ndata['k0'] += 1\nprint(data)",
            lambda: f"a, (b, *_rest) = 1, [{self._guarded()}, 2, 3]\nprint(_rest)",
            self._conditional,
            self._loop,
            self._attempt,
            self._function,
            self._class,
            self._match,
            self._generator,
            self._manager,
            self._tasks,
            self._ending,
            self._rebinding,
            lambda: (
                f"box.{r.choice(_GUARDED)} {r.choice(('=', '+=', '*='))} {self._guarded()}\nprint(box.{r.choice(_GUARDED)})"
            ),
            lambda: f"del box._y\nprint(hasattr(box, '_y'))\nbox._y = {self._guarded()}",
        ]

    def _guarded(self) -> str:
        """An expression whose size stays small."""
        return f"small({self._expression()})"

    def _block(self) -> str:
        lines = "\n".join(self._statement() for _ in range(self._random.randint(1, 2)))
        return "\n".join("    " + line for line in lines.split("\n"))

    def _name(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def _conditional(self) -> str:
        return f"if {self._guarded()} > 3:\n{self._block()}\nelse:\n{self._block()}"

    def _loop(self) -> str:
        name = self._name("i")
        return f"for {name} in range({self._random.randint(0, 3)}):\n{self._block()}\n    if {name} > 1: break\nelse:\n    print('all')"

    def _attempt(self) -> str:
        error = self._random.choice(("{}['none']", "1 // 0", "[][1]", "int('x')", "None.x", "nothing", "box.nothing"))
        return (
            f"try:\n{self._block()}\n    {error}\nexcept (KeyError, ZeroDivisionError) as e:\n    print(type(e).__name__, e)\n"
            f"except Exception as e:\n    print(type(e).__name__, e.args)\nfinally:\n    print('done')"
        )

    def _function(self) -> str:
        name = self._name("f")
        return (
            f"def {name}(p, q={self._random.randint(0, 5)}, *args, _k=1, **kw):\n    global total\n    total = small(total + 1)\n"
            f"    n = p\n    def inner():\n        nonlocal n\n        n += q\n        return n\n{self._block()}\n"
            f"    return small(inner() + len(args) + _k + len(kw))\nprint({name}({self._guarded()}, 2, 3, z=1))"
        )

    def _class(self) -> str:
        name = self._name("C")
        return (
            f"class {name}(Box):\n    kind = {self._guarded()}\n    def __init__(self, v):\n        super().__init__(v)\n"
            f"        self.__own = v\n        self._items = [v]\n    def add(self, n):\n        self._items.append(n)\n"
            f"        self.__own += 1\n        return small(super().add(n) + self.__own)\n    def __eq__(self, other):\n"
            f"        return self.x == other.x\n    def __repr__(self):\n        return f'{name}<{{self.x}}, {{self._items}}>'\n"
            f"box = {name}({self._guarded()})\nprint(box, box.add(1), box == {name}(1), {name}.kind, box.twice)"
        )

    def _match(self) -> str:
        return (
            f"match [{self._guarded()}, {{'t': {self._guarded()}}}]:\n    case [0, {{'t': t}}]:\n        print('zero', t)\n"
            f"    case [int(n), {{'t': 1 | 2 | 3 as t, **rest}}] if n > 2:\n        print(n, t, rest)\n    case [x, *_]:\n        print(x)"
        )

    def _generator(self) -> str:
        name = self._name("g")
        return (
            f"def {name}(n):\n    for i in range(n):\n        got = yield small(i * {self._guarded()})\n        if got: print('got', got)\n"
            f"    return n\ndef {name}_outer():\n    r = yield from {name}(2)\n    print('returned', r)\nprint(list({name}_outer()))"
        )

    def _manager(self) -> str:
        name = self._name("M")
        return (
            f"class {name}:\n    def __init__(self, v): self._v = v\n    def __enter__(self): return self._v\n"
            f"    def __exit__(self, kind, error, trace):\n        print('exit', kind and kind.__name__)\n"
            f"        return {self._random.choice(('True', 'kind is KeyError'))}\n"
            f"with {name}({self._guarded()}) as m, {name}(2) as (n):\n{self._block()}\n    {{}}['none']"
        )

    def _tasks(self) -> str:
        name = self._name("t")
        return (
            f"import asyncio\nasync def {name}(n):\n    await asyncio.sleep(0)\n    if n == 2: raise {self._error()}\n    return n\n"
            f"async def {name}_all():\n    got = await asyncio.gather(*[{name}(i) for i in range({self._random.randint(1, 4)})], return_exceptions=True)\n"
            f"    return [v if isinstance(v, int) else type(v).__name__ async for v in {name}_each(got)]\n"
            f"async def {name}_each(items):\n    for item in items:\n        yield item\n        await asyncio.sleep(0)\n"
            f"print(asyncio.run({name}_all()))"
        )

    def _error(self) -> str:
        return self._random.choice(
            ("ValueError(1)", "GeneratorExit", "BaseException('b')", "StopAsyncIteration", "KeyError")
        )

    def _ending(self) -> str:
        error = self._random.choice(
            ("SystemExit(2)", "KeyboardInterrupt", "GeneratorExit()", "BaseException('b')", "ValueError")
        )
        handler = self._random.choice(("except", "except BaseException", "except (OSError, BaseException)"))
        return (
            f"import sys\ndef {self._name('e')}():\n    try:\n        return {self._guarded()}\n    finally:\n        print('left')\n"
            f"try:\n    try:\n        raise {error}\n    finally:\n        print(e{self._count}())\n{handler}:\n"
            f"    print(type(sys.exc_info()[1]).__name__)\n{self._block()}"
        )

    def _rebinding(self) -> str:
        name = self._name("r")
        ways = (
            "x = box",
            "for x in [box]: pass",
            "[x := box for _ in (1,)]",
            "match box:\n        case x: pass",
            "x, *_ = [box, 1]",
        )
        return (
            f"def {name}(x, other=(w := {self._guarded()})):\n    def inner(y=[v for v in (x._y,)]):\n        nonlocal x\n        x = box\n        return y\n"
            f"    print(x._y, inner()[0], x._y)\n    {self._random.choice(ways)}\n    x._y += 1\n    return x._y + x.x\nprint({name}(Box({self._guarded()})))"
        )


PRELUDE = """
def small(v):
    return int(v) % 97 if isinstance(v, (int, float)) else len(str(v))
class Box:
    def __init__(self, x):
        self.x, self._y = x, 2
        self.obj = self.register = self.format = self.metadata = self.today = 1
    def add(self, n):
        self._y += n
        return self._y % 50
    @property
    def twice(self):
        return self.x * 2
box = Box(3)
data = {'k0': 0}
"""


def program(seed: int) -> str:
    """Return the program of a seed."""
    return PRELUDE + Generator(seed).program()
