"""The code that every run goes through, side by side in memory.

The interpreter writes to code when it runs it (reference counts, what it remembers of each place), and each page that
is written to is copied. As it was loaded, the code that every run needs lies on almost as many pages as it has
functions. Made anew, piece after piece, it shares pages with its like.
"""

from __future__ import annotations

import gc
import os
import sys
from array import array
from contextlib import suppress
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from sandbox.isolation.kernel import fork

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable
    from types import FrameType

#: The code as it was loaded: freed, it would leave holes, and what a run makes would be spread over them.
_kept: list[CodeType] = []


def make_dense(runs: Iterable[Callable[[], None]], modules: Collection[str]) -> list[CodeType]:
    """Make the code anew that these go through, one behind the other, and return what was made.

    With the first comes that of all functions of `modules`.
    """
    needed: dict[int, int] = {}  # code, by its identity: the place of the run that needs it
    for place, run in enumerate(runs):
        for code in _code_of(run):
            needed.setdefault(code, place)
    gc.unfreeze()  # to find everything
    functions = [found for found in gc.get_objects() if type(found) is FunctionType]
    gc.freeze()
    needed.update((id(found.__code__), 0) for found in functions if found.__module__ in modules)
    renewed: dict[int, CodeType] = {}
    functions = [function for function in functions if id(function.__code__) in needed]
    for function in sorted(functions, key=lambda each: (needed[id(each.__code__)], sys.getsizeof(each.__code__))):
        function.__code__ = _renew(function.__code__, needed, renewed)
    return list(renewed.values())


def _code_of(run: Callable[[], None]) -> set[int]:
    """Return the identities of the code that is run.

    It is run in a child: where code was watched once, the interpreter writes to all code when it is run the next time.
    """
    reading, writing = os.pipe()
    child = fork()
    if not child:
        try:
            os.write(writing, array("Q", _watched(run)).tobytes())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        found = array("Q", told.read())
    with suppress(ChildProcessError):  # whoever started this process ignores the ends of children
        os.waitpid(child, 0)
    return set(found)


def _watched(run: Callable[[], None]) -> set[int]:
    found = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        found.add(id(frame.f_code))

    sys.setprofile(note)
    run()
    return found


def _renew(code: CodeType, needed: Container[int], renewed: dict[int, CodeType]) -> CodeType:
    """Return a copy of code that is needed, with copies of what is needed within it; one for all that share it."""
    if id(code) not in needed:
        return code
    if id(code) not in renewed:
        constants = [_renew(each, needed, renewed) if type(each) is CodeType else each for each in code.co_consts]
        renewed[id(code)] = code.replace(co_consts=tuple(constants))
        _kept.append(code)
    return renewed[id(code)]
