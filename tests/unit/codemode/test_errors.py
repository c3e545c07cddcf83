"""What an error may show."""

from __future__ import annotations

import pytest

from codemode.errors import SourceError


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
