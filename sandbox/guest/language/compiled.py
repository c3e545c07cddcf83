"""A compiled program as text, so that the next worker does not compile it again.

The host keeps it unread, under the source that it was compiled from (`sandbox/host/compiled.py`). As CPython does with
the modules that it has compiled, this is marshal's format: it holds for one version of Python, and here for one host.
"""

from __future__ import annotations

import marshal  # noqa: TID251 - code, which JSON cannot carry; from the host, which the guest trusts
from binascii import a2b_base64, b2a_base64
from types import CodeType
from typing import Any

from sandbox.guest.language.compilation import Program
from sandbox.outcome import CallSite


def tell(program: Program, limit: int) -> str | None:
    """Return a program as base64, or None if it must be compiled each time.

    That is where the text would have more than `limit` characters, and where a set that stands in the source would be
    gone through in another order.
    """
    if program.code is None:
        return None
    sites = [(s.name, s.keywords, s.positional, s.open_ended, s.line, s.column) for s in program.sites]
    fields: Any = tuple(program._replace(sites=()))
    data = marshal.dumps((fields, sites))
    if not _has_sets_of(marshal.loads(data)[0][1], program.code):  # noqa: S302 - our own
        return None
    text = b2a_base64(data, newline=False).decode()
    return text if len(text) <= limit else None


def read(text: str) -> Program:
    """Return the program that `tell` encoded."""
    fields, sites = marshal.loads(a2b_base64(text))  # noqa: S302 - before it ran, see above
    program = Program(*fields)
    return program._replace(sites=tuple(CallSite(*site) for site in sites)) if sites else program


def _has_sets_of(read: CodeType, code: CodeType) -> bool:
    """Return whether the sets among the constants kept their order: marshal sorts them."""
    pairs = zip(read.co_consts, code.co_consts, strict=True)
    return all(
        _has_sets_of(one, other) if isinstance(one, CodeType) else list(one) == list(other)
        for one, other in pairs
        if isinstance(one, (CodeType, frozenset))
    )
