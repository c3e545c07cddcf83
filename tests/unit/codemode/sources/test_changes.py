"""A refresh tells what came, what went, and what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codemode.sources.changes import Changes, LastSeen
from codemode.sources.openapi.document import load_openapi

if TYPE_CHECKING:
    from pathlib import Path

    from codemode.catalog.tool import Tool


def _tools(**operations: dict[str, Any]) -> tuple[Tool, ...]:
    paths = {f"/{name}": {"get": {"operationId": name, "tags": ["t"], **node}} for name, node in operations.items()}
    return load_openapi({"openapi": "3.1.0", "paths": paths}, name="api").tools


def test_the_first_look_has_nothing_to_compare_with_and_the_second_finds_no_change(tmp_path: Path) -> None:
    seen = LastSeen(tmp_path / "seen")
    assert seen.changes("api", _tools(one={})) is None
    assert not seen.changes("api", _tools(one={}))


def test_operations_that_came_went_and_changed_are_named(tmp_path: Path) -> None:
    seen = LastSeen(tmp_path)
    seen.changes("api", _tools(kept={}, gone={}, described={"summary": "old"}, grown={}))
    parameter = {"name": "limit", "in": "query", "schema": {"type": "integer"}}
    now = _tools(kept={}, new={}, described={"summary": "new"}, grown={"parameters": [parameter]})
    assert seen.changes("api", now) == Changes(("api.t.new",), ("api.t.gone",), ("api.t.described", "api.t.grown"))


def test_a_broken_file_is_as_if_it_were_the_first_look(tmp_path: Path) -> None:
    (tmp_path / "api.seen.json").write_text('{"operations": [1]}', encoding="utf-8")
    assert LastSeen(tmp_path).changes("api", _tools(one={})) is None
