"""Every regular expression that meets text of others takes steps in proportion to the text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit import regexes
from tests.unit.regex_steps import Steps, TooManySteps

if TYPE_CHECKING:
    from tests.unit.regexes import Regex

#: Local variables of the expressions that are built within a function, by module and text.
LOCALS: dict[tuple[str, str], dict[str, Any]] = {
    ("codemode.gateway.policy", "translate(pattern)"): {"pattern": "*.a*b*.*c*d*"},
    ("codemode.catalog.next_page", "f'{pattern}/?$'"): {"pattern": "/([^/]+)/a/([^/]+)"},
    ("codemode.sources.overrides", "translate(text)"): {"text": "*/a*b*/*c*d*"},
    ("codemode.serving.agent.figures", 'f"[{separator}\'\\\\s]"'): {"separator": ","},
    (
        "codemode.serving.agent.written_calls",
        "f'(?<![\\\\w.])(?:(?:{roots})\\\\.|(?:search|describe)\\\\()'",
    ): {"roots": "gym|shop"},
    ("codemode.model.json_arguments", "f'(?={quotes}\\\\s*[,}}\\\\]])'"): {"quotes": '"""'},
    ("codemode.text.normal_form", "f'([{re.escape(marks)}]{{{_MARKS}}})'"): {"marks": "\u0301\u0302"},
}

#: Steps at each character of a first text that make it worth longer ones.
SUSPECT = 15

#: Characters of a first text, and of one beyond all bounded repeats; the most steps at each; and by what a text of
#: twice as many may raise them: the square of the length doubles them.
SHORT, LONG, MOST, RAISED = 160, 1_000, 3_000, 1.5

STRANGE = [r"\s+$", r"(a|a)*b", r"<b>.*?</b>", r"(?:ab|a.)*c", r"(?=(a+))b"]


@pytest.fixture(scope="module")
def expressions() -> list[Regex]:
    every, unknown = regexes.regexes(LOCALS)
    assert unknown == [], "add their local variables to LOCALS"
    return every


def matches(counted: Steps, expression: Regex, text: str) -> list[list[tuple[int, int]]]:
    """Use an expression as the product does."""
    return [
        *([] if expression.is_anchored else [counted.matches(text, is_search=True)]),
        *([counted.matches(text, is_search=False)] if "match" in expression.methods else []),
        *([counted.matches(text, is_search=False, is_whole=True)] if "fullmatch" in expression.methods else []),
    ]


def density(counted: Steps, expression: Regex, parts: tuple[str, str, str], length: int) -> float:
    """Return the steps at each character of a text. Raises TooManySteps beyond `MOST`."""
    text = regexes.text_of(expression.pattern, parts, length)
    counted.count, counted.most = 0, MOST * len(text)
    matches(counted, expression, text if isinstance(text, str) else text.decode("latin-1"))
    return counted.count / len(text)


def is_slow(counted: Steps, expression: Regex, parts: tuple[str, str, str]) -> bool:
    try:
        first = density(counted, expression, parts, SHORT)
        return (
            first > SUSPECT
            and density(counted, expression, parts, 2 * SHORT) > RAISED * first
            and density(counted, expression, parts, 2 * LONG) > RAISED * density(counted, expression, parts, LONG)
        )
    except TooManySteps:
        return True


def slow_string(expression: Regex) -> tuple[str, str, str] | None:
    """Return what to repeat, and around it, for a text whose length raises the steps at each character."""
    counted = Steps(expression.pattern)
    hard = regexes.hard_strings(expression.pattern, LONG // 2)
    return next((parts for parts in hard if is_slow(counted, expression, parts)), None)


def test_the_search_for_expressions_finds_them(expressions: list[Regex]) -> None:
    places = {one.place.partition(":")[0] for one in expressions}
    assert {"codemode.text.prose", "codemode.transports.http.answers", "sandbox.protocol.strict_json"} <= places
    assert len(expressions) > 200


@pytest.mark.parametrize("pattern", STRANGE)
def test_a_slow_expression_is_found(pattern: str) -> None:
    expression = regexes.Regex("here", re.compile(pattern, re.MULTILINE), frozenset(("search",)))
    assert slow_string(expression) is not None


def test_a_bounded_expression_is_not_slow() -> None:
    expression = regexes.Regex("here", re.compile(r"[a-z]{0,50}!|(?:a|bb){1,3}c"), frozenset(("search",)))
    assert slow_string(expression) is None


def test_steps_are_counted_on_the_ways_that_re_takes(expressions: list[Regex]) -> None:
    wrong = []
    for one in expressions:
        counted, pattern = Steps(one.pattern), one.pattern
        for parts in regexes.hard_strings(pattern, 10):
            text = regexes.text_of(pattern, parts, 15)
            expected = [
                *([] if one.is_anchored else [list(pattern.finditer(text))]),
                *([[pattern.match(text)]] if "match" in one.methods else []),
                *([[pattern.fullmatch(text)]] if "fullmatch" in one.methods else []),
            ]
            spans = [[each.span() for each in every if each] for every in expected]
            if spans != matches(counted, one, text if isinstance(text, str) else text.decode("latin-1")):
                wrong.append((one.place, text))
    assert wrong == []


@pytest.mark.timeout(900)  # it takes two minutes, and longer on a busy machine
def test_an_expression_takes_steps_in_proportion_to_the_text(expressions: list[Regex]) -> None:
    assert {one.place: parts for one in expressions if (parts := slow_string(one)) is not None} == {}
