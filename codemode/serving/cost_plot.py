"""The cost of a catalog as a picture: a self-contained SVG."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from codemode.catalog.cost import MENU_TOOLS

if TYPE_CHECKING:
    from codemode.catalog.cost_curve import CostCurve, Line, Point

_WIDTH, _HEIGHT = 760, 400

#: The plotted area: left, top, right, bottom.
_LEFT, _TOP, _RIGHT, _BOTTOM = 70, 50, 560, 340

_COLOURS = ("#cf222e", "#bf8700", "#2da44e")
_GREY, _BLACK = "#8c959f", "#1f2328"

#: Labels at the ends of lines keep this distance.
_LABEL = 36

#: Gaps between the marks of an axis, times a power of ten, and the most gaps.
_STEPS = (1, 2, 5, 10)
_MARKS = 6


def cost_svg(curve: CostCurve) -> str:
    """Return the tokens against the number of tools as an SVG image, without scripts, styles and links."""
    scale = _Scale(max(curve.tools, 1), max(curve.tokens, 1))
    parts = [
        _text(_LEFT, 24, "Tokens of tool definitions in every request", size=16),
        _text(_LEFT, _HEIGHT - 10, f"number of tools · tokens counted {curve.method}", colour=_GREY),
        *_axes(scale),
        *(_limit(scale) if curve.tools > MENU_TOOLS else ()),
        *(_line(line, colour, scale) for line, colour in zip(curve.lines, _COLOURS, strict=True)),
        *_labels(curve, scale),
    ]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Tokens of tool definitions against tools" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" font-family="ui-sans-serif, system-ui, sans-serif" font-size="12">'
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>{"".join(parts)}</svg>\n'
    )


class _Scale:
    """Maps tools and tokens to the picture's coordinates."""

    def __init__(self, tools: int, tokens: int) -> None:
        self.tools = tools
        self.tokens = tokens

    def x(self, tools: float) -> float:
        return _LEFT + tools / self.tools * (_RIGHT - _LEFT)

    def y(self, tokens: float) -> float:
        return _BOTTOM - tokens / self.tokens * (_BOTTOM - _TOP)


def marks(highest: int) -> list[int]:
    """Return round numbers from 0 to at most `highest`, some six of them."""
    power = 10 ** max(0, len(str(highest // _MARKS)) - 1)
    step = next(one * power for one in _STEPS if one * power * _MARKS >= highest)
    return list(range(0, highest + 1, max(step, 1)))


def _axes(scale: _Scale) -> list[str]:
    parts = []
    for tokens in marks(scale.tokens):
        y = scale.y(tokens)
        parts.append(_stroke(_LEFT, y, _RIGHT, y, "#d0d7de"))
        parts.append(_text(_LEFT - 8, y + 4, f"{tokens:,}", anchor="end", colour=_GREY))
    numbers = ((scale.x(tools), f"{tools:,}") for tools in marks(scale.tools))
    return [*parts, *(_text(x, _BOTTOM + 18, text, anchor="middle", colour=_GREY) for x, text in numbers)]


def _limit(scale: _Scale) -> list[str]:
    """Mark the most tools that a request can have."""
    x = scale.x(MENU_TOOLS)
    dashes = ' stroke-dasharray="4 4"'
    aside, anchor = (6, "start") if x < (_LEFT + _RIGHT) / 2 else (-6, "end")
    return [
        _stroke(x, _TOP, x, _BOTTOM, _GREY, dashes),
        _text(x + aside, _TOP + 4, f"{MENU_TOOLS} tools: the most in a request", anchor=anchor, colour=_GREY),
    ]


def _line(line: Line, colour: str, scale: _Scale) -> str:
    points = " ".join(f"{scale.x(point.tools):.1f},{scale.y(point.tokens):.1f}" for point in line.points)
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>'


def _labels(curve: CostCurve, scale: _Scale) -> list[str]:
    """Label the end of each line, from the top down without overlaps."""
    ends: list[tuple[Point, str, str]] = [
        (line.points[-1], line.name, colour) for line, colour in zip(curve.lines, _COLOURS, strict=True)
    ]
    parts = []
    lowest = float(_BOTTOM + _LABEL)
    for point, name, colour in sorted(ends):
        y = min(scale.y(point.tokens), lowest - _LABEL)
        parts.append(_text(_RIGHT + 10, y, f"{point.tokens:,} tokens", colour=colour, size=14))
        parts.append(_text(_RIGHT + 10, y + 15, name, colour=_BLACK))
        lowest = y
    return parts


def _stroke(x1: float, y1: float, x2: float, y2: float, colour: str, more: str = "") -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{more}/>'


def _text(x: float, y: float, text: str, *, anchor: str = "start", colour: str = _BLACK, size: int = 12) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
    return f'<text {place} fill="{colour}">{escape(text)}</text>'
