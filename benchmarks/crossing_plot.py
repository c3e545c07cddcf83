"""The plot of the crossing: what a job costs by its calls, one panel for each job and number of tools."""

from __future__ import annotations

from itertools import pairwise
from math import log10
from typing import TYPE_CHECKING

from benchmarks.crossing import CALLS, JOBS, MODES, TOOLS, Job
from benchmarks.crossing_tables import cost, played

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.crossing_tables import Played
    from codemode.bench.measures import Price
    from codemode.bench.results import Result

#: The size of the picture, of a panel, and of what is above the panels and left of each, in pixels.
_WIDTH, _PANEL, _ROW, _TOP, _LEFT = 480, 190, 150, 66, 42

#: The height of a panel, and the space above it for its title.
_HEIGHT, _TITLE = 100, 22

#: The scale of costs, in US cents.
_CENTS = (0.1, 1, 10, 100)

#: The colours of the modes on light and dark pages, and the dashes of their lines.
_LINES = {
    "code": ("#0969da", "#79b8ff", ""),
    "native": ("#cf222e", "#ff8e88", "7 3"),
    "deferred": ("#9a6700", "#e3b341", "2 3"),
    "menu": ("#8250df", "#c69cff", "9 3 2 3"),
    "fastmcp": ("#1a7f37", "#6fdd8b", "4 4"),
}

_STYLE = """
    .page { fill: #ffffff }
    .grid { stroke: #d8dee4 }
    .text { fill: #57606a }
    .title { fill: #1f2328; font-weight: 600 }
    .mode { fill: none; stroke-width: 2; stroke-linejoin: round }
"""
_DARK = """
      .page { fill: #1e2129 }
      .grid { stroke: #454c59 }
      .text { fill: #b4bcc8 }
      .title { fill: #e6e8ec }
"""


def crossing_svg(results: Sequence[Result], price: Price) -> str:
    """Return the plot as an SVG image for light and dark pages."""
    jobs = played(results)
    panels = [
        f'<g transform="translate({_LEFT + column * (_PANEL + _LEFT)} {_TOP + row * _ROW + _TITLE})">'
        f"{''.join(_panel(jobs, kind, tools, price))}</g>"
        for row, tools in enumerate(TOOLS)
        for column, kind in enumerate(JOBS)
    ]
    height = _TOP + len(TOOLS) * _ROW + 24
    light = "".join(f"    .{mode} {{ stroke: {colour} }}\n" for mode, (colour, _, _) in _LINES.items())
    dark = "".join(f"      .{mode} {{ stroke: {colour} }}\n" for mode, (_, colour, _) in _LINES.items())
    parts = [
        f'<rect class="page" width="{_WIDTH}" height="{height}"/>',
        _text(_WIDTH / 2, 22, "US cents of a job, by its number of calls", "title"),
        *_legend(),
        *panels,
        _text(_WIDTH / 2, height - 10, "calls; both scales are logarithmic"),
    ]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Cost of a job by its number of calls" '
        f'viewBox="0 0 {_WIDTH} {height}" font-family="ui-sans-serif, system-ui, sans-serif" font-size="12">\n'
        f"  <style>{_STYLE}{light}    @media (prefers-color-scheme: dark) {{{_DARK}{dark}    }}\n  </style>\n  "
        + "\n  ".join(parts)
        + "\n</svg>\n"
    )


def _legend() -> Iterator[str]:
    left = 16
    for mode in MODES:
        yield _line(mode, [(left, 46), (left + 26, 46)])
        yield _text(left + 31, 50, mode, anchor="start")
        left += 51 + 7 * len(mode)


def _panel(jobs: Played, kind: str, tools: int, price: Price) -> Iterator[str]:
    yield _text(0, -8, f"{kind}, {tools:,} tools", "title", anchor="start")
    for cents in _CENTS:
        y = _down(cents)
        yield f'<line class="grid" x1="0" y1="{y:g}" x2="{_PANEL}" y2="{y:g}"/>'
        yield _text(-6, y + 4, f"{cents:g}", anchor="end")
    for calls in CALLS:
        yield _text(_across(calls), _HEIGHT + 15, f"{calls}")
    for mode in reversed(MODES):  # code mode is drawn last, above the others
        done = [(calls, jobs.get((mode, Job(kind, tools, calls)))) for calls in CALLS]
        points = [(_across(calls), _down(100 * cost(one, price))) for calls, one in done if one]
        if len(points) > 1:
            yield _line(mode, points)


def _across(calls: int) -> float:
    return _PANEL * log10(calls / CALLS[0]) / log10(CALLS[-1] / CALLS[0])


def _down(cents: float) -> float:
    return _HEIGHT * (1 - log10(cents / _CENTS[0]) / log10(_CENTS[-1] / _CENTS[0]))


def _line(mode: str, points: Sequence[tuple[float, float]]) -> str:
    dashes = _LINES[mode][2]
    path = "".join(f"L{x1:.1f} {y1:.1f}" for _, (x1, y1) in pairwise(points))
    return (
        f'<path class="mode {mode}" d="M{points[0][0]:.1f} {points[0][1]:.1f}{path}"'
        + (f' stroke-dasharray="{dashes}"' if dashes else "")
        + "/>"
    )


def _text(x: float, y: float, text: str, kind: str = "text", *, anchor: str = "middle") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'
