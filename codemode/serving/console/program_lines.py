"""A program as lines, of which some fail or wait."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from codemode.text.program_title import program_title

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codemode.executions.types.records import StoredExecution


#: Lines of a program in brief.
_LINES = 3

_SEARCHES = 10  # of one program
_SEARCH = re.compile(r"(?<![\w.])search\(([^()]{1,2000})\)")
_TEXT = re.compile(r"""(?<![=\w])(?:"([^"\\\n]{1,200})"|'([^'\\\n]{1,200})')""")  # no value of a named argument


class ProgramLine(NamedTuple):
    """A line, and what it is: `failing`, `waiting`, or ""."""

    text: str
    mark: str


class WaitingProgram(NamedTuple):
    """What a program does, in one line, and its lines that wait, with their numbers."""

    title: str
    waiting: tuple[tuple[int, str], ...]


def waiting_program(stored: StoredExecution) -> WaitingProgram:
    """Return a program in brief: its first three lines that wait."""
    lines = enumerate(program_lines(stored), 1)
    waiting = [(number, line.text.strip()) for number, line in lines if line.mark == "waiting"]
    return WaitingProgram(program_title(stored.request.code), tuple(waiting[:_LINES]))


def program_lines(stored: StoredExecution) -> list[ProgramLine]:
    """Return the lines of an execution's program. Those that make a call that waits are `waiting`."""
    lines = stored.request.code.removesuffix("\n").split("\n")
    outcome = stored.outcome or {}
    if stored.status == "paused":
        waiting = tuple(f"{call['tool']}(" for call in outcome.get("pending", ()))
        return [ProgramLine(line, "waiting" if any(call in line for call in waiting) else "") for line in lines]
    failure = outcome.get("failure") or {}
    failing = {failure.get("line"), *(refusal["line"] for refusal in failure.get("refusals") or ())}
    return [ProgramLine(line, "failing" if number in failing else "") for number, line in enumerate(lines, 1)]


def searches_of(code: str) -> list[str]:
    """Return the first searches that a program writes out, each as one query a line."""
    return list(islice(dict.fromkeys(_written_searches(code)), _SEARCHES))


def _written_searches(code: str) -> Iterator[str]:
    for call in _SEARCH.finditer(code):
        texts = [double or single for double, single in _TEXT.findall(call[1].replace("queries=", ""))]
        if texts:
            yield "\n".join(texts)
