"""Overlays and patches change documents of others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from codemode.errors import SourceError
from codemode.settings import SourceSettings
from codemode.sources.loaded import SourceWarning
from codemode.sources.openapi.cache import CatalogCache
from codemode.sources.openapi.load import Edits, read_surface
from codemode.sources.openapi.overlays import overlaid, overlay_texts

if TYPE_CHECKING:
    from pathlib import Path


def _document() -> dict[str, Any]:
    return {
        "openapi": "3.0.3",
        "paths": {
            "/a": {"get": {"operationId": "getA", "tags": ["x"], "deprecated": True}},
            "/b": {"get": {"operationId": "getB", "tags": ["x"]}},
        },
    }


def _after(*overlays: Any) -> tuple[dict[str, Any], list[SourceWarning]]:
    warnings: list[SourceWarning] = []
    texts = {f"{number}.json": json.dumps(overlay) for number, overlay in enumerate(overlays)}
    return overlaid(_document(), texts, warnings), warnings


def _overlay(*actions: dict[str, Any], version: str = "1.0.0") -> dict[str, Any]:
    return {"overlay": version, "info": {"title": "t", "version": "1"}, "actions": list(actions)}


def test_an_update_merges_objects_appends_to_lists_and_replaces_values() -> None:
    update = {"summary": "Get A", "tags": ["y"], "deprecated": False}
    changed, warnings = _after(_overlay({"target": "$.paths['/a'].get", "update": update}))
    assert changed["paths"]["/a"]["get"] == {
        "operationId": "getA", "tags": ["x", "y"], "deprecated": False, "summary": "Get A",
    }  # fmt: skip
    assert changed["paths"]["/b"] == _document()["paths"]["/b"]
    assert warnings == []


def test_an_item_is_appended_to_a_list_that_is_the_target() -> None:
    changed, _ = _after(_overlay({"target": "$.paths.*.get.tags", "update": "z"}))
    assert [item["get"]["tags"] for item in changed["paths"].values()] == [["x", "z"], ["x", "z"]]


def test_whatever_a_filter_selects_is_removed() -> None:
    changed, _ = _after(_overlay({"target": "$.paths[?@.get.deprecated == true]", "remove": True}))
    assert list(changed["paths"]) == ["/b"]
    tags, _ = _after(
        _overlay({"target": "$.paths['/a'].get.tags", "update": ["y", "z"]}, {"target": "$..tags[1:]", "remove": True})
    )
    assert tags["paths"]["/a"]["get"]["tags"] == ["x"]


def test_a_copy_of_overlay_1_1_comes_from_elsewhere_in_the_document() -> None:
    copy = {"target": "$.paths['/b'].get", "copy": "$.paths['/a'].get"}
    changed, _ = _after(_overlay(copy, version="1.1.0"))
    assert changed["paths"]["/b"]["get"] == {"operationId": "getA", "tags": ["x", "x"], "deprecated": True}


def test_a_json_patch_is_applied_behind_an_overlay() -> None:
    patch = [{"op": "replace", "path": "/paths/~1a/get/operationId", "value": "second"}]
    changed, _ = _after(_overlay({"target": "$.paths['/a'].get", "update": {"operationId": "first"}}), patch)
    assert changed["paths"]["/a"]["get"]["operationId"] == "second"


def test_a_target_that_selects_nothing_is_reported() -> None:
    _, warnings = _after(_overlay({"target": "$.paths['/gone']", "remove": True}))
    assert warnings == [SourceWarning("0.json/actions/0", "$.paths['/gone'] selects nothing: the action has no effect")]


@pytest.mark.parametrize(
    ("overlay", "message"),
    [
        ({"a": 1}, "0.json: is neither an overlay (`overlay: 1.0.0` with `actions`) nor a JSON patch"),
        ({"overlay": "2.0.0", "actions": []}, "0.json: expected `overlay: 1.0.0` or 1.1.0, and a list of `actions`"),
        (_overlay({"update": {}}), "0.json /actions/0: expected a mapping with a `target`"),
        (
            _overlay({"target": "$", "updates": {}}),
            "0.json /actions/0: unknown key 'updates'; valid: copy, description, remove, target, update",
        ),
        (_overlay({"target": "$.["}), "0.json /actions/0: '$.[' is not a JSONPath: expected a shorthand selector"),
        (
            _overlay({"target": "$.info", "copy": "$.paths.*"}),
            "0.json /actions/0: `copy` must select one value, and $.paths.* selects 2",
        ),
        (
            [{"op": "remove", "path": "/nope"}],
            "0.json /0: the operation cannot be applied: can't remove nonexistent property (remove:0)",
        ),
        (["text"], "0.json /0: the operation cannot be applied"),
    ],
)
def test_an_invalid_overlay_is_rejected_with_its_place(overlay: Any, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        _after(overlay)
    assert str(caught.value).startswith(message)


async def test_a_changed_overlay_is_not_hidden_by_the_cache(tmp_path: Path) -> None:
    document, overlay = tmp_path / "doc.json", tmp_path / "overlay.yaml"
    document.write_text(json.dumps(_document()), encoding="utf-8")
    cache = CatalogCache(tmp_path / "cache")
    for summary in ("First", "Second"):
        overlay.write_text(f"overlay: 1.0.0\nactions:\n- target: $.paths['/a'].get\n  update: {{summary: {summary}}}\n")
        edits = Edits(await overlay_texts([overlay]))
        surface = await read_surface("api", str(document), cache=cache, edits=edits)
        assert [tool.summary for tool in surface.tools] == [summary, ""]


async def test_an_overlay_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="the overlay cannot be read: No such file or directory"):
        await overlay_texts([tmp_path / "gone.yaml"])


def test_an_overlay_is_beside_the_configuration(tmp_path: Path) -> None:
    settings = SourceSettings.model_validate({"location": "a.json", "overlays": ["b.yaml"]})
    assert settings.anchored(tmp_path).overlays == (tmp_path / "b.yaml",)
