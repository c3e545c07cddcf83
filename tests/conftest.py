"""What every test may ask for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

SHARED = Path(os.environ.get("CODEMODE_SHARED", Path(__file__).parents[2] / "shared"))  # noqa: TID251


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Development data that is not part of the project: its folder, or a skip that says what is missing."""

    def folder(name: str) -> Path:
        path = SHARED / name
        if not path.is_dir():
            pytest.skip(f"development data is not here: {name}/ (set CODEMODE_SHARED to the folder that holds it)")
        return path

    return folder
