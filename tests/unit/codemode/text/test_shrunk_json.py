from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemode.text.shrunk_json import shrink

ROWS = [{"id": number, "name": f"Client {number}", "notes": "x" * 400, "tags": ["a", "b"] * 10} for number in range(86)]

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=200),
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=20), inner, max_size=30),
    max_leaves=100,
)


def shrunk(value: Any, limit: int) -> tuple[Any, tuple[str, ...]]:
    text, cuts = shrink(json.dumps(value, ensure_ascii=False).encode(), limit)
    assert len(text) <= limit
    return json.loads(text), cuts


def test_a_short_text_is_whole() -> None:
    assert shrunk({"a": [1, 2, "é"]}, 100) == ({"a": [1, 2, "é"]}, ())


def test_a_list_keeps_its_first_items_whole() -> None:
    value, cuts = shrunk({"items": ROWS, "total": 86}, 4_000)
    assert value["items"] == ROWS[: len(value["items"])]
    assert value["total"] == 86
    assert cuts == (f"items: {len(value['items'])} of 86 items",)


def test_the_largest_parts_are_shrunk_first() -> None:
    value, cuts = shrunk({"id": 7, "log": "y" * 9_000, "name": "Paul", "rows": list(range(3_000))}, 1_000)
    assert (value["id"], value["name"]) == (7, "Paul")
    assert value["log"].endswith("y…")
    assert value["rows"] == list(range(len(value["rows"])))
    assert len(value["rows"]) > 30
    assert [cut.partition(":")[0] for cut in cuts] == ["log", "rows"]
    assert cuts[1].endswith("of 3,000 items")


def test_items_that_are_too_long_are_shrunk_themselves() -> None:
    value, cuts = shrunk([{"id": number, "texts": ["z" * 5_000]} for number in range(9)], 900)
    assert [item["id"] for item in value] == [0, 1, 2]
    assert all(item["texts"][0].startswith("zzz") for item in value)
    assert cuts[-1] == "the result: 3 of 9 items"


def test_an_object_of_many_fields_keeps_the_first() -> None:
    value, cuts = shrunk({f"key {number}": number for number in range(20_000)}, 1_000)
    assert list(value)[:2] == ["key 0", "key 1"]
    assert cuts == (f"the result: {len(value)} of 20,000 fields",)


def test_a_text_of_very_many_numbers_is_counted_whole() -> None:
    value, cuts = shrunk({"rows": list(range(600_000))}, 500)
    assert value["rows"][:3] == [0, 1, 2]
    assert cuts == (f"rows: {len(value['rows'])} of 600,000 items",)


@pytest.mark.parametrize("value", ["é" * 5_000, "\N{GRINNING FACE}" * 5_000, '"\\' * 5_000, [["\n" * 5_000]]])
def test_strings_are_cut_between_characters(value: Any) -> None:
    assert shrunk(value, 400)[1]


def test_the_last_of_equal_names_counts() -> None:
    text, _ = shrink(b'{"a": "' + b"x" * 500 + b'", "a": 1, "b": "' + b"y" * 500 + b'"}', 300)
    assert json.loads(text)["a"] == 1


@given(value=VALUES, limit=st.integers(100, 1_000))
def test_the_text_is_json_of_the_same_shape_within_the_limit(value: Any, limit: int) -> None:
    part, cuts = shrunk(value, limit)
    assert type(part) is type(value)
    assert bool(cuts) == (part != value)


def test_a_text_of_escapes_is_cut_and_said_to_be() -> None:
    text, cuts = shrink(json.dumps({"": "0" * 18 + "\x1f" * 8 + "x" * 8, "0": None}).encode(), 90)
    assert json.loads(text)[""].endswith("…")
    assert len(cuts) == 1


def test_other_data_is_rejected() -> None:
    with pytest.raises(ValueError, match="truncated"):
        shrink(b"[1," * 200, 100)


def test_all_items_are_shown_where_only_their_long_texts_have_no_room() -> None:
    files = [{"id": n, "name": f"report-{n}.txt", "text": f"{n} " * 400} for n in range(20)]
    text, cuts = shrink(json.dumps(files).encode(), 4_000)
    assert [file["name"] for file in json.loads(text)] == [file["name"] for file in files]
    assert len(text) <= 4_000
    assert all(cut.startswith("[].text: ") for cut in cuts)


def test_rows_of_many_short_fields_are_shown_whole() -> None:
    rows = [{f"field{n}": n for n in range(20)} for _ in range(100)]
    text, (cut,) = shrink(json.dumps(rows).encode(), 3_000)
    assert json.loads(text)[0] == rows[0]
    assert cut.startswith("the result: ")
