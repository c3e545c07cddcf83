"""Plots of success against tokens: one for each suite and model, on the same logarithmic scale of tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, floor, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codemode.bench.measures import Group

#: The drawing area of a plot, in pixels.
LEFT, TOP, WIDTH, HEIGHT = 44, 14, 230, 150

#: Pixels between the labels of two points.
_LINE = 13


@dataclass(slots=True)
class Point:
    """A point with its label. `name` selects its colour. `label_y` is the base line of the label."""

    name: str
    label: str
    x: float
    y: float
    label_y: float = 0.0


@dataclass(frozen=True, slots=True)
class Plot:
    """The points of one suite and model. `ticks` are positions and labels of the scale of tokens."""

    title: str
    points: Sequence[Point]
    ticks: Sequence[tuple[float, str]] = field(default_factory=tuple)


def plots_of(groups: Sequence[Group]) -> list[Plot]:
    """Return the plots. A gold run has a point for its traces as native tools, and one for those in code mode."""
    found: dict[str, list[tuple[str, str, float, float]]] = {}
    for group in groups:
        for name, label, tokens in _measured(group):
            found.setdefault(f"{group.suite}, {group.model}", []).append((name, label, tokens, group.success))
    every = [tokens for points in found.values() for _, _, tokens, _ in points]
    if not every:
        return []
    low, high = floor(log10(min(every))), ceil(log10(max(every)))
    high = max(high, low + 1)

    def across(tokens: float) -> float:
        return LEFT + WIDTH * (log10(tokens) - low) / (high - low)

    ticks = [(across(10**power), f"{10**power:,}") for power in range(low, high + 1)]
    return [
        Plot(
            title,
            _apart(Point(name, label, across(tokens), _up(share)) for name, label, tokens, share in points),
            ticks,
        )
        for title, points in found.items()
    ]


def _measured(group: Group) -> Iterable[tuple[str, str, float]]:
    """Yield the name, label and tokens of each point of a group."""
    policy = "" if group.policy == "off" else f", {group.policy}"
    if not group.is_gold:
        measured = [(group.mode, group.mode, group.tokens)]
    else:
        measured = [("native", "native trace", group.trace("native")), ("code", "code trace", group.trace("code"))]
    return ((name, label + policy, tokens) for name, label, tokens in measured if tokens)


def _up(share: float) -> float:
    return TOP + HEIGHT * (1 - share)


def _apart(points: Iterable[Point]) -> list[Point]:
    """Move labels down until none covers another."""
    placed: list[Point] = []
    for point in sorted(points, key=lambda one: (one.y, one.x)):
        point.label_y = max([point.y + 4, *(one.label_y + _LINE for one in placed if abs(one.x - point.x) < WIDTH / 3)])
        placed.append(point)
    return placed
