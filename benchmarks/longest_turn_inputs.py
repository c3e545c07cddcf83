"""Inputs for `longest_turn`: just below, at and above each constant of the parsers and checkers."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Modules that read values of programs and services. Each integer constant of theirs makes inputs.
PARSERS = (
    "codemode.executions.journal.sql.rows",
    "codemode.executions.types.ledger",
    "codemode.text.shrunk_json",
    "codemode.transports.http.answers",
    "sandbox.limits",
    "sandbox.protocol.guest_decoder",
    "sandbox.protocol.large_answers",
    "sandbox.protocol.large_results",
    "sandbox.protocol.parts",
    "sandbox.protocol.strict_json",
)

#: Bytes of a value: nearly all that a program may return, and that a service may answer.
SIZE = 15_000_000

#: Items of lists, by their difficulty. The first is benign.
ITEMS = {
    "records": b'{"id":12345,"name":"a name of some length","email":"someone@example.com"}',
    "numbers near infinity": b"1e308",
    "numbers near zero": b"1e-308",
    "short numbers": b"1",
    "short texts": b'""',
    "not ASCII": '"é"'.encode(),
    "empty lists": b"[]",
    "deep lists": b"[" * 150 + b'"' + b"x" * 2400 + b'"' + b"]" * 150,
    "escapes": b'"' + b"\\n" * 500 + b'"',
    "brackets in texts": b'"[{"',
}


def constants() -> dict[int, str]:
    """Return the integer constants of the parsers, each with the name of one."""
    found: dict[int, str] = {}
    for module in PARSERS:
        for name, value in vars(importlib.import_module(module)).items():
            if name.lstrip("_").isupper() and type(value) is int and 1 < value <= SIZE:
                found.setdefault(value, f"{module.rpartition('.')[2]}.{name}")
    return dict(sorted(found.items()))


def around(constant: int, size: int = SIZE) -> Iterator[tuple[str, bytes]]:
    """Yield JSON texts of at most about `size` bytes in which a number of something is about a constant."""
    for count in (constant - 1, constant, constant + 1):
        many = max(1, size // (count + 1))
        yield f"numbers of {count:,} digits", _listed(b"7" * count, many)
        yield f"fractions of {count:,} digits", _listed(b"0." + b"7" * count, many)
        yield f"texts of {count:,} bytes", _listed(b'"' + b"x" * count + b'"', many)
        yield f"{count:,} exponents and an integer", _listed(b"1e100", min(count, size // 6), b"1234567890123456789")
        yield f"{count:,} short numbers", _listed(b"1", min(count, size // 2))
        yield f"{count:,} lists", _listed(b"[]", min(count, size // 3))
        if count <= 300:
            yield f"lists {count:,} deep", _listed(b"[" * count + b"]" * count, max(1, size // (2 * count + 1)))


def items(size: int = SIZE) -> Iterator[tuple[str, bytes]]:
    """Yield a list of each kind of items."""
    for name, item in ITEMS.items():
        yield name, _listed(item, size // (len(item) + 1))


def _listed(item: bytes, count: int, last: bytes = b"1") -> bytes:
    return b"[" + b",".join([*[item] * count, last]) + b"]"
