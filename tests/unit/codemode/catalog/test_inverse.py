from __future__ import annotations

import pytest

from codemode.catalog.inverse import Inverse, InverseInvalid

RESULT = {"id": 7, "items": [{"name": "a"}], "content-type": "x"}
ARGUMENTS = {"member_id": 3, "body": {"note": "n"}}


@pytest.mark.parametrize(
    ("text", "tool", "arguments"),
    [
        ("members.unfreeze(id=result.id)", "members.unfreeze", {"id": 7}),
        ("undo(id=arguments.member_id, why='undone', hard=True)", "undo", {"id": 3, "why": "undone", "hard": True}),
        ('undo(name=result["items"][0].name, kind=result["content-type"])', "undo", {"name": "a", "kind": "x"}),
        ("undo(all=[result.id, {'note': arguments.body.note}])", "undo", {"all": [7, {"note": "n"}]}),
        ("undo(nothing=None)", "undo", {"nothing": None}),
        ("undo(whole=result)", "undo", {"whole": RESULT}),
        (" undo() ", "undo", {}),
    ],
)  # fmt: skip
def test_an_inverse_is_a_call_made_of_what_went_in_and_came_out(text: str, tool: str, arguments: object) -> None:
    inverse = Inverse.parse(text)
    assert (inverse.tool, inverse.arguments(result=RESULT, arguments=ARGUMENTS)) == (tool, arguments)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is not a valid expression"),
        ("undo(", "is not a valid expression"),
        ("undo", "must be a call with only keyword arguments"),
        ("undo(1)", "must be a call with only keyword arguments"),
        ("undo(**result)", "must be a call with only keyword arguments"),
        ("undo(id=other.id)", "other must be JSON data or a part"),
        ("undo(id=open('/etc/passwd'))", "must be JSON data or a part"),
        ("undo(id=b'x')", "must be JSON data or a part"),
        ("undo(id=result[0:2])", "must be JSON data or a part"),
        ("undo(id={1: 2})", "the keys of an object must be strings"),
        ("a[0].undo()", "the call must begin with a tool name"),
    ],
)
def test_what_is_no_inverse_is_refused(text: str, says: str) -> None:
    with pytest.raises(InverseInvalid, match=says):
        Inverse.parse(text)


@pytest.mark.parametrize("place", ["result.none", "result.id.more", "result['items'][4]", "arguments.other"])
def test_a_place_that_is_not_there_is_named(place: str) -> None:
    with pytest.raises(InverseInvalid, match="does not exist"):
        Inverse.parse(f"undo(id={place})").arguments(result=RESULT, arguments=ARGUMENTS)
