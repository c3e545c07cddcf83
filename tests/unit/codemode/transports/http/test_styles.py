"""Every OpenAPI style, with the values of its own table (3.1, Parameter Object, Style Examples)."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.transports.http import styles

ARRAY = ["blue", "black", "brown"]
OBJECT = {"R": 100, "G": 200, "B": 150}


def _joined(parts: list[tuple[str, str]]) -> str:
    return "".join(separator + text for separator, text in parts)


@pytest.mark.parametrize(
    ("style", "explode", "value", "expected"),
    [
        ("form", False, "blue", "color=blue"),
        ("form", False, "", "color="),
        ("form", False, ARRAY, "color=blue,black,brown"),
        ("form", False, OBJECT, "color=R,100,G,200,B,150"),
        ("form", True, ARRAY, "color=blue&color=black&color=brown"),
        ("form", True, OBJECT, "R=100&G=200&B=150"),
        ("spaceDelimited", False, ARRAY, "color=blue black brown"),
        ("pipeDelimited", False, ARRAY, "color=blue|black|brown"),
        ("tabDelimited", False, ARRAY, "color=blue\tblack\tbrown"),
        ("spaceDelimited", False, OBJECT, "color=R 100 G 200 B 150"),
        ("pipeDelimited", False, OBJECT, "color=R|100|G|200|B|150"),
        ("spaceDelimited", True, ARRAY, "color=blue&color=black&color=brown"),
        ("pipeDelimited", True, ARRAY, "color=blue&color=black&color=brown"),
        ("pipeDelimited", True, OBJECT, "R=100&G=200&B=150"),
        ("deepObject", False, OBJECT, "color[R]=100&color[G]=200&color[B]=150"),
        ("deepObject", True, OBJECT, "color[R]=100&color[G]=200&color[B]=150"),
        ("deepObject", True, {"a": {"b": [1, True]}}, "color[a][b][0]=1&color[a][b][1]=true"),
        ("json", False, {"a": [1]}, 'color={"a":[1]}'),
        ("form", True, [], ""),
        ("form", False, [], ""),
        ("form", True, 1.5, "color=1.5"),
        ("form", True, False, "color=false"),
    ],
)
def test_queries_and_forms(style: str, explode: bool, value: Any, expected: str) -> None:
    found = styles.pairs("color", value, style, explode=explode)
    assert "&".join(f"{name}={_joined(pieces)}" for name, pieces in found) == expected


@pytest.mark.parametrize(
    ("explode", "value", "simple", "label", "matrix"),
    [
        (False, "blue", "blue", ".blue", ";color=blue"),
        (False, ARRAY, "blue,black,brown", ".blue,black,brown", ";color=blue,black,brown"),
        (False, OBJECT, "R,100,G,200,B,150", ".R,100,G,200,B,150", ";color=R,100,G,200,B,150"),
        (True, ARRAY, "blue,black,brown", ".blue.black.brown", ";color=blue;color=black;color=brown"),
        (True, OBJECT, "R=100,G=200,B=150", ".R=100.G=200.B=150", ";R=100;G=200;B=150"),
    ],
)
def test_paths_and_headers(explode: bool, value: Any, simple: str, label: str, matrix: str) -> None:
    assert _joined(styles.simple(value, explode=explode)) == simple
    assert _joined(styles.label(value, explode=explode)) == label
    assert _joined(styles.matrix("color", value, explode=explode)) == matrix
