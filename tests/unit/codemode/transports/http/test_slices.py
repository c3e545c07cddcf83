from __future__ import annotations

import json
import re

import orjson
import pytest

from codemode.transports.http.slices import LARGE, parsed_in_slices

ITEMS = {
    "short numbers": 1,
    "records": {"id": 1, "name": "a, b], c}, [", "tags": ["x", {"y": [1, 2]}]},
    "texts of commas": ',"],},\\',
    "not ASCII": "é",
    "lists": [[1, [2]], {}],
    "numbers near infinity": 1e308,
}


@pytest.mark.parametrize("item", ITEMS.values(), ids=ITEMS)
@pytest.mark.parametrize("indent", [None, 1])
def test_slices_are_the_same_data(item: object, indent: int | None) -> None:
    data = [item] * (3 * LARGE // len(json.dumps(item)))
    for whole in (data, {"total": 3, "items": data, "next": None}, {"data": {"items": data}}, [data, data]):
        text = json.dumps(whole, indent=indent, ensure_ascii=False).encode()
        assert parsed_in_slices(b" " + text + b"\n") == whole


def test_one_large_item_is_parsed_whole() -> None:
    for whole in (["x" * 3 * LARGE], ["," * 3 * LARGE, 1], {"a": "[" * 3 * LARGE}, [[1, [2] * LARGE]]):
        assert parsed_in_slices(json.dumps(whole).encode()) == whole


@pytest.mark.parametrize(
    "text", ["[{},]", "[,{}]", "[{}", "[{}]]", "[{} 1]", "[{},,1]", '{"a":[{}],}', '{"a":[{}]', '[{}]"', "[{},nul]"]
)
def test_what_is_not_json_is_rejected_with_the_same_words(text: str) -> None:
    bad = text.replace("{}", ",".join(["1"] * LARGE)).encode()
    with pytest.raises(ValueError) as whole:
        orjson.loads(bad)
    with pytest.raises(ValueError, match=re.escape(str(whole.value).partition(":")[0])):
        parsed_in_slices(bad)
