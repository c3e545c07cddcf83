from __future__ import annotations

from codemode.catalog.catalog import Catalog
from codemode.catalog.cost import MENU_SIZE, measure
from codemode.catalog.cost_curve import Point, cost_curve
from tests.unit.codemode.catalog.catalogs import catalog as catalog_of


def test_lines_end_at_the_cost_of_the_whole_catalog() -> None:
    catalog = catalog_of(60)
    report = measure(catalog)
    curve = cost_curve(catalog, report)
    assert (curve.tools, curve.tokens, curve.method) == (60, report.modes[0].tokens, report.method)
    assert [(line.name, line.points[-1]) for line in curve.lines] == [
        (mode.name, Point(60, mode.tokens))
        for mode in (report.mode("native"), report.mode("menu"), report.mode("code"))
    ]
    native, menu, code = curve.lines
    assert native.points[:2] == (Point(0, 0), Point(1, native.points[1].tokens))
    assert list(native.points) == sorted(native.points)
    assert menu.points[1].tools == MENU_SIZE
    assert len({point.tokens for point in code.points}) == 1


def test_a_large_catalog_has_few_points_and_keeps_its_end() -> None:
    catalog = catalog_of(5_000)
    native = cost_curve(catalog, measure(catalog)).lines[0]
    assert len(native.points) <= 202
    assert native.points[-1] == Point(5_000, measure(catalog).modes[0].tokens)


def test_an_empty_catalog_costs_the_two_tools() -> None:
    curve = cost_curve(Catalog(()), measure(Catalog(())))
    assert curve.tools == 0
    assert curve.tokens == curve.lines[2].points[0].tokens > 0
