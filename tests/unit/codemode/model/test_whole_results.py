"""`load_result`: the program that takes a part of a whole result."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from codemode.model.whole_results import LoadArguments

WHOLE = {
    "items": [
        {"id": 1, "owner": {"name": "a"}, "lines": [{"sku": "x"}, {"sku": "y"}]},
        {"id": 2, "owner": None, "lines": []},
        {"id": 3, "lines": [{"sku": "z"}]},
    ],
}


@pytest.mark.parametrize(
    ("path", "start", "part"),
    [
        ("", 0, WHOLE),
        ("items[1].id", 0, 2),
        ("items[-1].lines[0]", 0, {"sku": "z"}),
        ("items[].id", 0, [1, 2, 3]),
        ("items[*].id", 1, [2, 3]),
        ("items[].owner.name", 0, ["a", None, None]),
        ("items[].lines[].sku", 0, ["x", "y", "z"]),
        ("items[].lines[0].sku", 0, None),  # an item without lines
        ("items[]", 2, [WHOLE["items"][2]]),
    ],
)
def test_a_path_has_names_places_and_all_items(path: str, start: int, part: Any) -> None:
    program = LoadArguments(handle="h_1", path=path, start=start).program()
    if part is None:
        with pytest.raises(IndexError):
            evaluated(program)
    else:
        assert evaluated(program) == part


def evaluated(program: str) -> Any:
    return eval(program, {"load": {"h_1": WHOLE}.__getitem__})  # noqa: S307


@pytest.mark.parametrize("path", ["items[x]", "items[", "items[0:2]", "a..b"])
def test_other_paths_are_rejected(path: str) -> None:
    with pytest.raises(ValidationError, match=r"or \[\] for all items, as in items\[\]\.name"):
        LoadArguments(handle="h_1", path=path)
