from __future__ import annotations

from ctypes import addressof, create_string_buffer

from sandbox.guest.c_calls import CallSequence


def test_calls_are_made_in_their_order_and_lead_back() -> None:
    first, second = create_string_buffer(4), create_string_buffer(4)
    sequence = CallSequence()
    sequence.add("memset", addressof(first), ord("a"), 4)
    sequence.add("memmove", addressof(second), addressof(first), 4)
    sequence.add("memset", addressof(first), ord("b"), 2)
    sequence.run()
    assert (first.raw, second.raw) == (b"bbaa", b"aaaa")


def test_arguments_beyond_the_registers_that_a_small_call_needs_arrive() -> None:
    target = create_string_buffer(64)
    sequence = CallSequence()
    format_ = create_string_buffer(b"%d %d %d")
    sequence.add("snprintf", addressof(target), 64, addressof(format_), 1, 2, 3)
    sequence.run()
    assert target.value == b"1 2 3"


def test_hundreds_of_calls_and_none() -> None:
    numbers = create_string_buffer(1_000)
    sequence = CallSequence()
    for place in range(1_000):
        sequence.add("memset", addressof(numbers) + place, place % 251, 1)
    sequence.run()
    CallSequence().run()
    assert numbers.raw == bytes(place % 251 for place in range(1_000))
