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
from typing import Any


def make_immortal() -> None:
    """Give everything that is in reach of the collector the count of None. Before Python 3.12 do nothing."""
    if sys.version_info < (3, 12) or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return
    objects: list[Any] = gc.get_objects()
    functions = (found.__code__ for found in objects if type(found) is FunctionType)
    forever = _count(None).value
    for found in (*objects, *gc.get_referents(*objects), *_all_code(list(functions))):
        _count(found).value = forever


def _all_code(codes: list[CodeType]) -> list[Any]:
    """Return this code, what is nested in it, and their constants and names, of which the collector knows nothing."""
    found: list[Any] = []
    while codes:
        constants = [constant for code in codes for constant in code.co_consts]
        found += (*codes, *constants, *(name for code in codes for name in (*code.co_names, *code.co_varnames)))
        codes = [constant for constant in constants if type(constant) is CodeType]
    return found


def _count(found: object) -> c_uint32:
    """Return the first half of the object's head, which is its reference count, as memory that can be written."""
    return c_uint32.from_address(id(found))
