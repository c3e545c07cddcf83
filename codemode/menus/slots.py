"""Slots: how many tools each category gets under the cap."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Least slots per category in the proportional strategy.
_LEAST = 2


def balanced(sizes: Sequence[int], slots: int, weights: Sequence[float] = ()) -> list[int]:
    """Assign one slot per category in rounds, until slots or tools run out.

    With unequal `weights`, slots after the first follow the D'Hondt method.
    """
    if sum(sizes) <= slots:
        return list(sizes)
    if len(set(weights)) > 1:
        return _weighted(sizes, slots, weights)
    shares = [0] * len(sizes)
    while slots > 0:
        open_ = [place for place, size in enumerate(sizes) if shares[place] < size]
        for place in open_[:slots]:
            shares[place] += 1
        slots -= min(slots, len(open_))
    return shares


def _weighted(sizes: Sequence[int], slots: int, weights: Sequence[float]) -> list[int]:
    first = [place for place, size in enumerate(sizes) if size][:slots]
    shares = [int(place in first) for place in range(len(sizes))]
    for _ in range(slots - sum(shares)):
        open_ = [place for place, size in enumerate(sizes) if shares[place] < size]
        shares[max(open_, key=lambda place: weights[place] / (shares[place] + 1))] += 1
    return shares


def proportional(sizes: Sequence[int], slots: int) -> list[int]:
    """Assign `max(2, slots // n)` slots each, in order; unused slots are lost."""
    if not sizes:
        return []
    each = max(_LEAST, slots // len(sizes))
    shares = []
    for size in sizes:
        share = min(each, size, slots)
        shares.append(share)
        slots -= share
    return shares
