"""Modules import each other in one direction, also where only a type checker does."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import grimp

#: `Scene.copies` makes copies of modules, which are made for a scene: to be passed in instead.
TO_DISSOLVE = ("sandbox.guest.library.scene", "sandbox.guest.library.copies")


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


def test_there_is_no_circle_of_imports() -> None:
    graph = grimp.build_graph("codemode", "sandbox", "api_specs", exclude_type_checking_imports=False, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert sum(map(len, imports.values())) > 1000
    importer, imported = TO_DISSOLVE
    imports[importer].remove(imported)
    assert circle(imports) == []
