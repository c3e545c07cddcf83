"""How a program in Monty ends: outcomes from the interpreter's value and errors."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic_monty import MontyCrashedError, MontyRuntimeError, MontySyntaxError

from sandbox.host.endings import CALL_LIMIT, Ending, by_processor_time
from sandbox.outcome import Failure, Status

if TYPE_CHECKING:
    from collections.abc import Container

    from pydantic_monty import MontyError

    from sandbox.limits import Limits

#: Length to which texts of the program are cut: a message, the end of a traceback, a line.
_MESSAGE, _TRACEBACK, _LINE = 4_000, 4_000, 200

#: How Monty names sources.
_FILE = re.compile(r"<python-input-\d+>")
_UNSUPPORTED = re.compile(r"The monty syntax parser does not yet support (.*)")
#: Messages of errors that only an exceeded limit raises.
_TIME, _CALLS = "time limit exceeded", "more are not allowed in one execution"

_HINTS = (
    (re.compile(r"'dict' object has no attribute '(\w+)'"), r'this engine reads fields by key: write ["\1"]'),
    (re.compile(r"'RuntimeError' object has no attribute '\w+'"), "in this engine, a ToolError has only str(error)"),
    (re.compile(r".*object can't be awaited"), "write `await` directly before the call"),
    (
        re.compile(r".* cannot suspend in this synchronous context|'Tool' object has no attribute '\w+'"),
        "call tools in a loop or a comprehension, not in a function that is given to map, sorted …",
    ),
    (re.compile(r"No module named .*"), "use one of the modules that this engine has"),
)


def by_error(error: MontyError, limits: Limits, tool_errors: Container[str], *, has_made_all: bool = False) -> Ending:
    """End by an error of the interpreter. `tool_errors` are the messages of the calls that failed.

    `has_made_all`: the program has made as many calls as it may.
    """
    if isinstance(error, MontyCrashedError):
        if error.timed_out or _TIME in str(error):
            return by_processor_time(limits)
        failure = Failure("WorkerCrashed", f"the worker ended before the program did: {error}")
        return Ending(Status.CRASHED, failure=failure)
    exception = error.exception()
    kind, message = type(exception).__name__, str(exception)
    if kind == "TimeoutError" and _TIME in message:
        return by_processor_time(limits)
    shown = message if len(message) <= _MESSAGE else f"{message[:_MESSAGE]} …"
    failure = replace(_placed(error), type=kind, message=shown, hint=_hint(shown))
    if kind == "MemoryError":
        return Ending(Status.OUT_OF_MEMORY, failure=failure, limit="memory_bytes")
    unsupported = _UNSUPPORTED.match(message) if kind == "NotImplementedError" else None
    if unsupported is not None:
        message = f"this engine does not support {unsupported[1]}"
        hint = "write it with functions, loops, comprehensions, try/except and asyncio.gather"
        return Ending(Status.REFUSED, failure=replace(failure, type="PolicyViolation", message=message, hint=hint))
    if isinstance(error, MontySyntaxError):
        return Ending(Status.REFUSED, failure=failure)
    if kind == "RuntimeError" and message in tool_errors:
        failure = replace(failure, type="ToolError")
    if has_made_all and kind == "RuntimeError" and _CALLS in message:
        return Ending(Status.FAILED, failure=replace(failure, type=CALL_LIMIT), limit="calls")
    return Ending(Status.FAILED, failure=failure)


def _placed(error: MontyError) -> Failure:
    """Return a failure with the place of an error in the program."""
    if not isinstance(error, MontyRuntimeError | MontySyntaxError):
        return Failure("", "")
    frame: Any = next(reversed(error.traceback()), None)
    traceback = _FILE.sub("<program>", error.display()[-_TRACEBACK:])
    if frame is None:
        return Failure("", "", traceback=traceback)
    return Failure(
        "", "", line=frame.line, column=frame.column - 1, excerpt=(frame.source_line or "")[:_LINE], traceback=traceback
    )


def _hint(message: str) -> str:
    for pattern, hint in _HINTS:
        match = pattern.fullmatch(message)
        if match is not None:
            return match.expand(hint)
    return ""
