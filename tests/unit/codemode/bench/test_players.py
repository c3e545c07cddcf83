"""Calls written in a refused program are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.bench.players import Phases, written_tool_calls
from codemode.serving.agent.events import Asked, CallEnded, CallStarted, Repaired, TextDelta

if TYPE_CHECKING:
    from codemode.serving.agent.events import Event


@pytest.mark.parametrize(
    ("program", "calls"),
    [
        ("shop.pay(to=1)", 1),
        ("a = shop.orders.all()\nshop.pay(to=a[0])", 2),
        ("tools.shop.pay(to=1)", 1),
        ("workshop.pay()\nself.shop.pay()\nprint(shop)", 0),
        ("await shop.pay(to=shop.me())", 2),
        ("", 0),
    ],
)
def test_calls_of_the_tools_are_counted(program: str, calls: int) -> None:
    assert written_tool_calls(program, ["shop"]) == calls


STARTED = CallStarted("c", "execute", {})
ENDED = CallEnded("c", "execute", "", ok=True, duration_s=0)


def phases(*events: tuple[float, Event]) -> tuple[float, float]:
    """Seconds of the model and of the tools, of events that arrive at these times."""
    times = [at for at, event in events if not isinstance(event, TextDelta)]
    found = Phases(lambda: times.pop(0))
    for _, event in events:
        found.take(event)
    return found.model_s, found.tools_s


def test_the_model_has_the_time_until_its_answer_is_whole() -> None:
    assert phases((0, Asked(1, 2)), (1, TextDelta("a")), (3, Repaired("empty"))) == (3, 0)


def test_the_tools_have_the_time_from_their_start_to_their_end() -> None:
    assert phases((0, Asked(1, 2)), (3, STARTED), (7, ENDED), (7, Asked(2, 2)), (8, Repaired("empty"))) == (4, 4)


def test_calls_at_the_same_time_count_once() -> None:
    assert phases((0, Asked(1, 2)), (1, STARTED), (1, STARTED), (3, ENDED), (6, ENDED)) == (1, 5)
