from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


class Kinds:
    _Inner = int
    obj = str

    def method(self, other: Kinds._Inner, *rest: self._x.y, key: Kinds.__name__ = 1) -> Kinds.obj.format:
        self.total: Kinds._Inner = other
        local: Kinds.__doc__.missing = 1
        return local


print(Kinds.method.__annotations__)


@dataclass
class Row:
    size: Kinds._Inner
    name: Kinds.obj.format = "x"
    all: ClassVar[Kinds._Inner] = 1


print(Row.__annotations__, Row(1))


async def later(value: await_me()._x) -> type(value).__name__: ...


print(later.__annotations__)
for each in range(2):
    shown: Kinds._Inner = each
print(shown)
