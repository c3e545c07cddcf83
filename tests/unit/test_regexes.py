"""Every regular expression that meets text of others takes time in proportion to the text."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit import regexes

if TYPE_CHECKING:
    from tests.unit.regexes import Regex

#: Local variables of the expressions that are built within a function, by module and text.
LOCALS: dict[tuple[str, str], dict[str, Any]] = {
    ("codemode.gateway.policy", "translate(pattern)"): {"pattern": "*.a*b*.*c*d*"},
    ("codemode.sources.overrides", "translate(text)"): {"text": "*/a*b*/*c*d*"},
    ("codemode.serving.agent.figures", 'f"[{separator}\'\\\\s]"'): {"separator": ","},
    (
        "codemode.serving.agent.written_calls",
        "f'(?<![\\\\w.])(?:(?:{roots})\\\\.|(?:search|describe)\\\\()'",
    ): {"roots": "gym|shop"},
    ("codemode.model.json_arguments", "f'(?={quotes}\\\\s*[,}}\\\\]])'"): {"quotes": '"""'},
    ("codemode.text.normal_form", "f'([{re.escape(marks)}]{{{_MARKS}}})'"): {"marks": "\u0301\u0302"},
}

#: Characters of a first attempt, and of the one that decides.
SHORT, LONG = 1_000, 6_000

#: Most time, as a multiple of that for one step at each character.
MOST = 12

EXPRESSIONS, UNKNOWN = regexes.regexes(LOCALS)
STEPPING = re.compile(r"[a-z]", re.ASCII)


def spent_s(expression: Regex, text: Any) -> float:
    begun = time.process_time()
    regexes.use(expression, text)
    return time.process_time() - begun


def step_s(length: int) -> float:
    text = "a" * length
    times = []
    for _ in range(5):
        begun = time.process_time()
        for _ in STEPPING.finditer(text):
            pass
        times.append(time.process_time() - begun)
    return min(times)


def slow_string(expression: Regex) -> tuple[str, str, str] | None:
    """Return a string for which an expression takes longer than `MOST` allows: what is repeated, and around it."""
    one, whole = step_s(SHORT), step_s(LONG)
    for parts in regexes.hard_strings(expression.pattern, LONG // 2):
        text = regexes.text_of(expression.pattern, parts, SHORT)
        if spent_s(expression, text) > 2 * one * max(1, len(text) / SHORT):
            text = regexes.text_of(expression.pattern, parts, LONG)
            most = MOST * whole * len(text) / LONG
            if all(spent_s(expression, text) > most for _ in range(3)):
                return parts
    return None


def test_the_search_for_expressions_finds_them() -> None:
    assert UNKNOWN == [], "add their local variables to LOCALS"
    places = {one.place.partition(":")[0] for one in EXPRESSIONS}
    assert {"codemode.text.prose", "codemode.transports.http.answers", "sandbox.protocol.strict_json"} <= places
    assert len(EXPRESSIONS) > 200


@pytest.mark.parametrize("pattern", [r"\s+$", r"(a|a)*b", r"<b>.*?</b>"])
def test_a_slow_expression_is_found(pattern: str) -> None:
    expression = regexes.Regex("here", re.compile(pattern, re.MULTILINE), frozenset(("search",)))
    if pattern == r"(a|a)*b":
        text = "a" * 18  # it doubles with each character
        assert spent_s(expression, text) > MOST * step_s(len(text))
    else:
        assert slow_string(expression) is not None


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=lambda one: one.place)
def test_an_expression_takes_time_in_proportion_to_the_text(expression: Regex) -> None:
    assert slow_string(expression) is None
