from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

import pytest

from codemode.catalog.cost import measure
from codemode.catalog.cost_curve import CostCurve, Line, Point, cost_curve
from codemode.serving.cost_plot import cost_svg, marks
from tests.unit.codemode.catalog.catalogs import catalog

SVG = "{http://www.w3.org/2000/svg}"


def curve_of(tools: int) -> CostCurve:
    return cost_curve(catalog(tools), measure(catalog(tools)))


def drawn(curve: CostCurve) -> ElementTree.Element:
    return ElementTree.fromstring(cost_svg(curve))  # noqa: S314 -- our own


def test_the_picture_has_a_line_and_a_label_for_each_mode() -> None:
    curve = curve_of(200)
    root = drawn(curve)
    assert len(root.findall(f"{SVG}polyline")) == 3
    texts = [text.text for text in root.findall(f"{SVG}text")]
    for line in curve.lines:
        assert line.name in texts
        assert f"{line.points[-1].tokens:,} tokens" in texts
    assert "128 tools: the most in a request" in texts
    assert "128 tools: the most in a request" not in cost_svg(curve_of(20))


def test_nothing_in_it_is_fetched_or_run() -> None:
    curve = CostCurve(tuple(Line("<script>", (Point(0, 0), Point(1, 1))) for _ in range(3)), "with <b>")
    names = {element.tag.removeprefix(SVG) for element in drawn(curve).iter()}
    assert names == {"svg", "rect", "text", "line", "polyline"}


def test_labels_do_not_overlap_where_lines_meet() -> None:
    curve = CostCurve(tuple(Line(name, (Point(0, 0), Point(10, 100))) for name in "abc"), "so")
    root = drawn(curve)
    heights = sorted(float(text.attrib["y"]) for text in root.findall(f"{SVG}text") if text.text == "100 tokens")
    assert len(heights) == 3
    assert all(below - above >= 30 for above, below in pairwise(heights))


def test_an_empty_catalog_has_a_picture() -> None:
    assert len(drawn(curve_of(0)).findall(f"{SVG}polyline")) == 3


@pytest.mark.parametrize(
    ("highest", "shown"),
    [(0, [0]), (1, [0, 1]), (137, [0, 50, 100]), (28_152, [0, 5_000, 10_000, 15_000, 20_000, 25_000])],
)
def test_axes_have_round_marks(highest: int, shown: list[int]) -> None:
    assert marks(highest) == shown
