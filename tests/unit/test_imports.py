"""Modules and folders import each other in one direction, also where only a type checker does."""

from __future__ import annotations

import re
from dataclasses import fields
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

import grimp
import pytest

from codemode.features.all import FEATURES
from codemode.features.feature import Feature
from codemode.settings import Settings, SourceSettings

if TYPE_CHECKING:
    from collections.abc import Iterable

TESTS = Path(__file__).parents[1]


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
    assert tied(imports) == set()


def test_no_test_module_imports_another() -> None:
    """What tests share is in a module beside them: an import of a test module collects its tests twice."""
    importing = re.compile(r"^ *from tests\.[\w.]*\.test_\w+ import", re.MULTILINE)
    found = [str(file) for file in TESTS.rglob("*.py") if importing.search(file.read_text(encoding="utf-8"))]
    assert found == []


#: The module that lists the features.
LIST = "codemode.features.all"
#: The package, which names what is public, and imports it when it is first used.
PUBLIC = "codemode"


def folder(feature: Feature) -> str:
    return f"codemode.features.{feature.name}"


def intruders(imports: dict[str, set[str]], features: Iterable[Feature]) -> set[str]:
    """Return the imports of a feature by anything but itself, the list, the public names, and its faces."""
    return {
        f"{module} imports {other}"
        for feature in features
        for module, others in imports.items()
        if not f"{module}.".startswith(f"{folder(feature)}.")
        and module not in {LIST, PUBLIC, *(f"codemode.serving.{face}" for face in feature.faces)}
        for other in others
        if f"{other}.".startswith(f"{folder(feature)}.")
    }


def test_an_import_of_a_feature_is_found() -> None:
    plans = Feature(name="plans", faces=("http.plans",))
    there = {"codemode.features.plans.stage"}
    mine = {LIST: there, "codemode.serving.http.plans": there, "codemode.features.plans.plans": there}
    assert intruders(mine, [plans]) == set()
    assert intruders({"codemode.service": there}, [plans]) == {"codemode.service imports codemode.features.plans.stage"}


def test_a_feature_is_imported_by_the_list_and_its_faces_alone(graph: grimp.ImportGraph) -> None:
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert intruders(imports, FEATURES) == set()


def test_the_list_is_read_by_the_composition_alone(graph: grimp.ImportGraph) -> None:
    assert graph.find_modules_that_directly_import(LIST) == {"codemode.features.composition", "codemode.service"}


def test_every_feature_is_listed_and_what_its_record_names_exists(graph: grimp.ImportGraph) -> None:
    folders = {module for module in graph.find_children("codemode.features") if graph.find_children(module)}
    assert folders == {folder(feature) for feature in FEATURES}
    assert {f"codemode.serving.{face}" for feature in FEATURES for face in feature.faces} <= graph.modules
    assert all(callable(resolve_name(f"codemode.serving.{feature.routes}")) for feature in FEATURES if feature.routes)
    assert [feature.page for feature in FEATURES if not (TESTS.parent / "docs" / feature.page).is_file()] == []
    keys = Settings.model_fields.keys() | SourceSettings.model_fields.keys()
    assert {feature.section for feature in FEATURES} - {""} <= keys


def test_a_record_has_at_most_eight_fields() -> None:
    assert len(fields(Feature)) <= 8
