"""Programs that harm nothing: what they change in their process is no sign of an attempt."""

from __future__ import annotations

HARMLESS = (
    "1 + 1",
    """
import json, math, re, datetime, collections
print(json.dumps({'a': [1]}), re.sub('a', 'b', 'aa'))
result = math.pi
""",
    """
class A:
    x = 1
    def f(self):
        return [self.x]
print(A().f(), tool('x'), obj.read())
{}['k']
""",
    """
import asyncio
async def f():
    await asyncio.sleep(0)
    return 1
print(asyncio.run(f()))
""",
    """
import random, decimal, statistics, string, time
print(random.random(), decimal.Decimal(1) / 3, statistics.mean([1, 2]), time.time() > 0)
""",
    """
import datetime
print(datetime.datetime.strptime('2026-01-02', '%Y-%m-%d'), f'{datetime.date.today():%A}')
""",
    """
import dataclasses, enum, typing
@dataclasses.dataclass
class P:
    x: int = 1
print(P(), dataclasses.asdict(P()))
class C(enum.Flag):
    A = 1
    B = 2
print(C.A | C.B)
""",
    """
import copy, pickle, abc, threading, queue, contextlib
class B(abc.ABC):
    @abc.abstractmethod
    def f(self): ...
print(copy.deepcopy({'a': [1]}), isinstance(1, B))
t = threading.Thread(target=print)
t.start()
t.join()
""",
)
