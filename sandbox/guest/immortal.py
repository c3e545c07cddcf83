"""Objects whose references are not counted any more, so that to use them writes to no page of memory.

A worker shares the fork server's pages until it writes to them, and what a run writes to most are reference counts.
From Python 3.12 on the interpreter leaves alone a count that says "for ever", as that of None does. What the fork
server has when it is ready lives as long as it does: it may as well say so.
"""

from __future__ import annotations

import gc
import sys
from ctypes import c_uint32
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def make_immortal(codes: Sequence[CodeType] = ()) -> None:
    """Give everything that the collector knows, and all code, the count of None, from Python 3.12 on.

    And the constants and names of these `codes`.
    """
    if sys.version_info < (3, 12) or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return
    objects: list[Any] = gc.get_objects()
    functions = (found.__code__ for found in objects if type(found) is FunctionType)
    forever = _count(None).value
    parts = [part for code in codes for part in (*code.co_consts, *code.co_names, *code.co_varnames)]
    for found in (*objects, *_all_code(list(functions)), *parts):
        _count(found).value = forever


def _all_code(codes: list[CodeType]) -> list[CodeType]:
    """Return this code and what is nested in it."""
    found = []
    while codes:
        found += codes
        codes = [inner for code in codes for inner in code.co_consts if type(inner) is CodeType]
    return found


def _count(found: object) -> c_uint32:
    """Return the first half of the object's head, which is its reference count, as memory that can be written."""
    return c_uint32.from_address(id(found))
