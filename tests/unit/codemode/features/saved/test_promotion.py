"""Promotion: parameters replace literals, and tools and effect come from the calls."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.catalog.catalog import Catalog
from codemode.catalog.tool import Effect, Tool
from codemode.executions.types.promotion import Promotion
from codemode.executions.types.records import NewExecution, StoredExecution
from codemode.executions.types.saving_errors import SavingRefused
from codemode.features.saved.promotion import completed, draft
from sandbox import CallSite

CODE = 'days = 30  # a month\nword = "hi"\nfor n in [1]:\n    days2 = days\ngym.list(days=days, word=word)\n'


def stored(code: str = CODE, status: Any = "completed", value: Any = None) -> StoredExecution:
    given = NewExecution("ex_1", "ann", "default", code, b"", 0)
    return StoredExecution(given, status, "", 0, 0, 0, 0, outcome={"value": value})


def site(name: str) -> CallSite:
    return CallSite(name, (), 0, False, 1, 0)


def test_a_parameter_takes_the_place_of_the_line_that_sets_it() -> None:
    wanted = {"days": {"default": 30}, "word": {}}
    program = draft(Promotion("ex_1", "absent", "Who.", wanted), stored(value=[{"id": 1}]), None)
    assert program.code == "for n in [1]:\n    days2 = days\ngym.list(days=days, word=word)\n"
    assert program.parameters == {
        "days": {"type": "integer", "default": 30},
        "word": {"type": "string", "examples": ["hi"]},
    }
    assert (program.version, program.returns["type"]) == (1, "array")
    again = draft(Promotion("ex_1", "absent", "Who.", wanted), stored(), program)
    assert again.version == 2


@pytest.mark.parametrize(
    ("promotion", "execution", "reason"),
    [
        (Promotion("ex_1", "Bad-Name", "x"), stored(), "'Bad-Name' is no name of a program"),
        (Promotion("ex_1", "a", "  "), stored(), "needs a description"),
        (Promotion("ex_1", "a", "x"), stored(status="failed"), "ex_1 is failed: only a completed execution"),
        (
            Promotion("ex_1", "a", "x", {"dayz": {}}),
            stored(),
            "no line `dayz = …` that the parameter dayz could",
        ),
        (Promotion("ex_1", "a", "x", {"d": {}}), stored("d = 1\nd = 2"), "sets d in 2 lines"),
        (Promotion("ex_1", "a", "x", {"d": {}}), stored("d = f(1)"), "sets d to f(1): a parameter replaces a literal"),
        (Promotion("ex_1", "a", "x", {"d": {"type": "no"}}), stored("d = 1"), "not a JSON Schema"),
    ],
)
def test_what_cannot_be_saved_is_refused_with_its_reason(
    promotion: Promotion, execution: StoredExecution, reason: str
) -> None:
    with pytest.raises(SavingRefused) as refused:
        draft(promotion, execution, None)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("literal", "value"),
    [("-1.5", -1.5), ("True", True), ("None", None), ("'x y'", "x y"), ("[1, 'a']", [1, "a"]), ("{'a': 1}", {"a": 1})],
)
def test_literals_are_read(literal: str, value: Any) -> None:
    program = draft(Promotion("ex_1", "a", "x", {"d": {}}), stored(f"d = {literal}\nd"), None)
    assert program.parameters["d"]["examples"] == [value]


def test_tools_and_effect_are_those_of_the_source_and_of_the_execution() -> None:
    catalog = Catalog(
        [Tool("gym.list", source="gym", effect=Effect.READ), Tool("gym.drop", source="gym", effect=Effect.DESTRUCTIVE)]
    )
    program = draft(Promotion("ex_1", "absent", "Who."), stored(), None)
    whole = completed(program, [site("gym.list"), site("gym.unknown")], ["gym.drop", "search"], catalog)
    assert (whole.tools, whole.effect) == (("gym.drop", "gym.list"), Effect.DESTRUCTIVE)
    assert completed(program, [], [], catalog).effect is Effect.READ
