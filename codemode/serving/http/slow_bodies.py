"""Bodies that would hold the event loop: with many numbers that take long to read and to write."""

from __future__ import annotations

import re

#: Smaller bodies cannot hold enough of such numbers.
_LEAST_BYTES = 1 << 16

#: The standard library takes a microsecond to read a number with a three-digit exponent, and half a millisecond to
#: write an integer of 4,300 digits. Digits of integers are counted in blocks.
MOST_EXPONENTS, MOST_BLOCKS, _BLOCK = 2_000, 1_000, b"0" * 100

_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_SHAPES = bytes(48 if chr(code) in "0123456789+-" else 101 if chr(code) in "eE" else 32 for code in range(256))

SLOW = (
    f"the body has more than {MOST_EXPONENTS:,} numbers with exponents of three digits, or {100 * MOST_BLOCKS:,} digits"
    " in long integers: send them as text"
)


def is_slow(body: bytes) -> bool:
    """Return whether a JSON body has too many numbers that take long. Takes 10 ms for a mebibyte."""
    if len(body) < _LEAST_BYTES or not _has_many(body):
        return False
    return _has_many(_STRING.sub(b"", body))


def _has_many(text: bytes) -> bool:
    shapes = text.translate(_SHAPES)
    return shapes.count(b"0e000") > MOST_EXPONENTS or shapes.count(_BLOCK) > MOST_BLOCKS
