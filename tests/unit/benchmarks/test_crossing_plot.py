"""The plot of the crossing draws what was played."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from benchmarks.crossing import CALLS, Job
from benchmarks.crossing_plot import crossing_svg
from codemode.bench.measures import Price
from codemode.bench.results import Result, TurnRecord

#: A million tokens of input cost 10,000 dollars: a token is a cent.
CENT = Price(10_000, 0, 0)


def played(mode: str, kind: str, cents: list[int]) -> list[Result]:
    """Return jobs at 30 tools that cost these cents, for 1, 3, 10, … calls; 0 for a job that was not done."""
    return [
        Result(
            "crossing",
            Job(kind, 30, calls).id,
            "obedient",
            mode,
            "off",
            solved=bool(cent),
            turns=[TurnRecord(requests=2, input_tokens=cent)],
        )
        for calls, cent in zip(CALLS, cents, strict=True)
    ]


def lines_of(svg: str) -> list[tuple[str, list[tuple[float, float]]]]:
    """Return the mode and the points of each line in a panel."""
    root = ElementTree.fromstring(svg)  # noqa: S314 -- our own
    paths = root.findall("./{*}g/{*}path")
    points = [re.findall(r"([\d.]+) ([\d.]+)", path.attrib["d"]) for path in paths]
    return [
        (path.attrib["class"].split()[-1], [(float(x), float(y)) for x, y in found])
        for path, found in zip(paths, points, strict=True)
    ]


def test_a_line_has_a_point_for_each_job_on_logarithmic_scales() -> None:
    (line,) = lines_of(crossing_svg(played("code", "side", [1, 1, 10, 10, 100]), CENT))
    assert line == ("code", [(0, 66.7), (45.3, 66.7), (95, 33.3), (140.3, 33.3), (190, 0)])


def test_a_job_that_was_not_done_has_no_point() -> None:
    (line,) = lines_of(crossing_svg(played("fastmcp", "chain", [1, 1, 10, 10, 0]), CENT))
    assert len(line[1]) == len(CALLS) - 1


def test_code_mode_is_drawn_above_the_others() -> None:
    results = [*played("code", "side", [1] * 5), *played("native", "side", [2] * 5), *played("menu", "side", [3] * 5)]
    assert [mode for mode, _ in lines_of(crossing_svg(results, CENT))] == ["menu", "native", "code"]


def test_the_plot_has_a_dark_form() -> None:
    light, dark = crossing_svg([], CENT).split("@media (prefers-color-scheme: dark)")
    rules = [set(re.findall(r"\.([a-z]+) \{", part)) for part in (light, dark)]
    assert rules[0] - rules[1] == {"mode"}
