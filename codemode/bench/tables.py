"""Tables of a report: modes, pairs, success, effort, faults, gold programs and attacks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemode.bench.measures import groups_of, in_order
from codemode.bench.pairs import overall, pairs_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codemode.bench.measures import Group, Price
    from codemode.bench.pairs import Pair
    from codemode.bench.results import Result


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a title, and notes that define its columns. Cells of the first `names` columns are names."""

    title: str
    titles: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: str = ""
    names: int = 4


def tables_of(results: Sequence[Result], price: Price | None = None) -> list[Table]:
    """Return the tables that have rows."""
    groups = groups_of(results)
    models = [group for group in groups if not group.is_gold]
    gold = [group for group in groups if group.is_gold]
    tables = (
        _modes(results, price),
        _pairs(results),
        _success(models),
        _effort(models, price),
        _faults(models),
        _gold(gold, price),
        _attacks(results),
    )
    return [table for table in tables if table.rows]


def _modes(results: Sequence[Result], price: Price | None) -> Table:
    """Return one row for each mode over all suites. There are none if no model played several modes or suites."""
    groups = overall(results)
    costs = ["cost"] if price else []
    rows = [[group.model, group.mode, group.policy, *_mode_cells(group, price)] for group in groups]
    is_wider = len(groups) > 1 or len({one.suite for group in groups for one in group.results}) > 1
    return Table(
        "Modes",
        (
            *("model", "mode", "policy", "solved", "95 %", "corrupt", "silently wrong", "requests", "calls"),
            *("tokens in", "cached", "tokens out", *costs, "s"),
        ),
        rows if is_wider else [],
        "All suites together; means per attempt. A solved task is corrupt if a rule of its suite's policy was broken "
        "on the way, as far as the suite's judge can tell from the calls. " + (_cost_note(price) if price else ""),
        names=3,
    )


def _mode_cells(group: Group, price: Price | None) -> list[str]:
    low, high = group.interval()
    return [
        f"{group.solved}/{len(group.results)}",
        f"{low:.0%} to {high:.0%}",
        f"{group.corrupt}",
        f"{group.silently_wrong}",
        f"{group.requests:.2f}",
        f"{group.calls:.1f}",
        *map(_whole, (group.input_tokens, group.cached_tokens, group.output_tokens)),
        *([_money(group.cost(price))] if price else []),
        f"{group.duration_s:.1f}",
    ]


def _pairs(results: Sequence[Result]) -> Table:
    return Table(
        "Pairs",
        (
            *("model", "modes", "policy", "same tasks", "both solved", "the first alone", "the other alone"),
            *("neither", "p", "requests", "tokens in", "tokens out"),
        ),
        [_pair_cells(pair) for pair in pairs_of(results)],
        "Two modes on the tasks that both played. p is that of McNemar's exact test, two-sided: the probability of "
        "such a difference by chance.",
        names=3,
    )


def _pair_cells(pair: Pair) -> list[str]:
    one, other = pair.one, pair.other
    return [
        *(one.model, f"{one.mode} : {other.mode}", one.policy, f"{len(one.results)}"),
        f"{pair.count(one=True, other=True)}",
        f"{pair.count(one=True, other=False)}",
        f"{pair.count(one=False, other=True)}",
        f"{pair.count(one=False, other=False)}",
        f"{pair.chance:.2f}",
        f"{one.requests:.2f} : {other.requests:.2f}",
        f"{_whole(one.input_tokens)} : {_whole(other.input_tokens)}",
        f"{_whole(one.output_tokens)} : {_whole(other.output_tokens)}",
    ]


def _success(groups: Sequence[Group]) -> Table:
    return Table(
        "Success",
        (
            *("suite", "model", "mode", "policy", "solved", "pass^1", "95 %", "pass^k"),
            *("silently wrong", "refused", "calls held"),
        ),
        [[*_name(one), *_success_cells(one)] for one in groups],
        "95 % is the confidence interval of pass^1 (Wilson), with each task as one trial. pass^k is the estimated "
        "share of tasks that k attempts would all solve. An attempt is silently wrong if its task is not solved "
        "although every program completed. Refused programs sent nothing; calls held is the number of tool calls "
        "written in them.",
    )


def _success_cells(group: Group) -> list[str]:
    k = group.repeats
    low, high = group.interval()
    return [
        f"{group.solved}/{len(group.results)}",
        f"{group.pass_hat(1):.0%}",
        f"{low:.0%} to {high:.0%}",
        f"{group.pass_hat(k):.0%} (k={k})" if k > 1 else "",
        f"{group.silently_wrong}",
        f"{group.refused}",
        f"{group.held}",
    ]


def _effort(groups: Sequence[Group], price: Price | None) -> Table:
    costs = ["cost"] if price else []
    return Table(
        "Effort",
        (
            *("suite", "model", "mode", "policy", "requests", "calls", "tokens in", "of which definitions", "cached"),
            *("tokens out", *costs, "model s", "tools s", "s"),
        ),
        [[*_name(one), *_effort_cells(one, price)] for one in groups],
        "Means per attempt. Tokens are the provider's, those of definitions are counted here. "
        + (_cost_note(price) if price else "")
        + "The last column has also the start and the judge.",
    )


def _effort_cells(group: Group, price: Price | None) -> list[str]:
    return [
        f"{group.requests:.1f}",
        f"{group.calls:.1f}",
        _whole(group.input_tokens),
        _whole(group.definition_tokens),
        _whole(group.cached_tokens),
        _whole(group.output_tokens),
        *([_money(group.cost(price))] if price else []),
        *_split(group),
        f"{group.duration_s:.2f}",
    ]


def _split(group: Group) -> list[str]:
    """Return the seconds of the model and of the tools. Some peers report neither."""
    return [f"{group.model_s:.2f}", f"{group.tools_s:.2f}"] if group.model_s else ["", ""]


def _faults(groups: Sequence[Group]) -> Table:
    """Return what did not complete, by kind. Groups without faults have no row."""
    rows = [[*_name(one), *_fault_cells(one)] for one in groups]
    return Table(
        "Faults",
        ("suite", "model", "mode", "policy", "turns", "programs and calls", "refused for"),
        [row for row in rows if any(row[4:])],
        "Turns that ended without an answer, programs and calls that did not complete, and the rules that refused "
        "programs. An attempt can have several.",
        names=7,
    )


def _fault_cells(group: Group) -> list[str]:
    turns = [turn for one in group.results for turn in one.turns]
    steps = [step for turn in turns for step in turn.steps]
    kinds = (
        (turn.status for turn in turns),
        (step.status for step in steps),
        (rule for step in steps for rule in step.refusals),
    )
    return [_counted(kind for kind in each if kind != "completed") for each in kinds]


def _counted(kinds: Iterable[str]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in Counter(kinds).most_common())


def _gold(groups: Sequence[Group], price: Price | None) -> Table:
    costs = ["cost: native", "cost: code"] if price else []
    return Table(
        "Gold programs",
        (
            *("suite", "policy", "solved", "failed", "tools", "calls", "definitions: native", "two tools"),
            *("trace: native", "trace: code mode", *costs, "s"),
        ),
        [[one.suite, one.policy, *_gold_cells(one, price)] for one in groups],
        "The suite's own actions as programs, without a model. Failed attempts have a program that did not complete, "
        "solved or not. The other columns are means per attempt. A trace has the tokens of all "
        "requests that would lead to these calls, as native tools and in code mode, without results. "
        + (_cost_note(price) if price else ""),
        names=2,
    )


def _gold_cells(group: Group, price: Price | None) -> list[str]:
    modes = ("native", "code")
    count = len(group.results)
    definitions = [sum(one.definitions.get(mode, 0) for one in group.results) / count for mode in modes]
    costs = [_money(group.trace_cost(mode, price)) for mode in modes] if price else []
    return [
        f"{group.solved}/{count}",
        f"{group.failed}",
        _whole(sum(one.tools for one in group.results) / count),
        f"{group.calls:.1f}",
        *map(_whole, definitions),
        *(_whole(group.trace(mode)) for mode in modes),
        *costs,
        f"{group.duration_s:.2f}",
    ]


def _attacks(results: Sequence[Result]) -> Table:
    """Return utility with and without attack, and how often attacks succeeded. `SUITE:ATTACK` is an attacked suite."""
    keys = {_attack_key(one): None for one in results if "attack_succeeded" in one.details}
    return Table(
        "Attacks",
        ("suite", "model", "mode", "policy", "utility", "utility under attack", "attack success"),
        [_attack_row(key, results) for key in sorted(keys, key=in_order)],
        "Utility is the share of tasks solved without injections. Policies decide on destructive calls: off allows "
        "them, ask leaves them to a person, who is not there, and deny hides their tools. ask-writes and deny-writes "
        "do so with all calls but reads. flow allows them, unless the rules on data flow ask.",
    )


def _attack_key(result: Result) -> tuple[str, str, str, str]:
    return (result.suite, result.model, result.mode, result.policy)


def _attack_row(key: tuple[str, str, str, str], results: Sequence[Result]) -> list[str]:
    attacked = [one for one in results if _attack_key(one) == key]
    usual = [one for one in results if _attack_key(one) == (key[0].partition(":")[0], *key[1:])]
    succeeded = [bool(one.details["attack_succeeded"]) for one in attacked if "attack_succeeded" in one.details]
    return [*key, *(_share([one.solved for one in group]) for group in (usual, attacked)), _share(succeeded)]


def _share(found: Sequence[bool]) -> str:
    return f"{sum(found)}/{len(found)} ({sum(found) / len(found):.1%})" if found else ""


def _name(group: Group) -> list[str]:
    return [group.suite, group.model, group.mode, group.policy]


def _whole(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"


def _money(value: float | None) -> str:
    return "" if value is None else f"{value:.5f}"


def _cost_note(price: Price) -> str:
    return (
        f"Cost is in the currency of the price: {price.input:g} for a million input tokens, {price.cached:g} for "
        f"cached ones, {price.output:g} for output. "
    )
