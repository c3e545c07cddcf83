"""`codemode saved`: from an execution to a tool, checked, called and removed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.command_line import Ended, codemode

if TYPE_CHECKING:
    from pathlib import Path

SHOP = '''
from codemode import tool


@tool(effect="read")
def price(item: str) -> int:
    """Return the price of an item."""
    return len(item)


@tool(effect="write")
def order(item: str, count: int) -> str:
    """Order an item."""
    return f"{count} {item}"
'''

CONFIG = """
sources: {shop: {kind: python, location: shop.py}}
saved: {folder: programs}
state_folder: state
cache_folder: cache
"""

PROGRAM = "item = 'pears'\nbudget = 20\nshop.order(item=item, count=budget // shop.price(item=item))"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    (tmp_path / "codemode.yaml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    return tmp_path


def run(folder: Path, *arguments: str) -> Ended:
    return codemode(*arguments, folder=folder)


def promoted(folder: Path, *options: str) -> Ended:
    ended = run(folder, "run", "program.py", "--json")
    execution = json.loads(ended.stdout)["id"]
    describe = ("--describe", "Order as many of an item as a budget allows.")
    return run(folder, "saved", "promote", execution[:12], "stock_up", *describe, *options)


def test_an_execution_becomes_a_tool(folder: Path) -> None:
    ended = promoted(folder, "--parameter", "item", "--parameter", "budget=20")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "saved.stock_up version 1 (write): programs/stock_up.py\n"
    file = (folder / "programs" / "stock_up.py").read_text(encoding="utf-8")
    assert file.startswith(
        "# /// codemode\n# description: Order as many of an item as a budget allows.\n# version: 1\n"
    )
    assert file.endswith("# ///\nshop.order(item=item, count=budget // shop.price(item=item))\n")
    assert "saved.stock_up(*, item: str, budget: int = 20)" in run(folder, "search", "order within a budget").stdout
    assert run(folder, "call", "saved.stock_up", "item=figs").stdout.strip() == '"5 figs"'
    shown = json.loads(run(folder, "saved", "list", "--json").stdout)
    assert [(one["id"], one["tools"], one["problem"]) for one in shown] == [
        ("saved.stock_up", ["shop.order", "shop.price"], "")
    ]
    assert run(folder, "saved", "show", "stock_up").stdout == file
    assert "# saved_by: local\n" in file
    header, _, row = run(folder, "saved", "list").stdout.partition("\n")
    assert ("saved by" in header, " local " in row) == (True, True)
    assert "saved.stock_up version 2 (write)" in promoted(folder).stdout


def test_a_program_whose_tools_are_gone_is_broken(folder: Path) -> None:
    promoted(folder)
    assert run(folder, "saved", "check").stdout == "1 saved program checked, 0 broken\n"
    (folder / "shop.py").write_text(SHOP.replace("def price", "def cost"), encoding="utf-8")
    checked = run(folder, "saved", "check")
    assert checked.returncode == 1
    assert "stock_up: it needs shop.price, which no longer exists" in checked.stdout
    assert "broken: it needs shop.price" in run(folder, "saved", "list").stdout
    assert "saved.stock_up: it needs shop.price" in run(folder, "sources", "check").stdout
    (folder / "shop.py").write_text(SHOP.replace("count: int", "number: int"), encoding="utf-8")
    assert "shop.order() has no parameter 'count'" in run(folder, "saved", "check").stdout


def test_a_file_that_is_no_program_is_reported(folder: Path) -> None:
    (folder / "programs").mkdir()
    (folder / "programs" / "draft.py").write_text("1 + 1", encoding="utf-8")
    assert "draft.py has no header" in run(folder, "saved", "check").stdout


def test_removing_and_mistakes(folder: Path) -> None:
    promoted(folder)
    unknown = run(folder, "saved", "remove", "stock_down")
    assert (unknown.returncode, unknown.stderr) == (
        2,
        "there is no saved program 'stock_down'; did you mean 'stock_up'?\n",
    )
    assert run(folder, "saved", "remove", "stock_up").stdout == "stock_up is removed\n"
    assert not list((folder / "programs").iterdir())
    wrong = promoted(folder, "--parameter", "budget=many")
    assert (wrong.returncode, "the default is JSON" in wrong.stderr) == (2, True)
    (folder / "codemode.yaml").write_text(CONFIG.replace("saved: {folder: programs}\n", ""), encoding="utf-8")
    assert "set `saved.folder`" in promoted(folder).stderr
