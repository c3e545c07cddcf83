"""Every attempt, against each layer alone and all together. The control and other settings are tried at night."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.security.escapes.attack import OWN, attack

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [
    pytest.mark.timeout(400),
    pytest.mark.skipif(sys.platform != "linux", reason="the process wall is Linux's"),
]

LAYERS = ("language", "capability", "os", "all")


@pytest.mark.parametrize("layer", LAYERS)
def test_each_layer_alone_and_all_together_hold_the_attempts(layer: str, shared_data: Callable[[str], Path]) -> None:
    attack(shared_data("security") / "escapes.yaml", layer)


@pytest.mark.parametrize("layer", LAYERS)
def test_attempts_that_this_project_found_are_held(layer: str) -> None:
    attack(OWN, layer)
