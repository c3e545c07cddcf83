"""Every face of an outcome shows every field, or says here why it does not.

A field counts as shown if the face changes with it.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import pytest
from rich.console import Console

from codemode.executions.report.html_report import outcome_page
from codemode.executions.types.ledger import LedgerEntry
from codemode.executions.types.outcome import ExecutionOutcome
from codemode.executions.types.planned import PlannedCall
from codemode.executions.types.records import NewExecution, PendingCall, StoredExecution
from codemode.gateway.call import CallState
from codemode.model.outcome_text import Audience, outcome_data, outcome_text
from codemode.serving.cli import execution_output
from codemode.serving.console.pages.executions import execution_view
from codemode.serving.console.paging import Page
from codemode.serving.console.program_lines import program_lines, searches_of
from codemode.serving.console.rendering import Templates
from codemode.serving.executions import execution_json, outcome_json
from codemode.serving.output import terminal
from codemode.settings import Settings
from sandbox import Failure, JsonText, Refusal, Usage

_CALL = LedgerEntry(
    path="0.1",
    tool="shop.orders.get",
    arguments={"id": 17},
    state=CallState.COMMITTED,
    start_s=0.125,
    duration_s=0.25,
    decision="allow",
    rule="a rule",
    size_bytes=4321,
    preview='{"total": 3}',
    effect="write",
    progress="half way",
)
_FAILED = _CALL._replace(
    path="0.2", state=CallState.FAILED, preview="", error="shop answered 404", repeats="0.0", question="ap_1"
)
_FAILURE = Failure(
    "ToolError", "shop answered 404", 3, 5, "    shop.get()", "look at the id", "line 3, in <program>", ()
)
_REFUSAL = Refusal("import", "os is not available", 4, 2, "use the tools")
_QUESTION = PendingCall(
    id="ap_1",
    execution="ex_1",
    path="0.3",
    tool="shop.pay",
    arguments={"amount": 9},
    digest="digest-1",
    reason="a person looks",
    asked_us=1_700_000_000_125_000,
    by="mia",
    note="a remark",
    value="a value",
    decided_us=1_700_000_060_125_000,
    host="shop.example",
    summary="Pay an order",
    effect="write",
    operation="POST /pay",
    up_to=3,
    grant="ap_0",
    asks={"mode": "form"},
    planned={"amount": 5},
)
_PLANNED = PlannedCall(
    "0.4", "shop.pay #1", "shop.pay", "write", "shop.example", {"amount": 9}, "ask", "a rule", "digest-1", "digest-2"
)
_COMPLETED = ExecutionOutcome(
    "ex_1",
    "completed",
    result={"total": 3},
    has_value=True,
    output="printed text",
    calls=(_CALL,),
    usage=Usage(1.5, 0.5, 7_000_000, 2, 12),
    isolation=("seccomp",),
    notes=("a note",),
    plan="pl_1",
)

#: Outcomes that together have every field.
OUTCOMES = (
    _COMPLETED,
    replace(
        _COMPLETED,
        status="failed",
        has_value=False,
        result=None,
        failure=_FAILURE,
        calls=(_CALL, _FAILED),
        limit="cpu_s",
    ),
    replace(
        _COMPLETED,
        status="refused",
        has_value=False,
        result=None,
        calls=(),
        failure=replace(_FAILURE, type="Refused", refusals=(_REFUSAL,)),
    ),
    replace(
        _COMPLETED,
        status="paused",
        has_value=False,
        result=None,
        calls=(_FAILED._replace(state=CallState.PENDING),),
        pending=(_QUESTION,),
        continuation="sealed",
    ),
    replace(_COMPLETED, planned=(_PLANNED,), calls=(_CALL._replace(state=CallState.PLANNED),)),
)

#: Another value of fields whose values are a list of words.
OTHER_WORDS = {"status": "crashed", "state": "denied", "effect": "destructive", "decision": "deny", "kind": "unknown"}


def leaves(data: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield the fields of JSON data, with their places. Values that programs and tools chose are fields as a whole."""
    if isinstance(data, Mapping) and (not place or place[-1] not in ("value", "arguments", "asks", "planned")):
        for name, value in data.items():
            yield from leaves(value, (*place, name))
    elif isinstance(data, Sequence) and not isinstance(data, str) and data and isinstance(data[0], Mapping):
        for number, value in enumerate(data):
            yield from leaves(value, (*place, number))
    else:
        yield place, data


def other(name: str, value: Any) -> Any:
    """Return another value of a field."""
    if name in OTHER_WORDS:
        return OTHER_WORDS[name]
    match value:
        case None:
            return {"verdict": "approved"}.get(name)
        case bool():
            return not value
        case int() | float():
            return value * 3 + 1
        case str():
            return value.replace("2023-", "2024-") if re.fullmatch(r"2023-.*Z", value) else f"{value} changed"
        case [str() as text, *rest]:
            return [f"{text} changed", *rest]
        case {}:
            return {"changed": 1}
    return value


def with_field(data: Any, place: tuple[Any, ...], value: Any) -> Any:
    """Return JSON data with another value of one field."""
    if not place:
        return value
    if isinstance(data, Mapping):
        return {**data, place[0]: with_field(data[place[0]], place[1:], value)}
    return [with_field(item, place[1:], value) if at == place[0] else item for at, item in enumerate(data)]


def name_of(place: tuple[Any, ...]) -> str:
    return ".".join(part for part in place if isinstance(part, str))


def stored(ended: ExecutionOutcome) -> StoredExecution:
    given = NewExecution(ended.id, "ada", "default", "shop.pay()", b"", 0)
    return StoredExecution(given, ended.status, "", 0, 0, 0, 0, outcome=ended.to_json())


def as_json(data: Any) -> str:
    return json.dumps(data, default=lambda value: value.value if isinstance(value, JsonText) else str(value))


def printed(ended: ExecutionOutcome) -> str:
    text = io.StringIO()
    Console(file=text, width=300, no_color=True).print(terminal.outcome(ended))
    return text.getvalue()


def shown(ended: ExecutionOutcome) -> str:
    width, terminal.console.width = terminal.console.width, 300
    try:
        with terminal.console.capture() as text:
            execution_output.print_execution(execution_json(stored(ended), ended.pending))
    finally:
        terminal.console.width = width
    return text.get()


_TEMPLATES = Templates()


def page(ended: ExecutionOutcome) -> str:
    found = execution_json(stored(ended), ended.pending)
    view = execution_view(found, ended.calls, Page(1, len(ended.calls)), Settings().limits)
    frame = {
        "json_path": "",
        "csrf_header": "",
        "csrf_token": "",
        "csrf_field": "",
        "static": str,
        "sections": [],
        "user": None,
    }
    frame |= {
        "path": lambda *parts, **_: "/".join(map(str, parts)),
        "notice": "",
        "title": "",
        "label": "",
        "calls_waiting": 0,
        "lines": program_lines(stored(ended)),
        "searches": searches_of(found["code"]),
    }
    frame["is_own"] = True
    frame["conversation"] = ""
    return _TEMPLATES.render("executions/execution.html", {**frame, "execution": found, **view})


FACES: dict[str, Callable[[ExecutionOutcome], str]] = {
    "JSON of Python, HTTP and --json": lambda ended: as_json(ended.to_json()),
    "JSON of a stored execution": lambda ended: as_json(outcome_json(stored(ended))),
    "structured result of MCP": lambda ended: as_json(outcome_data(ended, to=Audience(can_resume=True))),
    "text for a model": lambda ended: outcome_text(ended, to=Audience(can_resume=True)),
    "text of a native call": lambda ended: outcome_text(ended, to=Audience(made_a_call=True)),
    "terminal, after a run": printed,
    "terminal, of a stored execution": shown,
    "page of the console": page,
    "HTML file": lambda ended: outcome_page("shop.pay()", ended),
    "notebook": lambda ended: ended._repr_html_(),
}

#: What only programs need: they read the JSON form.
_FOR_PROGRAMS = {
    "output_truncated": "a note says it",
    "isolation": "the same for every program of a server: `codemode doctor` shows it",
    "continuation": "a sealed text of kilobytes for the caller's program, which MCP has in `_meta`",
    "calls.size_bytes": "for accounting",
    "calls.repeats": "a note counts repeated reads",
    "calls.progress": "it is of interest while the call is under way",
    "calls.effect": "the state `read` tells reads from writes",
    "pending.path": "a place in the tree of tasks",
    "pending.digest": "decisions repeat it, people do not read it",
    "pending.asked": "the card has it",
    "pending.verdict": "a pending call has none",
    "pending.by": "a pending call has none",
    "pending.note": "a pending call has none",
    "pending.value": "a pending call has none",
    "pending.decided": "a pending call has none",
    "pending.summary": "the card has it",
    "pending.effect": "the card has it",
    "pending.operation": "the card has it",
    "pending.up_to": "a pending call has none",
    "pending.grant": "a pending call has none",
    "pending.asks": "the card has it, as a form",
    "pending.within": "the card has it",
    "pending.planned": "the card has it",
    "pending.omitted": "of lists of approvals, whose calls may be cut",
}
_OF_FAILURES = {
    "failure.column": "the caret in the excerpt shows it",
    "failure.traceback": "line, excerpt and hint say it shorter",
    "failure.refusals.rule": "a name for programs",
    "failure.refusals.column": "the line is enough",
}
_OF_PLANS = {
    "planned.path": "a place in the tree of tasks",
    "planned.label": "the plan has it",
    "planned.effect": "the plan has it",
    "planned.rule": "the plan has it",
    "planned.digest": "the plan has it",
    "planned.definition": "the plan has it",
}
_TO_MODELS = {
    "limit": "the failure names it",
    "calls.path": "calls are counted by tool and state, since each token is paid for",
    "calls.*_s": "models do not tune programs",
    "calls.decision": "the error of a denied call says it",
    "calls.rule": "the error of a denied call says it",
    "calls.error": "the failure has it, or the program caught it",
    "calls.account": "the call names it, or search says the default",
    "calls.question": "the pending calls have it",
    "usage.*": "models do not tune programs",
    "pending.execution": "it is the id of the outcome",
    "pending.kind": "the reason says it",
    "pending.damage": "for operators",
}
_OF_PICTURES = {
    "limit": "the failure names it",
    "calls.decision": "a page to keep or send shows what happened, and not the policy",
    "calls.rule": "a page to keep or send shows what happened, and not the policy",
    "calls.question": "the pending calls have it",
    "usage.cpu_s": "the time is in the title",
    "usage.peak_memory_bytes": "for operators",
    "usage.calls": "the title counts the calls",
    "usage.output_bytes": "for operators",
}
_OF_TERMINALS = {
    "limit": "the failure names it",
    "calls.path": "tasks stand in lanes",
    "calls.decision": "the error of a denied call says it",
    "calls.rule": "the error of a denied call says it",
    "calls.question": "the pending calls have it",
    "usage.peak_memory_bytes": "for operators: the console has it",
    "usage.calls": "the calls themselves are counted",
    "usage.output_bytes": "for operators: the console has it",
}
_OF_THE_CONSOLE = {
    f"pending.{name}": "the page of the approval, to which this one links"
    for name in ("execution", "arguments", "reason", "host", "account", "damage")
}

#: The fields that each face leaves out, and why.
LEAVES_OUT: dict[str, dict[str, str]] = {
    "JSON of Python, HTTP and --json": {},
    "JSON of a stored execution": {},
    "structured result of MCP": _FOR_PROGRAMS | _TO_MODELS,
    "text for a model": _FOR_PROGRAMS | _OF_FAILURES | _OF_PLANS | _TO_MODELS,
    "text of a native call": _FOR_PROGRAMS
    | _OF_FAILURES
    | _OF_PLANS
    | _TO_MODELS
    | {"id": "a single call is not continued"}
    | {"calls.arguments": "the model gave them", "calls.preview": "the result is the answer"}
    | {f"failure.{name}": "the model wrote no program" for name in ("line", "excerpt", "hint")},
    "terminal, after a run": _FOR_PROGRAMS | _OF_FAILURES | _OF_PLANS | _OF_TERMINALS,
    "terminal, of a stored execution": _FOR_PROGRAMS | _OF_FAILURES | _OF_PLANS | _OF_TERMINALS,
    "page of the console": _FOR_PROGRAMS
    | _OF_FAILURES
    | _OF_PLANS
    | _OF_THE_CONSOLE
    | {"pending.damage": "the approval"},
    "HTML file": _FOR_PROGRAMS | _OF_FAILURES | _OF_PLANS | _OF_PICTURES,
    "notebook": _FOR_PROGRAMS | _OF_FAILURES | _OF_PLANS | _OF_PICTURES | {"id": "the object that is shown has it"},
}


def fields() -> dict[str, list[tuple[ExecutionOutcome, ExecutionOutcome]]]:
    """Return pairs of outcomes that differ in one field, by its name."""
    found: dict[str, list[tuple[ExecutionOutcome, ExecutionOutcome]]] = {}
    for ended in OUTCOMES:
        data = ended.to_json()
        for place, value in leaves(data):
            changed = ExecutionOutcome.from_json(with_field(data, place, other(place[-1], value)))
            pairs = found.setdefault(name_of(place), [])
            if changed != ended:
                pairs.append((ended, changed))
    return found


FIELDS = fields()


def test_the_outcomes_of_this_test_have_every_field() -> None:
    containers = {"failure", "calls", "pending", "planned", "failure.refusals"}
    assert [name for name, pairs in FIELDS.items() if not pairs and name not in containers] == []


@pytest.mark.parametrize("face", FACES)
def test_a_face_leaves_out_no_field_that_it_did_not_decide_to_leave_out(face: str) -> None:
    render = FACES[face]
    usual = {id(ended): render(ended) for ended in OUTCOMES}
    hidden = [
        name
        for name, pairs in FIELDS.items()
        if pairs and all(render(changed) == usual[id(ended)] for ended, changed in pairs)
    ]
    decided = LEAVES_OUT[face]
    assert [name for name in hidden if not any(fnmatchcase(name, pattern) for pattern in decided)] == []
    stale = [
        pattern
        for pattern in decided
        if not [name for name in hidden if fnmatchcase(name, pattern)]
        or [name for name in FIELDS.keys() - hidden if fnmatchcase(name, pattern)]
    ]
    assert stale == [], "shown after all"
