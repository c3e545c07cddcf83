"""Run a step of the lockdown in a child of its own, which it cannot leave, and hand back what became of it.

A locked child can open no file, so when coverage is measured it tells over its pipe which lines it went through.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

try:
    from coverage import Coverage
except ImportError:  # the group of tests has it; a bare installation does not
    Coverage = None  # type: ignore[assignment,misc]

from sandbox.isolation.descriptors import CHANNEL

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_MEASURED = str(Path(__file__).parents[4] / "sandbox" / "isolation")

#: A test may put something else in its place.
_end = os._exit

Arcs = dict[str, set[tuple[int, int]]]


def in_child(work: Callable[[], Any]) -> Any:
    """Fork, do `work`, and return what it returned (JSON data), or raise what it raised (an OSError).

    The child tells it over descriptor 3, the place of the channel, which the steps that close descriptors keep.
    """
    coverage = Coverage.current() if Coverage is not None else None
    reading, writing = os.pipe()
    process = _fork()
    if not process:
        os.dup2(writing, CHANNEL)
        _be_child(work, is_measured=coverage is not None)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        text = told.read()
    _, status = os.waitpid(process, 0)
    assert text, f"the child ended without a word, with status {status}"
    answer = json.loads(text)
    if coverage is not None:
        coverage.get_data().add_arcs({file: [tuple(arc) for arc in arcs] for file, arcs in answer["arcs"].items()})
    if answer["errno"] is not None:
        raise OSError(answer["errno"], answer["error"])
    assert not answer["error"], answer["error"]
    return answer["result"]


def _fork() -> int:
    """Fork with Python's hooks: pytest has threads, and one may hold the interpreter's own locks at this moment."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _be_child(work: Callable[[], Any], *, is_measured: bool) -> None:
    arcs: Arcs = {}
    answer: dict[str, Any] = {"result": None, "error": "", "errno": None}
    try:
        if is_measured:
            sys.settrace(_tracer(arcs))
        answer["result"] = work()
    except OSError as error:
        answer |= {"errno": error.errno, "error": error.strerror}
    except BaseException as error:  # noqa: BLE001 - told to the parent, which fails
        answer["error"] = repr(error)
    finally:
        sys.settrace(None)
        answer["arcs"] = {file: sorted(found) for file, found in arcs.items()}
        text = memoryview(json.dumps(answer).encode())
        while text:
            text = text[os.write(CHANNEL, text) :]
        _end(0)


def _tracer(arcs: Arcs) -> Callable[[FrameType, str, Any], Any]:
    """Note from which line to which each function of what is measured goes, as coverage does."""

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(_MEASURED):
            return None
        found = arcs.setdefault(code.co_filename, set())
        last = -code.co_firstlineno

        def trace_lines(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal last
            if event == "line":
                found.add((last, frame.f_lineno))
                last = frame.f_lineno
            elif event == "return":
                found.add((last, -code.co_firstlineno))
            return trace_lines

        return trace_lines

    return trace
