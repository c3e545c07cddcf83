"""How the tokens of a catalog grow with its tools, in each mode."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from codemode.catalog.cost import native_counts

if TYPE_CHECKING:
    from codemode.catalog.catalog import Catalog
    from codemode.catalog.cost import CostReport
    from codemode.catalog.tokens import Tokenizer

#: Points of a line.
_POINTS = 200


class Point(NamedTuple):
    """The tokens of the definitions for this number of tools."""

    tools: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Line:
    """One way to offer the tools to a model."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class CostCurve:
    """Tokens in every request against the number of tools, in the catalog's order. `method` describes the count."""

    lines: tuple[Line, ...]
    method: str

    @property
    def tools(self) -> int:
        """The number of tools of the whole catalog."""
        return self.lines[0].points[-1].tools

    @property
    def tokens(self) -> int:
        """The highest number of tokens."""
        return max(point.tokens for line in self.lines for point in line.points)


def cost_curve(catalog: Catalog, report: CostReport, tokenizer: Tokenizer | None = None) -> CostCurve:
    """Measure the first 0, 1, … all tools of a catalog, exactly with a tokenizer, else by estimate.

    `report` is the cost of the whole catalog.
    """
    counts = native_counts(catalog, tokenizer)
    scale = len(catalog.tools) / len(counts) if counts else 1.0
    sums = [
        Point(round(number * scale), round(total * scale)) for number, total in enumerate(accumulate(counts, initial=0))
    ]
    as_native, as_menu, as_code = report.mode("native"), report.mode("menu"), report.mode("code")
    full = as_menu.definitions
    menu = (Point(0, 0), Point(full, as_menu.tokens), Point(report.tools, as_menu.tokens))
    code = (Point(0, as_code.tokens), Point(report.tools, as_code.tokens))
    lines = (Line(as_native.name, _thinned(sums)), Line(as_menu.name, menu), Line(as_code.name, code))
    return CostCurve(lines, report.method)


def _thinned(points: list[Point]) -> tuple[Point, ...]:
    """Return at most `_POINTS` of the points, with the last one."""
    step = max(1, -(-len(points) // _POINTS))
    kept = points[::step]
    return (*kept,) if kept[-1] == points[-1] else (*kept, points[-1])
