"""What runs while servers are killed: sequential, parallel and nested calls, with randomness and time among them.

Each call carries the execution's `tag` and a `label` of its own, by which the service and the journal are compared.
"""

from __future__ import annotations

from dataclasses import dataclass

_SEQUENTIAL = """
import random, uuid
for n in range(6):
    found = plain.things.read(tag=TAG, label=f"r{n}")["text"]
    plain.things.write(tag=TAG, label=f"w{n}", value=f"{random.random()} {uuid.uuid4()} {len(found)}")
    keyed.things.write(tag=TAG, label=f"k{n}", value=f"{random.random()}")
"done"
"""

_PARALLEL = """
import asyncio, random, time

async def one(n):
    await asyncio.sleep(random.random() / 100)
    found = await plain.things.read(tag=TAG, label=f"r{n}")
    await plain.things.write(tag=TAG, label=f"w{n}", value=f"{time.time()} {len(found['text'])}")
    await keyed.things.write(tag=TAG, label=f"k{n}", value=f"{random.random()}")

await asyncio.gather(*(one(n) for n in range(6)))
"done"
"""

_NESTED = """
from concurrent.futures import ThreadPoolExecutor, as_completed
import random, uuid

def inner(n):
    plain.things.write(tag=TAG, label=f"w{n}", value=f"{uuid.uuid4()}")
    return n

def outer(n):
    keyed.things.write(tag=TAG, label=f"k{n}", value=f"{random.random()}")
    with ThreadPoolExecutor(2) as pool:
        return sum(pool.map(inner, range(n * 4, n * 4 + 4)))

with ThreadPoolExecutor(3) as pool:
    total = sum(one.result() for one in as_completed([pool.submit(outer, n) for n in range(3)]))
plain.things.write(tag=TAG, label="last", value=f"{total}")
"done"
"""


@dataclass(frozen=True, slots=True)
class Program:
    """A program, and how many of its calls are under way at one time at most."""

    text: str
    width: int

    def tagged(self, tag: str) -> str:
        """The program as one execution runs it."""
        return f"TAG = {tag!r}{self.text}"


PROGRAMS = (Program(_SEQUENTIAL, 1), Program(_PARALLEL, 6), Program(_NESTED, 6))
