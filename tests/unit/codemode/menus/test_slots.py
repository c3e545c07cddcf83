"""How slots are given out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemode.menus.slots import balanced, proportional


@pytest.mark.parametrize(
    ("sizes", "slots", "in_balance", "in_proportion"),
    [
        ([10], 8, [8], [8]),
        ([10, 10], 8, [4, 4], [4, 4]),
        ([10] * 5, 8, [2, 2, 2, 1, 1], [2, 2, 2, 2, 0]),
        ([10, 1, 10], 8, [4, 1, 3], [2, 1, 2]),
        ([1, 1], 8, [1, 1], [1, 1]),
        ([3, 3, 3], 2, [1, 1, 0], [2, 0, 0]),
        ([], 8, [], []),
        ([3], 0, [0], [0]),
    ],
)
def test_slots_are_shared(sizes: list[int], slots: int, in_balance: list[int], in_proportion: list[int]) -> None:
    assert balanced(sizes, slots) == in_balance
    assert proportional(sizes, slots) == in_proportion


@given(st.lists(st.integers(1, 50), max_size=30), st.integers(0, 200))
def test_balance_uses_every_slot_that_it_can_and_starves_nobody(sizes: list[int], slots: int) -> None:
    shares = balanced(sizes, slots)
    assert sum(shares) == min(slots, sum(sizes))
    assert all(share <= size for share, size in zip(shares, sizes, strict=True))
    assert slots < len(sizes) or all(shares)
    unfilled = [share for share, size in zip(shares, sizes, strict=True) if share < size]
    assert not unfilled or max(shares) - min(unfilled) <= 1


@pytest.mark.parametrize(
    ("sizes", "slots", "weights", "shares"),
    [
        ([10, 10], 8, [1, 1], [4, 4]),
        ([10, 10], 8, [3, 1], [6, 2]),
        ([10, 10, 10], 8, [9, 1, 1], [6, 1, 1]),
        ([2, 10, 10], 8, [9, 1, 1], [2, 3, 3]),
        ([10, 10, 10], 2, [1, 9, 1], [1, 1, 0]),
        ([3, 3], 8, [9, 1], [3, 3]),
    ],
)
def test_weights_move_the_slots_after_the_first(
    sizes: list[int], slots: int, weights: list[float], shares: list[int]
) -> None:
    assert balanced(sizes, slots, weights) == shares


@given(st.lists(st.integers(1, 50), max_size=30), st.integers(0, 200))
def test_proportion_redistributes_nothing(sizes: list[int], slots: int) -> None:
    shares = proportional(sizes, slots)
    assert sum(shares) <= slots
    assert all(share <= min(size, max(2, slots // len(sizes))) for share, size in zip(shares, sizes, strict=True))
