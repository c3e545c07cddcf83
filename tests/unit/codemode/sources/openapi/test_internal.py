"""Operations that a document marks as internal are left out, unless the operator keeps them."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.sources.loaded import SourceWarning
from codemode.sources.openapi.document import load_openapi


def _keys(paths: dict[str, Any], *, keeps_internal: bool = False) -> tuple[list[str], tuple[SourceWarning, ...]]:
    paths = {"/open": {"get": {}}, **paths}
    surface = load_openapi({"openapi": "3.1.0", "paths": paths}, name="api", keeps_internal=keeps_internal)
    return sorted(tool.key for tool in surface.tools), surface.warnings


@pytest.mark.parametrize(
    "mark",
    [
        {"x-internal": True},
        {"x-hidden": True},
        {"x-fern-ignore": True},
        {"x-scalar-ignore": True},
        {"x-speakeasy-ignore": True},
        {"x-speakeasy-mcp": {"disabled": True}},
        {"x-mcp": False},
        {"x-mcp": {"enabled": False}},
        {"x-visibility": "internal"},
    ],
)
def test_a_marked_operation_is_left_out_with_a_warning(mark: dict[str, Any]) -> None:
    keys, warnings = _keys({"/a": {"get": mark}})
    assert keys == ["GET /open"]
    (name,) = mark
    assert warnings == (
        SourceWarning("", f"GET /a marked as internal ({name}): left out; `internal: true` keeps them"),
    )
    assert _keys({"/a": {"get": mark}}, keeps_internal=True) == (["GET /a", "GET /open"], ())


@pytest.mark.parametrize(
    "mark", [{"x-internal": False}, {"x-mcp": {"enabled": True}}, {"x-mcp": True}, {"x-visibility": "public"}]
)
def test_another_value_marks_nothing(mark: dict[str, Any]) -> None:
    assert _keys({"/a": {"get": mark}}) == (["GET /a", "GET /open"], ())


def test_the_mark_of_an_operation_overrides_that_of_its_path() -> None:
    keys, warnings = _keys({"/a": {"x-internal": True, "get": {}, "put": {"x-internal": False}, "post": {}}})
    assert keys == ["GET /open", "PUT /a"]
    assert warnings[0].reason.startswith("GET /a and 1 more marked as internal (x-internal)")
