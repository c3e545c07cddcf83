"""What an error may show."""

from __future__ import annotations

import pytest

from codemode import CodeMode
from codemode.errors import SourceError, WrongArgument


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("specs/api.yaml", "specs/api.yaml"),
        ("http://api.example/openapi.json", "http://api.example/openapi.json"),
        ("http://ann:hunter2@api.example/a@b.json", "http://…@api.example/a@b.json"),
        ("https://api.example/doc?version=2&key=hunter2", "https://api.example/doc?version=…&key=…"),
    ],
)
def test_an_address_is_shown_without_what_may_be_a_secret(location: str, shown: str) -> None:
    error = SourceError("cannot be fetched", location=location, pointer="/paths")
    assert str(error) == f"{shown} /paths: cannot be fetched"
    assert error.location == location


async def test_a_value_of_the_wrong_type_is_rejected_where_it_is_given() -> None:
    with pytest.raises(WrongArgument, match=r"settings must be Settings, not str: read a file with CodeMode"):
        CodeMode("codemode.yaml")  # type: ignore[arg-type]
    async with CodeMode.from_functions(shop=[len]) as cm:
        with pytest.raises(WrongArgument, match="code must be str, not NoneType"):
            await cm.execute(None)  # type: ignore[arg-type]
        with pytest.raises(WrongArgument, match="caller must be Caller, not str"):
            await cm.search("x", caller="ann")  # type: ignore[arg-type]
