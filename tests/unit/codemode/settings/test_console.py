"""The `console` section."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from codemode.settings import Settings


@pytest.mark.parametrize(("given", "enabled"), [(True, True), (False, False), ({}, True), ({"enabled": False}, False)])
def test_the_console_is_a_switch_or_a_section(given: object, enabled: bool) -> None:
    assert Settings.model_validate({"console": given}).console.enabled is enabled


def test_the_console_is_on_by_default() -> None:
    assert Settings().console.enabled


def test_an_unknown_key_is_rejected() -> None:
    with pytest.raises(ValidationError, match="port"):
        Settings.model_validate({"console": {"port": 1}})
