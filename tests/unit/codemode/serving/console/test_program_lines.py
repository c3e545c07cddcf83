"""Searches that a program writes out."""

from __future__ import annotations

import pytest

from codemode.serving.console.program_lines import searches_of


@pytest.mark.parametrize(
    ("code", "searches"),
    [
        ('search("list clients")', ["list clients"]),
        ("print(search(['list clients', \"freeze a membership\"], limit=3))", ["list clients\nfreeze a membership"]),
        ('search(queries="list clients", namespace="gym")', ["list clients"]),
        ('search(queries=["who came"], effect="read")', ["who came"]),
        ('search("a", "b")\nsearch("c")\nsearch("c")', ["a\nb", "c"]),
    ],
)
def test_the_queries_of_a_call_are_one_search(code: str, searches: list[str]) -> None:
    assert searches_of(code) == searches


@pytest.mark.parametrize(
    "code",
    ['gym.clients.search("anna")', 'research("anna")', "search(query)", 'search(f"clients of {name}")', "search()"],
)
def test_other_calls_and_queries_that_are_not_written_out_are_left_out(code: str) -> None:
    assert searches_of(code) == []


def test_a_program_shows_its_first_ten_searches() -> None:
    code = "\n".join(f'search("query {number}")' for number in range(12))
    assert searches_of(code) == [f"query {number}" for number in range(10)]
