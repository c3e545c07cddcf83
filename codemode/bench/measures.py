"""Measures of results that share suite, model, mode and policy."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from itertools import groupby
from math import comb, inf, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from codemode.bench.results import Policy
from codemode.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from codemode.bench.results import Result

_MILLION = 1_000_000

#: The policies, from the one that decides nothing to the strictest.
_POLICIES = get_args(Policy)

#: The definitions that a model gets in each mode of the agent. Those of other players are not known.
DEFINITIONS = {"native": "native", "menu": "menu", "code": "code", "hybrid": "code"}


class Price(NamedTuple):
    """Prices of a million tokens, in any currency. `cached` is the price of input that the provider had cached."""

    input: float
    cached: float
    output: float

    def of(self, input_: float, cached: float, output: float) -> float:
        """Return the cost of tokens. `cached` is a part of `input_`."""
        return ((input_ - cached) * self.input + cached * self.cached + output * self.output) / _MILLION

    @classmethod
    def parsed(cls, text: str) -> Price:
        """Return the price in `INPUT,CACHED,OUTPUT`. Raises ConfigurationError."""
        try:
            price = cls(*map(float, text.split(",")))
        except (ValueError, TypeError):
            price = cls(-1, -1, -1)
        if not all(0 <= one < inf for one in price):
            message = (
                f"--price: {text!r} is not INPUT,CACHED,OUTPUT: three prices of a million tokens, such as 1.25,0.125,10"
            )
            raise ConfigurationError(message)
        return price


@dataclass(frozen=True, slots=True)
class Group:
    """All results of one suite, model, mode and policy. Tokens, counts and seconds are means per attempt.

    A task id `PART.NAME` belongs to a part of its suite: then `suite` is the suite and the part.
    """

    suite: str
    model: str
    mode: str
    policy: str
    results: Sequence[Result]

    @property
    def is_gold(self) -> bool:
        """Whether the attempts are the suite's own actions."""
        return self.model == "gold"

    @property
    def solved(self) -> int:
        """Number of attempts that solved their task."""
        return sum(one.solved for one in self.results)

    @property
    def failed(self) -> int:
        """Number of attempts in which a turn did not complete, solved or not."""
        return sum(bool(one.fault) for one in self.results)

    @property
    def repeats(self) -> int:
        """The fewest attempts at a task."""
        return min(map(len, self._by_task()))

    def pass_hat(self, k: int) -> float:
        """Return pass^k: the estimated share of tasks that k attempts in a row would all solve.

        The estimate is unbiased: the mean of C(c, k) / C(n, k) over tasks with c solved of n attempts (Yao et al.,
        "τ-bench", 2024). Tasks with fewer than k attempts are left out.
        """
        tasks = [solved for solved in self._by_task() if len(solved) >= k]
        return statistics.fmean(comb(sum(solved), k) / comb(len(solved), k) for solved in tasks)

    def interval(self) -> tuple[float, float]:
        """Return the 95 % confidence interval of pass^1 by Wilson's score, with each task as one trial."""
        n, p, z = len(self._by_task()), self.pass_hat(1), 1.96
        middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
        half = z / (1 + z**2 / n) * sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
        return max(0.0, middle - half), min(1.0, middle + half)

    def _by_task(self) -> list[list[bool]]:
        tasks: dict[tuple[str, str], list[bool]] = {}
        for one in self.results:
            tasks.setdefault((one.suite, one.task), []).append(one.solved)
        return list(tasks.values())

    @property
    def silently_wrong(self) -> int:
        """Number of attempts that did not solve their task although all that they did completed."""
        return sum(one.is_silently_wrong for one in self.results)

    @property
    def corrupt(self) -> int:
        """Number of attempts that solved their task and broke a rule of the suite's policy on the way."""
        return sum(one.solved and bool(one.details.get("rules_broken")) for one in self.results)

    @property
    def refused(self) -> int:
        """Number of programs that were refused before anything was sent."""
        return sum(bool(step.refusals) for one in self.results for step in one.steps)

    @property
    def held(self) -> int:
        """Number of tool calls written in the refused programs."""
        return sum(step.held for one in self.results for step in one.steps)

    @property
    def requests(self) -> float:
        """Requests to the model."""
        return self._mean(lambda one: sum(turn.requests for turn in one.turns))

    @property
    def calls(self) -> float:
        """Calls that reached a tool."""
        return self._mean(lambda one: one.calls)

    @property
    def input_tokens(self) -> float:
        """Input tokens of all requests."""
        return self._mean(lambda one: sum(turn.input_tokens for turn in one.turns))

    @property
    def cached_tokens(self) -> float:
        """Input tokens that the provider had cached."""
        return self._mean(lambda one: sum(turn.cached_tokens for turn in one.turns))

    @property
    def output_tokens(self) -> float:
        """Output tokens of all requests."""
        return self._mean(lambda one: sum(turn.output_tokens for turn in one.turns))

    @property
    def definition_tokens(self) -> float | None:
        """Tokens of the definitions in all requests, as counted here.

        None if they are not known: those of a peer, and of a mode whose definitions change.
        """
        kind = DEFINITIONS.get(self.mode, "")
        if self.is_gold or any(kind not in one.definitions for one in self.results):
            return None
        return self._mean(lambda one: one.definitions[kind] * sum(turn.requests for turn in one.turns))

    @property
    def tokens(self) -> float | None:
        """Input and output tokens of the model; those of the trace in code mode for gold runs, if there is a trace."""
        return self.trace("code") if self.is_gold else self.input_tokens + self.output_tokens

    def trace(self, mode: str) -> float | None:
        """Return the tokens of the traces in a mode, over the attempts that have a trace; None if there is none."""
        traces = [one.traces[mode] for one in self.results if mode in one.traces and one.traces.get("native")]
        return statistics.fmean(traces) if traces else None

    def trace_cost(self, mode: str, price: Price) -> float | None:
        """Return the cost of the traces in a mode, if the provider caches what repeats the request before."""
        costs = [
            price.of(one.traces[mode] - one.traces_output[mode], one.traces_cached[mode], one.traces_output[mode])
            for one in self.results
            if mode in one.traces_cached and mode in one.traces_output and one.traces.get("native")
        ]
        return statistics.fmean(costs) if costs else None

    def cost(self, price: Price) -> float:
        """Return the cost of the model's tokens."""
        return price.of(self.input_tokens, self.cached_tokens, self.output_tokens)

    @property
    def duration_s(self) -> float:
        """Seconds of an attempt, with its start and its judge."""
        return self._mean(lambda one: one.duration_s)

    @property
    def model_s(self) -> float:
        """Seconds in which the model answered."""
        return self._mean(lambda one: sum(turn.model_s for turn in one.turns))

    @property
    def tools_s(self) -> float:
        """Seconds in which calls of the model ran."""
        return self._mean(lambda one: sum(turn.tools_s for turn in one.turns))

    @property
    def attacked(self) -> tuple[int, int]:
        """Number of attempts in which the attack succeeded, and number of attempts under attack."""
        found = [one.details["attack_succeeded"] for one in self.results if "attack_succeeded" in one.details]
        return sum(found), len(found)

    def _mean(self, measure: Callable[[Result], float]) -> float:
        return statistics.fmean(map(measure, self.results))

    def to_json(self, price: Price | None = None) -> dict[str, Any]:
        """Return all measures as JSON data."""
        succeeded, attacked = self.attacked
        return {
            "suite": self.suite,
            "model": self.model,
            "mode": self.mode,
            "policy": self.policy,
            "attempts": len(self.results),
            "solved": self.solved,
            "failed": self.failed,
            "repeats": self.repeats,
            "pass": [self.pass_hat(k) for k in range(1, self.repeats + 1)],
            "interval": self.interval(),
            "silently_wrong": self.silently_wrong,
            "corrupt": self.corrupt,
            "refused_programs": self.refused,
            "held_calls": self.held,
            "requests": self.requests,
            "calls": self.calls,
            "tokens": self.tokens,
            "input_tokens": self.input_tokens,
            "definition_tokens": self.definition_tokens,
            "cached_tokens": self.cached_tokens,
            "output_tokens": self.output_tokens,
            "cost": None if price is None else self.cost(price),
            "trace_tokens": {mode: self.trace(mode) for mode in ("native", "code")},
            "duration_s": self.duration_s,
            "model_s": self.model_s,
            "tools_s": self.tools_s,
            "attempts_under_attack": attacked,
            "attacks_that_succeeded": succeeded,
        }


def groups_of(results: Iterable[Result]) -> list[Group]:
    """Return the results grouped by suite with its part, model, mode and policy, in the order of the policies."""
    ordered = sorted(results, key=lambda one: in_order(_group(one)))  # a stable sort: attempts stay in their order
    return [Group(*key, list(group)) for key, group in groupby(ordered, key=_group)]


def _group(result: Result) -> tuple[str, str, str, str]:
    part, dot, _ = result.task.partition(".")
    return (f"{result.suite} {part}" if dot else result.suite, result.model, result.mode, result.policy)


def in_order(key: tuple[str, str, str, str]) -> tuple[str, str, str, int]:
    """Return the sort key for suite, model, mode and policy."""
    return (*key[:3], _POLICIES.index(key[3]) if key[3] in _POLICIES else len(_POLICIES))
