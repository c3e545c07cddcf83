"""Two modes on the same tasks: which attempts each solved, and whether the difference may be chance."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

from codemode.bench.measures import Group

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codemode.bench.results import Result

#: The mode that others are compared with, if it was played.
_FIRST = "code"


@dataclass(frozen=True, slots=True)
class Pair:
    """The attempts of two modes at the same tasks, in the same order."""

    one: Group
    other: Group

    def count(self, *, one: bool, other: bool) -> int:
        """Return the number of attempts that the modes solved, or did not solve, like this."""
        pairs = zip(self.one.results, self.other.results, strict=True)
        return sum((first.solved, second.solved) == (one, other) for first, second in pairs)

    @property
    def chance(self) -> float:
        """The probability of a difference of this size or more by chance: McNemar's exact test, two-sided."""
        return mcnemar(self.count(one=True, other=False), self.count(one=False, other=True))


def mcnemar(only_one: int, only_other: int) -> float:
    """Return the p-value of McNemar's exact (binomial) test, two-sided, for the numbers of unlike pairs."""
    unlike = only_one + only_other
    tail = sum(comb(unlike, k) for k in range(min(only_one, only_other) + 1))
    return min(1.0, float(2 * tail / 2**unlike))


def overall(results: Iterable[Result]) -> list[Group]:
    """Return the results of models by model, mode and policy, over all suites."""
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for one in results:
        if one.model != "gold":
            groups.setdefault((one.model, one.mode, one.policy), []).append(one)
    return [Group("all", *key, groups[key]) for key in sorted(groups)]


def pairs_of(results: Sequence[Result]) -> list[Pair]:
    """Return the mode `code`, else the first one, beside each other mode of the same model and policy."""
    pairs = []
    groups = overall(results)
    for kind in dict.fromkeys((group.model, group.policy) for group in groups):
        modes = [group for group in groups if (group.model, group.policy) == kind]
        one = next((group for group in modes if group.mode == _FIRST), modes[0])
        pairs += [pair for other in modes if other is not one and (pair := _paired(one, other)).one.results]
    return pairs


def _paired(one: Group, other: Group) -> Pair:
    """Return the groups without the attempts that the other one has not."""
    ones, others = ({(each.suite, each.task, each.repeat): each for each in group.results} for group in (one, other))
    keys = [key for key in ones if key in others]
    return Pair(_with(one, [ones[key] for key in keys]), _with(other, [others[key] for key in keys]))


def _with(group: Group, results: Sequence[Result]) -> Group:
    return Group(group.suite, group.model, group.mode, group.policy, results)
