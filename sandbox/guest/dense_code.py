"""The code that every run goes through, side by side in memory.

The interpreter writes to code when it runs it (reference counts, what it remembers of each place), and each page that
is written to is copied. As it was loaded, the code that every run needs lies on almost as many pages as it has
functions. Made anew, piece after piece, it shares pages with its like.
"""

from __future__ import annotations

import gc
import sys
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from types import FrameType

#: The code as it was loaded: freed, it would leave holes, and what a run makes would be spread over them.
_kept: list[CodeType] = []


def make_dense(run: Callable[[], None], modules: Collection[str]) -> list[CodeType]:
    """Make the code anew that `run` goes through, and that of all functions of these modules; returns what was made."""
    needed = _code_of(run)
    gc.unfreeze()  # to find everything
    functions = [found for found in gc.get_objects() if type(found) is FunctionType]
    gc.freeze()
    needed.update((id(found.__code__), found.__code__) for found in functions if found.__module__ in modules)
    _kept.extend(needed.values())
    renewed: dict[int, CodeType] = {}
    functions = [function for function in functions if id(function.__code__) in needed]
    for function in sorted(functions, key=lambda function: sys.getsizeof(function.__code__)):
        function.__code__ = _renew(function.__code__, needed, renewed)
    return list(renewed.values())


def _code_of(run: Callable[[], None]) -> dict[int, CodeType]:
    """Return the code that is run, by its identity."""
    found: dict[int, CodeType] = {}

    def note(frame: FrameType, event: str, argument: Any) -> None:
        found[id(frame.f_code)] = frame.f_code

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return found


def _renew(code: CodeType, needed: dict[int, CodeType], renewed: dict[int, CodeType]) -> CodeType:
    """Return a copy of code that is needed, with copies of what is needed within it; one for all that share it."""
    if id(code) not in needed:
        return code
    if id(code) not in renewed:
        constants = [_renew(each, needed, renewed) if type(each) is CodeType else each for each in code.co_consts]
        renewed[id(code)] = code.replace(co_consts=tuple(constants))
    return renewed[id(code)]
