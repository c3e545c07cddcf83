"""The parts of an outcome as lines for people and models: failures, calls, questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codemode.text.visible import marked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.executions.types.records import PendingCall
    from sandbox import Failure

_ASKS = {"unknown": "what happened to", "input": "answer the service of", "login": "log in for"}


def failure_text(failure: Failure | None) -> str:
    """Return what failed, where, and what to do next."""
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


def question_line(call: PendingCall) -> str:
    """Return one line with everything about a call that waits for a person."""
    if call.damage:
        return f"{call.id}  {call.damage}"
    why = f": {call.reason}" if call.reason else ""
    return f"{call.id}  {_ASKS.get(call.kind, 'approve')} {call_text(call)}  [{call.execution}]{why}"


def call_text(call: PendingCall) -> str:
    """Return a call with its arguments, its host and its account."""
    at = f" at {call.host}" if call.host else ""
    whose = f" as {marked(call.account)}" if call.account else ""
    return f"{call.tool}({listed(call.arguments)}){at}{whose}"


def listed(arguments: Mapping[str, Any]) -> str:
    """Return arguments as they stand in a call, marked: a person decides by them."""
    return marked(", ".join(f"{name}={value!r}" for name, value in arguments.items()))
