"""Plots of success against tokens: one for each suite, model and policy, on one logarithmic scale of tokens."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codemode.bench.measures import Group

#: The drawing area of a plot, in pixels.
LEFT, TOP, WIDTH, HEIGHT = 44, 20, 280, 180

#: Pixels of a point, of a character of its label, and of a line of labels.
_RADIUS, _CHARACTER, _LINE = 5, 6, 12

#: Where a label may be, beside its point: right, left, above, below, then further away.
_PLACES = (
    (9, 4, "start"),
    (-9, 4, "end"),
    (0, -9, "middle"),
    (0, 17, "middle"),
    *((9, 4 + away, "start") for away in (_LINE, -_LINE, 2 * _LINE, -2 * _LINE, 3 * _LINE)),
    *((-9, 4 + away, "end") for away in (_LINE, -_LINE, 2 * _LINE, -2 * _LINE, 3 * _LINE)),
)


class Box(NamedTuple):
    """A rectangle that a label or a point covers."""

    left: float
    top: float
    right: float
    bottom: float

    def covers(self, other: Box) -> bool:
        """Return whether the rectangles share some area."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


@dataclass(frozen=True, slots=True)
class Point:
    """A point. `name` selects its colour. The label's place is that of its base line, at its `anchor`."""

    name: str
    label: str
    x: float
    y: float
    label_x: float = 0.0
    label_y: float = 0.0
    anchor: str = "start"

    @property
    def box(self) -> Box:
        """The rectangle of the point."""
        return Box(self.x - _RADIUS, self.y - _RADIUS, self.x + _RADIUS, self.y + _RADIUS)

    @property
    def label_box(self) -> Box:
        """The rectangle of the label, about."""
        width = len(self.label) * _CHARACTER
        left = self.label_x - {"start": 0, "middle": width / 2, "end": width}[self.anchor]
        return Box(left, self.label_y - _LINE + 2, left + width, self.label_y + 2)

    def labelled(self, place: tuple[float, float, str]) -> Point:
        """Return the point with its label at a place beside it."""
        across, down, anchor = place
        return Point(self.name, self.label, self.x, self.y, self.x + across, self.y + down, anchor)


@dataclass(frozen=True, slots=True)
class Plot:
    """The points of one suite, model and policy. `ticks` are positions and labels of the scale of tokens."""

    title: str
    points: Sequence[Point]
    ticks: Sequence[tuple[float, str]]


def plots_of(groups: Sequence[Group]) -> list[Plot]:
    """Return the plots. A gold run has a point for its traces as native tools, and one for those in code mode."""
    found: dict[str, list[tuple[str, str, float, float]]] = {}
    for group in groups:
        policy = "" if group.policy == "off" else f", policy {group.policy}"
        for name, label, tokens in _measured(group):
            found.setdefault(f"{group.suite}, {group.model}{policy}", []).append(
                (name, label, tokens, group.pass_hat(1))
            )
    every = [tokens for points in found.values() for _, _, tokens, _ in points]
    if not every:
        return []
    low = floor(log10(min(every)))
    high = max(ceil(log10(max(every))), low + 1)

    def across(tokens: float) -> float:
        return LEFT + WIDTH * (log10(tokens) - low) / (high - low)

    ticks = [(across(10**power), f"{10**power:,}") for power in range(low, high + 1)]
    return [
        Plot(
            title,
            _labelled([Point(name, label, across(tokens), _up(share)) for name, label, tokens, share in points]),
            ticks,
        )
        for title, points in found.items()
    ]


def _measured(group: Group) -> Iterable[tuple[str, str, float]]:
    """Yield the name, label and tokens of each point of a group."""
    measured = [(group.mode, group.mode, group.tokens)]
    if group.is_gold:
        measured = [("native", "native trace", group.trace("native")), ("code", "code trace", group.trace("code"))]
    return ((name, label, tokens) for name, label, tokens in measured if tokens)


def _up(share: float) -> float:
    return TOP + HEIGHT * (1 - share)


def _labelled(points: Sequence[Point]) -> list[Point]:
    """Return the points with labels that cover no point and no other label, as far as there is room."""
    covered = [point.box for point in points]
    found = []
    for point in points:
        choices = [point.labelled(place) for place in _PLACES]
        free = (one for one in choices if not any(one.label_box.covers(box) for box in covered))
        labelled = next(free, choices[0])
        covered.append(labelled.label_box)
        found.append(labelled)
    return found
