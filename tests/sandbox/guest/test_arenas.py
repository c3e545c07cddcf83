from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from sandbox import Limits, Sandbox, Status

_ROOT = str(Path(__file__).parents[3])
_MIB = 1 << 20

_IN_THE_ROOM = """
import os, re
from sandbox.guest.arenas import make_room, take_arenas_from_malloc

def resident(what):
    total, inside = 0, False
    for line in open("/proc/self/smaps"):
        if span := re.match(r"([0-9a-f]+)-[0-9a-f]+ ", line):
            inside = room.start <= int(span[1], 16) < room.start + room.size
        elif inside and line.startswith(what):
            total += int(line.split()[1])
    return total >> 10

take_arenas_from_malloc()
room = make_room()
untouched = resident("Rss:")
before = [[n] for n in range(1_000)]
things = [[n] for n in range(300_000)]
inside = sum(room.start <= id(thing) < room.start + room.size for thing in things)
same = all(thing == [n] for n, thing in enumerate(things))
print(room.size > 60 << 20, untouched, inside > 250_000, same)
print(resident("AnonHugePages:"))
full = resident("Rss:")
del things
things = [[n] for n in range(200_000)]
print(resident("Rss:") <= full, before[999], flush=True)
os._exit(0)  # as whoever took arenas from malloc must end
"""


def test_new_arenas_are_in_room_that_nobody_touched_and_come_back() -> None:
    done = subprocess.run([sys.executable, "-c", _IN_THE_ROOM], cwd=_ROOT, capture_output=True, text=True, check=True)
    where, huge, back = done.stdout.splitlines()
    assert (where, back) == ("True 0 True True", "True [999]")
    setting = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if setting.exists() and "[never]" not in setting.read_text(encoding="utf-8"):
        assert int(huge) > 10


async def test_room_counts_as_memory_of_the_program() -> None:
    program = "things = [[n] for n in range(300_000)]\nlen(things)"  # some 30 MB
    async with Sandbox(workers=1) as sandbox:
        outcome = await sandbox.run(program, limits=replace(Limits(), memory_bytes=16 * _MIB))
        assert (outcome.status, outcome.limit) == (Status.OUT_OF_MEMORY, "memory_bytes")
        outcome = await sandbox.run(program, limits=replace(Limits(), memory_bytes=48 * _MIB))
        assert outcome.value == 300_000


async def test_memory_that_was_let_go_can_be_had_again() -> None:
    program = "total = 0\nfor _ in range(20):\n    total += len([[n] for n in range(300_000)])\ntotal"
    async with Sandbox(workers=1) as sandbox:
        outcome = await sandbox.run(program, limits=replace(Limits(), memory_bytes=64 * _MIB))
    assert outcome.value == 6_000_000, outcome
