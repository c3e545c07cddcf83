"""The values that plugins see of calls and answers, and the replacement of an answer."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codemode.executions.plugins.plugin import CallAnswer, PluginCall
from codemode.gateway.redaction import Redaction
from codemode.transports.base import Page

if TYPE_CHECKING:
    from codemode.gateway.call import JudgedCall, ToolOutcome


def call_of(judged: JudgedCall) -> PluginCall:
    """Return a judged call as a plugin sees it. The arguments are a copy, so no plugin changes what was judged."""
    tool, ruling, caller = judged.tool, judged.ruling, judged.call.caller
    return PluginCall(
        execution=judged.call.execution,
        path=judged.call.path,
        tool=tool.id if tool is not None else judged.call.tool,
        effect=str(tool.effect) if tool is not None else "",
        arguments=deepcopy(judged.arguments),
        caller=caller.id,
        role=caller.role,
        rule=ruling.rule if ruling is not None else "",
        reason=ruling.reason if ruling is not None else "",
        low_risk=ruling is not None and ruling.low_risk,
    )


def shown_call_of(judged: JudgedCall) -> PluginCall:
    """Return a pending call, also with its arguments without secrets."""
    shown, _ = Redaction(judged.call.caller.secrets).arguments(judged.arguments, judged.tool)
    return replace(call_of(judged), shown=deepcopy(shown))


def answer_of(outcome: ToolOutcome) -> CallAnswer:
    """Return the outcome of a call as a plugin sees it. A page of a list is seen as its whole answer."""
    value = outcome.value.value if isinstance(outcome.value, Page) else outcome.value
    return CallAnswer(outcome.state, value, outcome.error.for_model() if outcome.error is not None else "")


def with_value(outcome: ToolOutcome, value: Any) -> ToolOutcome:
    """Return the outcome with another value.

    Raises ValueError if the call has no value, or if the value is not JSON data or lacks the items of the page.
    """
    if outcome.error is not None:
        raise ValueError("the call has no value to replace")
    try:
        value = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, RecursionError) as error:
        raise ValueError("the new value is not JSON data") from error
    page = outcome.value
    if not isinstance(page, Page):
        return replace(outcome, value=value)
    if page.status:
        return replace(outcome, value=replace(page, value=value))
    path = _path(page.value, page.items)
    if path is None:
        raise ValueError("the items of this page are not a part of its answer, so the answer cannot be replaced")
    items = value
    for key in path:
        items = items.get(key) if isinstance(items, dict) else None
    if not isinstance(items, list):
        raise ValueError("the new value has no list where the items of the page were")
    return replace(outcome, value=replace(page, value=value, items=items))


def _path(value: Any, items: list[Any]) -> tuple[str, ...] | None:
    """Return the keys that lead from an answer to its list of items, or None."""
    if value is items:
        return ()
    for key, part in value.items() if isinstance(value, dict) else ():
        path = _path(part, items)
        if path is not None:
            return (key, *path)
    return None
