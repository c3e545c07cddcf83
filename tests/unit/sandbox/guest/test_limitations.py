"""The page of differences and the tables of the policy say the same."""

from __future__ import annotations

import builtins
from pathlib import Path

from sandbox.guest.language.variables import UNAVAILABLE
from sandbox.guest.library.facades.builtin_names import static_builtins
from sandbox.guest.library.not_offered import WITHHELD

PAGE = (Path(__file__).parents[4] / "docs" / "limitations" / "language.md").read_text()


def test_every_builtin_that_is_left_out_is_on_the_page() -> None:
    here = {*static_builtins(), "print"}
    missing = {name for name in dir(builtins) if not name.startswith("_")} - here - {"copyright", "credits", "license"}

    assert {name for name in missing | set(UNAVAILABLE) if f"`{name}`" not in PAGE} == set()


def test_every_module_with_names_left_out_is_on_the_page() -> None:
    assert [module for module, names in WITHHELD.items() if names and module.partition(".")[0] not in PAGE] == []
