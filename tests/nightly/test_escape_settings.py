"""Every attempt without any layer, and where the kernel or the user leaves the sandbox less to work with."""

from __future__ import annotations

import os
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
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")


@pytest.mark.timeout(800)
def test_without_walls_the_attempts_succeed(shared_data: Callable[[str], Path]) -> None:
    """An attempt that fails without a layer would say nothing about the layers."""
    attack(shared_data("security") / "escapes.yaml", "control")
    attack(OWN, "control")


@pytest.mark.parametrize("layer", ["os", "all"])
@pytest.mark.parametrize(
    "setting",
    ["filtered", pytest.param("nobody", marks=needs_root), pytest.param("nobody,filtered", marks=needs_root)],
)
def test_the_process_alone_and_all_layers_hold_every_attempt(
    layer: str, setting: str, shared_data: Callable[[str], Path]
) -> None:
    attack(shared_data("security") / "escapes.yaml", layer, setting)
