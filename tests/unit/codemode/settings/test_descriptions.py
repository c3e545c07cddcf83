"""Every key of the configuration is described."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.settings import Settings

SCHEMA = Settings.model_json_schema()
SECTIONS: dict[str, dict[str, Any]] = {"Settings": SCHEMA, **SCHEMA["$defs"]}
KEYS = [(section, key) for section, schema in SECTIONS.items() for key in schema.get("properties", {})]


@pytest.mark.parametrize(("section", "key"), KEYS)
def test_a_key_has_a_description(section: str, key: str) -> None:
    schema = SECTIONS[section]["properties"][key]
    inner = SECTIONS.get(schema.get("$ref", "").removeprefix("#/$defs/"), {})
    description = schema.get("description") or inner.get("description", "")
    assert description.endswith("."), f"{section}.{key}: give the field a description in full sentences"
    assert len(description) < 400


@pytest.mark.parametrize("section", sorted(SECTIONS))
def test_a_section_has_a_description(section: str) -> None:
    assert SECTIONS[section]["description"].endswith(".")
