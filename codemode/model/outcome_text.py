"""An outcome as text for a model: the requested result first, then everything needed to continue."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from codemode.catalog.tool import Effect
from codemode.errors import ApprovalRequired
from codemode.executions.life.repeats import repeats, times
from codemode.executions.run.partial_lists import without_advice
from codemode.executions.types.handles import handle_of
from codemode.executions.types.outcome_lines import failure_text
from codemode.gateway.call import CallState
from codemode.text.counted import counted
from codemode.text.safe_integers import NOTE, safe_integers
from codemode.text.shortened_lines import shortened_lines
from codemode.text.shrunk_json import shrink
from sandbox import JsonText

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codemode.executions.plugins.hooks import Hooks
    from codemode.executions.types.ledger import LedgerEntry
    from codemode.executions.types.outcome import ExecutionOutcome

#: Characters of a result or an output shown to a model: about 1,500 tokens. A program can return less.
SHOWN_CHARACTERS = 6_000

#: Maximum bytes that JSON needs for one character: a `\uXXXX` escape.
_MOST_BYTES = 6

#: Calls of a dry run that are listed, and the characters of each.
_PLANNED, _PLANNED_CHARACTERS = 50, 300

#: Tools listed with their calls when the program did not complete.
_NAMED = 10

#: Characters of all answers that are shown of a program that did not complete, and of the arguments of one call.
_ANSWERS_CHARACTERS, _ARGUMENTS_CHARACTERS = 2_000, 80


@dataclass(frozen=True, slots=True)
class Audience:
    """What the reader of an outcome can do about it.

    `can_resume`: the execution was recorded, and `execute` continues or repairs it. `made_a_call`: the reader called
    one tool and wrote no program. `ways` says how a person decides on pending calls. `runs_programs`: the reader can
    load a whole result in a program.
    """

    can_resume: bool = False
    made_a_call: bool = False
    ways: str = ""
    runs_programs: bool = True


#: A reader who cannot do anything about an outcome.
READER = Audience()


def outcome_text(ended: ExecutionOutcome, limit: int = SHOWN_CHARACTERS, *, to: Audience = READER) -> str:
    """Return result, output, failure with a hint, calls made and notes. Empty parts are left out.

    For a single call, what concerns programs is left out: lines, hints, and how to repair them.
    """
    ended = _without_stale_hint(ended)
    if not to.made_a_call:
        parts = (_receipt(ended, to), _parts_text(ended, limit, to))
        return "\n".join(filter(None, parts)) or "completed without a result: end the program with an expression"
    failure = ended.failure and replace(ended.failure, line=None, excerpt="", hint="")
    return _parts_text(replace(ended, failure=failure), limit, to) or "done"


def outcome_data(ended: ExecutionOutcome, limit: int = SHOWN_CHARACTERS, *, to: Audience = READER) -> dict[str, Any]:
    """Return the outcome as data, for clients that show a model structured content instead of the text.

    Keys: `id` and `status`; `value`, of which `shortened` lists what a value over the limit lacks; `failure`; `calls`,
    counted by tool and state; `planned`, the calls that a dry run listed, and `plan`, the id of their list. `text`
    holds what remains of `outcome_text`: output, next step, notes. Integers that clients in JavaScript would round are
    text, with a note.
    """
    ended = _without_stale_hint(ended)
    data: dict[str, Any] = {"id": ended.id, "status": str(ended.status)}
    if ended.has_value:
        shown, cuts = _shown_value(ended, limit)
        data["value"] = json.loads(shown)
        data |= {"shortened": list(cuts), "whole": handle_of(ended.id)} if cuts else {}
    if ended.failure is not None:
        data["failure"] = {name: value for name, value in asdict(ended.failure).items() if value}
    if ended.calls:
        counted = Counter((call.tool, str(call.state)) for call in ended.calls)
        data["calls"] = [{"tool": tool, "state": state, "count": n} for (tool, state), n in counted.items()]
    if ended.planned:
        data["planned"] = [asdict(call) for call in ended.planned[:_PLANNED]]
    if ended.plan:
        data["plan"] = ended.plan
    rest = replace(ended, has_value=False, failure=None, planned=ended.planned[_PLANNED:])
    text = "\n".join(filter(None, (_receipt(ended, to), _parts_text(rest, limit, to))))
    safe: dict[str, Any] = safe_integers(data)
    rest_text = [text] if text not in ("", data["status"]) else []
    if safe is not data:
        rest_text.append(f"note: {NOTE}")
    return {**safe, "text": "\n".join(rest_text)} if rest_text else safe


def shown_to_model(ended: ExecutionOutcome, hooks: Hooks, to: Audience) -> tuple[str, dict[str, Any]]:
    """Return `outcome_text` and `outcome_data` as the plugins format them.

    If a plugin changes the text, the data has it in the place of the value, failure and calls.
    """
    default = outcome_text(ended, to=to)
    text = hooks.text(ended, default)
    if text == default:
        return text, outcome_data(ended, to=to)
    return text, {"id": ended.id, "status": str(ended.status), "text": text}


def _without_stale_hint(ended: ExecutionOutcome) -> ExecutionOutcome:
    """Return the outcome without the hint that a person must decide, if no call waits any more."""
    failure = ended.failure
    if ended.pending or failure is None or failure.type != ApprovalRequired.__name__:
        return ended
    hint = "nobody decided in time: if it is still wanted, run it again" if ended.status == "expired" else ""
    return replace(ended, failure=replace(failure, hint=hint))


def _parts_text(ended: ExecutionOutcome, limit: int, to: Audience) -> str:
    parts = (
        [] if ended.ok else [f"{ended.status}: {failure_text(ended.failure)}" if ended.failure else str(ended.status)]
    )
    if ended.output:
        printed = shortened_lines(ended.output.rstrip("\n"), limit, "print less")
        parts.append(f"printed:\n{printed}" if ended.has_value or not ended.ok else printed)
    if ended.has_value:
        shown, cuts = _shown_value(ended, limit)
        handle = handle_of(ended.id)
        whole = (
            f"load({handle!r}) in the next program is the whole result"
            if to.runs_programs
            else f"load_result(handle={handle!r}, path=…, start=…) shows the rest of a part"
        )
        parts += [f"result: {shown}" if ended.output else shown]
        parts += [f"shortened: {'; '.join(cuts)}. {whole}"] if cuts else []
    if not ended.ok and ended.calls:
        parts.append(_done(ended, can_resume=to.can_resume and not to.made_a_call))
    if ended.status == "paused":
        parts.append(_waits(ended, to))
    if ended.status in ("queued", "running"):
        parts.append(f"it goes on; wait for it with {_continuing(ended)}")
    if ended.planned:
        parts.append(_planned(ended))
    if ended.plan and any(call.state is CallState.PLANNED for call in ended.calls):
        parts.append(_next_of_plan(ended.plan))
    parts += [f"note: {note if to.runs_programs else without_advice(note)}" for note in ended.notes]
    return "\n".join(part for part in parts if part)


def _shown_value(ended: ExecutionOutcome, limit: int) -> tuple[str, tuple[str, ...]]:
    """Return the result as JSON text, and what it lacks if it is over the limit."""
    result = ended.result
    data = result.data if isinstance(result, JsonText) else json.dumps(result, ensure_ascii=False).encode()
    if len(data) <= _MOST_BYTES * limit:
        text = json.dumps(ended.value, ensure_ascii=False)
        if len(text) <= limit:
            return text, ()
    return shrink(data, limit)


def _receipt(ended: ExecutionOutcome, to: Audience) -> str:
    """Say what a program did that completed without a result, so that a model does not do it again to get one."""
    made = [call for call in ended.calls if call.state in (CallState.COMMITTED, CallState.READ, CallState.UNKNOWN)]
    if not made or not ended.ok or ended.has_value or ended.output or to.made_a_call:
        return ""
    counts = []
    for is_read, word in ((False, "write"), (True, "read")):
        calls = [call for call in made if (call.effect == Effect.READ) is is_read]
        if calls:
            named = ", ".join(f"{group[0].tool} {times(len(group))}".rstrip() for group in repeats(calls)[:_NAMED])
            counts.append(f"{counted(len(calls), word)} made ({named})")
    receipt = f"completed: {', '.join(counts)}; the last expression was None"
    is_lost = any(call.preview not in ("", "null") for call in made)
    if not is_lost or not to.can_resume:
        return receipt
    again = f"send the program with an expression as its last line and resume_from={ended.id!r}"
    return f"{receipt}\nto see what the calls answered, do not make them again: {again}"


def _done(ended: ExecutionOutcome, *, can_resume: bool) -> str:
    """List the calls already made, so that a model does not repeat them."""
    groups = repeats(call for call in ended.calls if call.state is not CallState.FAILED)
    if not groups:
        return ""
    lines = [f"{group[0].tool} {group[0].shown_state} {times(len(group))}".rstrip() for group in groups]
    more = [f"and {len(lines) - _NAMED} more tools"] if len(lines) > _NAMED else []
    made = "calls made: " + ", ".join([*lines[:_NAMED], *more])
    if not can_resume or ended.status == "paused":
        return made
    skip = f"to skip them, send the corrected program with resume_from={ended.id!r}"
    return "\n".join([made, *_answers(ended.calls), skip])


def _answers(calls: Sequence[LedgerEntry]) -> list[str]:
    """Return the beginnings of the answers that the program got before it failed, or that came too late for it."""
    answered = [call for call in calls if call.preview and call.state in (CallState.COMMITTED, CallState.READ)]
    lines, left = ["they answered:"], _ANSWERS_CHARACTERS
    for call in answered:
        line = f"  {call.tool}({_cut(_listed(call.arguments), _ARGUMENTS_CHARACTERS)}) -> {call.preview}"
        left -= len(line)
        if left < 0:
            return [*lines, f"  and {len(answered) - len(lines) + 1} more"]
        lines.append(line)
    return lines if answered else []


def _planned(ended: ExecutionOutcome) -> str:
    """List the calls of a dry run with the policy's decision on each."""
    shown = [_cut(str(call), _PLANNED_CHARACTERS, "shortened") for call in ended.planned[:_PLANNED]]
    more = [f"and {len(ended.planned) - _PLANNED} more"] if len(ended.planned) > _PLANNED else []
    return "\n".join(["planned, not sent:", *shown, *more])


def _next_of_plan(plan: str) -> str:
    """Say how the list of a dry run can be approved as a whole, and then run."""
    return f"{plan} is this list: once a person has approved it, run it with execute(code='', resume_from={plan!r})"


def _waits(ended: ExecutionOutcome, to: Audience) -> str:
    """Describe what a paused execution waits for, who decides where, and how to continue it."""
    asked = [
        f"{call.id} {call.tool}({_shown(call.arguments)}){f' at {call.host}' if call.host else ''}"
        f"{f' as {call.account}' if call.account else ''}: {call.reason}"
        for call in ended.pending[:_NAMED]
    ]
    is_login = all(call.kind == "login" for call in ended.pending)
    first = "the user must log in, then the program goes on:" if is_login else "a person must decide on:"
    lines = [first, *asked] if asked else ["waiting"]
    lines += [to.ways] if asked and to.ways else []
    if to.made_a_call and not to.can_resume:
        return "\n".join([*lines, "do not make the call again: tell the user that it waits for a decision"])
    go_on = f"afterwards, continue with {_continuing(ended)}"
    return "\n".join([*lines, f"{go_on}; do not run it again (dry_run=True only shows its state)"])


def _continuing(ended: ExecutionOutcome) -> str:
    return f"execute(code='', resume_from={ended.id!r})"


def _shown(arguments: Mapping[str, Any]) -> str:
    return _cut(_listed(arguments), 300, "shortened")


def _listed(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())


def _cut(text: str, limit: int, advice: str = "") -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit:,} more characters: {advice})" if advice else f"{text[:limit]}…"
