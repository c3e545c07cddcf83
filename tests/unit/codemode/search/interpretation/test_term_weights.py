"""Term weights of query words."""

from __future__ import annotations

import pytest

from codemode.search.documents.weights import Weights
from codemode.search.interpretation.term_weights import read


@pytest.mark.parametrize(
    ("query", "meaning"),
    [
        ("call off the meeting", "cancel"),
        ("call the meeting off", "cancel"),
        ("look up an account", "search"),
        ("turn the lights off", "disable"),
        ("signed up for it", "register"),
    ],
)
def test_a_phrasal_verb_adds_its_meaning(query: str, meaning: str) -> None:
    assert meaning in [form.surface for form, *_ in read(query, Weights()).words]


@pytest.mark.parametrize("query", ["call the office", "sign the lease in town", "turn the big page of the book off"])
def test_a_verb_without_particle_adds_nothing(query: str) -> None:
    words = [form.surface for form, *_ in read(query, Weights()).words]
    assert not {"cancel", "login", "disable"} & set(words)
