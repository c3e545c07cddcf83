"""An outcome as the text that a model reads: what it asked for first, and all it needs to go on."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from codemode.gateway.call import CallState
from sandbox import JsonText

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.executions.execution import ExecutionOutcome

#: Characters of a result, and of an output, that go to a model: some 5,000 tokens. A program can return less.
SHOWN_CHARACTERS = 20_000

#: Bytes of a character, at most: an escape.
_MOST_BYTES = 6

#: Calls that are named one by one where the program did not complete.
_NAMED = 10


def outcome_text(ended: ExecutionOutcome, limit: int = SHOWN_CHARACTERS, *, can_resume: bool = False) -> str:
    """Result, output, failure with what to do, what was done by then, and notes; each part only where there is one.

    `can_resume` is whether the execution was recorded: then it can be repaired, and go on.
    """
    return (
        _said(ended, limit, can_resume=can_resume) or "completed without a result: end the program with an expression"
    )


def outcome_data(ended: ExecutionOutcome, limit: int = SHOWN_CHARACTERS, *, can_resume: bool = False) -> dict[str, Any]:
    """The same as data, and no longer than the text: some clients give a model this instead.

    `id`, `status`; `value`, where it is within the limit; `failure`; `calls`, by tool and state with their number; and
    as `text` what else the text says: the output, what to do next, notes, and the begin of a value that is too long.
    """
    fits = ended.has_value and len(_value_text(ended, limit)) <= limit
    data: dict[str, Any] = {"id": ended.id, "status": str(ended.status)}
    if fits:
        data["value"] = ended.value
    if ended.failure is not None:
        data["failure"] = {name: value for name, value in asdict(ended.failure).items() if value}
    if ended.calls:
        counted = Counter((call.tool, str(call.state)) for call in ended.calls)
        data["calls"] = [{"tool": tool, "state": state, "count": n} for (tool, state), n in counted.items()]
    rest = replace(ended, has_value=ended.has_value and not fits, failure=None)
    said = _said(rest, limit, can_resume=can_resume)
    return data | ({"text": said} if said not in ("", data["status"]) else {})


def _said(ended: ExecutionOutcome, limit: int, *, can_resume: bool) -> str:
    parts = [] if ended.ok else [f"{ended.status}: {failure_text(ended)}" if ended.failure else str(ended.status)]
    if ended.has_value:
        parts.append(_cut(_value_text(ended, limit), limit, "return less of it"))
    if ended.output:
        printed = _cut(ended.output.rstrip("\n"), limit, "print less")
        parts.append(f"printed:\n{printed}" if ended.has_value or not ended.ok else printed)
    if not ended.ok and ended.calls:
        parts.append(_done(ended, can_resume=can_resume))
    if ended.status == "paused":
        parts.append(_waits(ended))
    parts += [f"note: {note}" for note in ended.notes]
    return "\n".join(part for part in parts if part)


def _value_text(ended: ExecutionOutcome, limit: int) -> str:
    """The result as a model reads it; of a large one, of which only the begin is shown, the text as it came."""
    result = ended.result
    if type(result) is JsonText and len(result.data) > _MOST_BYTES * limit:
        return result.data.decode()
    return json.dumps(ended.value, ensure_ascii=False)


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


def _done(ended: ExecutionOutcome, *, can_resume: bool) -> str:
    """What happened before the end: a model that does it all again would do it twice."""
    lines = [f"{call.tool} {call.state}" for call in ended.calls[:_NAMED] if call.state is not CallState.FAILED]
    if not lines:
        return ""
    more = len(ended.calls) - _NAMED
    made = "calls made: " + ", ".join([*lines, *([f"and {more} more"] if more > 0 else [])])
    if not can_resume or ended.status == "paused":
        return made
    return f"{made}\nnot to repeat them, send the corrected program with resume_from={ended.id!r}"


def _waits(ended: ExecutionOutcome) -> str:
    """What a paused execution waits for, and how it goes on."""
    asked = [
        f"{call.tool}({_shown(call.arguments)}){f' at {call.host}' if call.host else ''}: {call.reason}"
        for call in ended.pending[:_NAMED]
    ]
    calls = "\n".join(["a person decides on:", *asked]) if asked else "it waits"
    return f"{calls}\nonce that is done, go on with execute(code='', resume_from={ended.id!r}); do not run it again"


def _shown(arguments: Mapping[str, Any]) -> str:
    return _cut(", ".join(f"{name}={value!r}" for name, value in arguments.items()), 300, "shortened")


def _cut(text: str, limit: int, advice: str) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit:,} more characters: {advice})"
