"""The name that somebody may have meant."""

from __future__ import annotations

import pytest

from codemode.text.nearest import did_you_mean, nearest, several_nearest


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("clientID", ["name", "client_id"], "client_id"),
        ("ID", ["name", "id"], "id"),
        ("lable", ["label", "table"], "label"),
        ("id", ["kind", "guild_id"], "guild_id"),
        ("dynamo", ["dynamodbstreams", "dynamodb"], "dynamodb"),
        ("zzz", ["label", "table"], None),
        ("", ["label"], None),
        ("label", [], None),
    ],
)
def test_a_name_that_is_like_it_is_suggested_in_any_case_of_letters(
    name: str, known: list[str], meant: str | None
) -> None:
    assert nearest(name, known) == meant
    assert did_you_mean(name, known) == (f"; did you mean {meant!r}?" if meant else "")


def test_the_nearest_names_are_listed_best_first() -> None:
    zones = ["Asia/Tokyo", "Europe/Bern", "Europe/Berlin"]
    assert several_nearest("berlin", zones, 2) == ["Europe/Berlin", "Europe/Bern"]
    assert several_nearest("zzz", zones, 2) == []
