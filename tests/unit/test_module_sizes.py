"""A module has at most 500 lines, so that it has one responsibility and a reader can hold it."""

from __future__ import annotations

from pathlib import Path

import grimp

from codemode.executions.journal.base import Journal

TREE = Path(__file__).parents[2]

#: Most lines of a module.
MOST = 500


def longer(*folders: Path) -> set[str]:
    """Return the modules below these folders that have more lines than allowed."""
    files = [file for folder in folders for file in folder.rglob("*.py")]
    assert files
    return {
        file.relative_to(TREE).as_posix() if file.is_relative_to(TREE) else file.name
        for file in files
        if file.read_text(encoding="utf-8").count("\n") > MOST
    }


def test_a_longer_module_is_found(tmp_path: Path) -> None:
    (tmp_path / "whole.py").write_text("x = 1\n" * MOST)
    (tmp_path / "longer.py").write_text("x = 1\n" * (MOST + 1))
    assert longer(tmp_path) == {"longer.py"}


def test_no_module_has_more_than_500_lines() -> None:
    assert longer(TREE / "codemode", TREE / "sandbox") == set()


def test_the_service_is_a_page_that_composes_few_modules() -> None:
    graph = grimp.build_graph("codemode", exclude_type_checking_imports=False, cache_dir=None)
    assert (TREE / "codemode" / "service.py").read_text(encoding="utf-8").count("\n") <= 400
    assert len(graph.find_modules_directly_imported_by("codemode.service")) <= 30


def test_the_journal_has_at_most_twenty_methods() -> None:
    """What only one feature needs is a table object of its own: see `codemode.executions.journal.sql.tables`."""
    methods = [name for name, value in vars(Journal).items() if callable(value) and not name.startswith("_")]
    assert 10 < len(methods) <= 20
