from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from sandbox import Sandbox

_ROOT = str(Path(__file__).parents[3])


def _run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], cwd=_ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


_TAKEN_OVER = """
import os
from sandbox.guest.heap import HeapFile, runs

things = [{"n": n, "text": str(n)} for n in range(50_000)]
heap = HeapFile()
size = sum(region.size for region in heap.regions)
pages = list(heap.pages(heap.entries(os.getpid())))
heap.{how}
after = list(heap.pages(heap.entries(os.getpid())))
print(len(after) < len(pages) / 2, "/memfd:heap" in open("/proc/self/maps").read())

child = os.fork()
if not child:
    things[7]["n"] = "changed"
    os._exit(things[49_999] != {"n": 49_999, "text": "49999"})
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(all(thing == {"n": n, "text": str(n)} for n, thing in enumerate(things)))
things += [{"more": n} for n in range(100_000)]
big = bytearray(200_000)
for _ in range(40):
    big += bytes(100_000)  # what the C library enlarges where it is
print(len(things), not any(big), len(big))
"""


@pytest.mark.parametrize("how", ["take_over(runs([]))", "take_over(runs(pages[::40]))", "take_over_page_by_page()"])
def test_a_heap_that_is_a_file_holds_what_it_held_and_goes_on(how: str) -> None:
    done = _run(_TAKEN_OVER.replace("{how}", how))
    assert done.splitlines() == ["True True", "0", "True", "150000 True 4200000"]


def test_pages_that_are_wanted_are_private_copies_at_once() -> None:
    program = """
import os
from sandbox.guest.heap import HeapFile, runs
things = [str(n) for n in range(50_000)]
heap = HeapFile()
wanted = set(list(heap.pages(heap.entries(os.getpid())))[::10])
heap.take_over(runs(wanted))
print(wanted <= set(heap.pages(heap.entries(os.getpid()))), len(wanted) > 50)
"""
    assert _run(program) == "True True"


def test_the_file_takes_no_memory_beyond_the_heap_for_whoever_enlarges_a_mapping() -> None:
    """Its pages stay for all workers when one has ended, and are in no limit of any of them."""
    program = """
import ctypes, os
from sandbox.guest.heap import HeapFile, runs
block = ctypes.create_string_buffer(1 << 20)
heap = HeapFile()
size = sum(region.size for region in heap.regions)
heap.take_over(runs([]))
libc = ctypes.CDLL(None)
libc.mremap.restype = ctypes.c_ssize_t
page = ctypes.addressof(block) + 4096 & -4096
larger = libc.mremap(ctypes.c_void_p(page), ctypes.c_size_t(4096), ctypes.c_size_t(1 << 30), 1)
assert larger > 0
child = os.fork()
if not child:
    ctypes.string_at(larger + size + (16 << 20), 1)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
os._exit(0)
"""
    assert _run(program) == str(-signal.SIGBUS)


async def test_a_worker_has_the_part_of_the_heap_that_it_uses() -> None:
    mapped: list[int] = []
    resident: list[int] = []
    async with Sandbox(workers=1) as sandbox, asyncio.timeout(60):
        # The fork server, and a worker that was made when the heap had become a file; and nobody who is just ending, or
        # is copying the heap to the file.
        while len(mapped) < 2 or len(set(mapped)) > 1 or max(resident) >= 0.6 * mapped[0]:
            assert (await sandbox.run("1 + 1")).value == 2
            found = [entry for entry in _descendants(os.getpid()) if "/memfd:heap" in entry]
            mapped = [_kilobytes(mappings, "Size") for mappings in found]
            resident = [_kilobytes(mappings, "Rss") for mappings in found]


def _descendants(process: int) -> list[str]:
    """Return smaps of the living processes below this one."""
    found = []
    with suppress(FileNotFoundError, ProcessLookupError):  # it ended meanwhile
        for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
            found += [Path(f"/proc/{child}/smaps").read_text(), *_descendants(int(child))]
    return found


def _kilobytes(mappings: str, field: str) -> int:
    total, counts = 0, False
    for line in mappings.splitlines():
        name, _, rest = line.partition(":")
        if "-" in name.split(" ")[0]:
            counts = "/memfd:heap" in line
        elif counts and name == field:
            total += int(rest.split()[0])
    return total


_WITHOUT_A_FILE = """
import asyncio, os, resource
from contextlib import suppress
from pathlib import Path
from sandbox import Sandbox

def mapped(process):
    with suppress(FileNotFoundError, ProcessLookupError):  # it ended meanwhile
        for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
            yield Path(f"/proc/{child}/maps").read_text()
            yield from mapped(child)

async def main():
    async with {sandbox} as sandbox:
        for _ in range(3):
            value = (await sandbox.run("1 + 1")).value
        print(value, any("/memfd:heap" in mappings for mappings in mapped(os.getpid())))
asyncio.run(main())
"""
_SMALL_FILES = "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))  # a megabyte at most\n"


def test_where_files_must_be_small_programs_run_all_the_same() -> None:
    program = _WITHOUT_A_FILE.replace("{sandbox}", "Sandbox()")
    assert _run(program.replace("\nasync def", f"\n{_SMALL_FILES}async def")) == "2 False"


def test_where_files_cannot_be_made_in_memory_programs_run_all_the_same() -> None:
    folder = str(Path(__file__).parents[1] / "programs")
    sandbox = f"Sandbox(program='without_memory_files', folders=({folder!r},))"
    assert _run(_WITHOUT_A_FILE.replace("{sandbox}", sandbox)) == "2 False"
