from __future__ import annotations

from ctypes import addressof, create_string_buffer, memset, string_at
from mmap import MAP_ANONYMOUS
from resource import getpagesize

from sandbox.guest.c_calls import CallSequence
from sandbox.isolation.kernel import MAP_FIXED, MAP_PRIVATE, PROT_READ, PROT_WRITE, map_memory, unmap_memory


def test_calls_are_made_in_their_order_and_lead_back() -> None:
    first, second = create_string_buffer(4), create_string_buffer(4)
    sequence = CallSequence()
    sequence.add("memset", addressof(first), ord("a"), 4)
    sequence.add("memmove", addressof(second), addressof(first), 4)
    sequence.add("memset", addressof(first), ord("b"), 2)
    sequence.run()
    assert (first.raw, second.raw) == (b"bbaa", b"aaaa")


def test_all_six_arguments_of_a_system_call_arrive() -> None:
    size = 4 * getpagesize()
    address = map_memory(size)
    memset(address, ord("a"), size)
    sequence = CallSequence()
    sequence.add("mmap", address, size // 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0)
    sequence.run()
    assert string_at(address, size) == bytes(size // 2) + b"a" * (size // 2)
    unmap_memory(address, size)


def test_hundreds_of_calls_and_none() -> None:
    numbers = create_string_buffer(1_000)
    sequence = CallSequence()
    for place in range(1_000):
        sequence.add("memset", addressof(numbers) + place, place % 251, 1)
    sequence.run()
    CallSequence().run()
    assert numbers.raw == bytes(place % 251 for place in range(1_000))
