"""An outcome as the text that a model reads: what it asked for first, and all it needs to go on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from codemode.gateway.call import CallState

if TYPE_CHECKING:
    from codemode.executions.execution import ExecutionOutcome

#: Characters of a result, and of an output, that go to a model: some 5,000 tokens. A program can return less.
SHOWN_CHARACTERS = 20_000

#: Calls that are named one by one where the program did not complete.
_NAMED = 10


def outcome_text(ended: ExecutionOutcome, limit: int = SHOWN_CHARACTERS) -> str:
    """Result, output, failure with what to do, what was done by then, and notes; each part only where there is one."""
    parts = [] if ended.ok else [f"{ended.status}: {failure_text(ended)}" if ended.failure else str(ended.status)]
    if ended.has_value:
        parts.append(_cut(json.dumps(ended.value, ensure_ascii=False), limit, "return less of it"))
    if ended.output:
        printed = _cut(ended.output.rstrip("\n"), limit, "print less")
        parts.append(f"printed:\n{printed}" if ended.has_value or not ended.ok else printed)
    if not ended.ok and ended.calls:
        parts.append(_done(ended))
    parts += [f"note: {note}" for note in ended.notes]
    return "\n".join(parts) or "completed without a result: end the program with an expression"


def failure_text(ended: ExecutionOutcome) -> str:
    """The failure of an outcome as a reader wants it: what, where, what to do."""
    failure = ended.failure
    if failure is None:
        return ""
    if failure.refusals:
        lines = ["refused before anything ran"]
        for refusal in failure.refusals:
            lines += [f"line {refusal.line}: {refusal.message}", *([f"    {refusal.hint}"] if refusal.hint else [])]
        return "\n".join(lines)
    where = "" if failure.line is None else f" (line {failure.line})"
    lines = [f"{failure.type}: {failure.message}{where}"]
    lines += [part for part in (failure.excerpt, failure.hint and f"hint: {failure.hint}") if part]
    return "\n".join(lines)


def _done(ended: ExecutionOutcome) -> str:
    """What happened before the end: a model that does it all again would do it twice."""
    lines = [f"{call.tool} {call.state}" for call in ended.calls[:_NAMED] if call.state is not CallState.FAILED]
    more = len(ended.calls) - _NAMED
    return "calls made: " + ", ".join([*lines, *([f"and {more} more"] if more > 0 else [])]) if lines else ""


def _cut(text: str, limit: int, advice: str) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit:,} more characters: {advice})"
