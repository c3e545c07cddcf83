"""Modules and folders import each other in one direction, also where only a type checker does."""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

TESTS = Path(__file__).parents[1]

#: Folders that still import each other: a shrinking list, to be emptied and never added to.
TIED = {
    "codemode.executions: cards, life",
    "codemode.executions: life, plans",
    "codemode.executions: life, rollback",
}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("codemode", "sandbox", "api_specs", exclude_type_checking_imports=False, cache_dir=None)


def circle(imports: dict[str, set[str]]) -> list[str]:
    """Return the modules of one import circle, in order; an empty list where there is none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_a_circle_is_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"b"}})) == {"b", "c"}


def test_there_is_no_circle_of_imports(graph: grimp.ImportGraph) -> None:
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert sum(map(len, imports.values())) > 1000
    assert circle(imports) == []


def tied(imports: dict[str, set[str]]) -> set[str]:
    """Return the pairs of siblings that import each other, where one of them at least is a folder."""
    folders = {module.rpartition(".")[0] for module in imports}
    arrows = set()
    for module, others in imports.items():
        for other in others:
            ours, theirs = module.split("."), other.split(".")
            depth = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), 0)
            if depth > 0:
                arrows.add((".".join(ours[: depth + 1]), ".".join(theirs[: depth + 1])))
    pairs = {(a, b) for a, b in arrows if (b, a) in arrows and a < b and folders & {a, b}}
    return {f"{a.rpartition('.')[0]}: {a.rpartition('.')[2]}, {b.rpartition('.')[2]}" for a, b in pairs}


def test_two_folders_that_import_each_other_are_found() -> None:
    assert tied({"a.b.c": {"a.d.e"}, "a.d.f": {"a.b.g"}}) == {"a: b, d"}
    assert tied({"a.b.c": {"a.d.e"}, "a.d.f": {"a.g"}}) == set()


def test_no_folder_imports_a_folder_that_imports_it(graph: grimp.ImportGraph) -> None:
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert tied(imports) == TIED


def test_no_test_module_imports_another() -> None:
    """What tests share is in a module beside them: an import of a test module collects its tests twice."""
    importing = re.compile(r"^ *from tests\.[\w.]*\.test_\w+ import", re.MULTILINE)
    found = [str(file) for file in TESTS.rglob("*.py") if importing.search(file.read_text(encoding="utf-8"))]
    assert found == []
