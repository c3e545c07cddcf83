"""Report results as Markdown or HTML: a row for each suite, model and mode, a plot, and the transcripts."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from jinja2 import Environment

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from codemode.bench.results import Result

_TITLES = (
    "suite",
    "model",
    "mode",
    "policy",
    "solved",
    "pass^k",
    "attacked",
    "tokens",
    "as native tools",
    "in code mode",
    "s",
)


@dataclass(frozen=True, slots=True)
class Group:
    """All results of one suite, model, mode and policy. Tokens and seconds are means per task."""

    suite: str
    model: str
    mode: str
    policy: str
    results: Sequence[Result]

    @property
    def solved(self) -> int:
        """Number of attempts that solved their task."""
        return sum(one.solved for one in self.results)

    @property
    def success(self) -> float:
        """Share of attempts that solved their task: pass^1."""
        return self.solved / len(self.results)

    @property
    def tokens(self) -> float:
        """Tokens of the model; those of the trace in code mode for gold runs, which have no model."""
        if self.model == "gold":
            return statistics.fmean(one.traces.get("code", 0) for one in self.results)
        return statistics.fmean(one.tokens for one in self.results)

    def pass_all(self) -> tuple[int, float]:
        """Return k, the fewest attempts at a task, and pass^k: the share of tasks that the first k all solved."""
        tasks: dict[str, list[bool]] = {}
        for one in self.results:
            tasks.setdefault(one.task, []).append(one.solved)
        times = min(map(len, tasks.values()))
        return times, sum(all(solved[:times]) for solved in tasks.values()) / len(tasks)

    def row(self) -> list[str]:
        """Return the cells of the table, in the order of its titles."""
        attacked = [one.details["attack_succeeded"] for one in self.results if "attack_succeeded" in one.details]
        times, share = self.pass_all()
        traces = [one.traces for one in self.results if one.traces]
        return [
            self.suite,
            self.model,
            self.mode,
            self.policy,
            f"{self.solved}/{len(self.results)}",
            f"{share:.0%}, k={times}" if times > 1 else "",
            f"{sum(attacked)}/{len(attacked)}" if attacked else "",
            "" if self.model == "gold" else f"{self.tokens:,.0f}",
            f"{statistics.fmean(one['native'] for one in traces):,.0f}" if traces else "",
            f"{statistics.fmean(one['code'] for one in traces):,.0f}" if traces else "",
            f"{statistics.fmean(one.duration_s for one in self.results):.2f}",
        ]


def groups_of(results: Iterable[Result]) -> list[Group]:
    """Return the results grouped by suite, model, mode and policy."""
    ordered = sorted(results, key=_group)  # a stable sort: attempts stay in their order
    return [Group(*key, list(group)) for key, group in groupby(ordered, key=_group)]


def _group(result: Result) -> tuple[str, str, str, str]:
    return (result.suite, result.model, result.mode, result.policy)


def markdown_of(results: Sequence[Result]) -> str:
    """Return the table, and one line for each attempt that did not solve its task."""
    rows = [list(_TITLES), ["---"] * len(_TITLES), *(group.row() for group in groups_of(results))]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    failed = [f"- {one.suite} `{one.task}`: {' '.join(one.reason.split())[:300]}" for one in results if not one.solved]
    return "\n\n".join(filter(None, (table, "\n".join(failed)))) + "\n"


_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>codemode bench</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em }
td, th { padding: .2em .8em; text-align: right } td:first-child, th:first-child { text-align: left }
pre { background: #8881; padding: .6em; overflow: auto } summary { cursor: pointer } .no { color: #b00 }
</style>
<h1>codemode bench</h1>
<table><tr>{% for title in titles %}<th>{{ title }}</th>{% endfor %}</tr>
{% for group in groups %}<tr>{% for cell in group.row() %}<td>{{ cell }}</td>{% endfor %}</tr>{% endfor %}</table>
<h2>Success against tokens</h2>
<svg viewBox="0 0 620 320" width="620" role="img" aria-label="Success against mean tokens per task">
<path d="M50 10V280H610" fill="none" stroke="currentColor"/>
<text x="4" y="20">100%</text><text x="20" y="284">0%</text><text x="520" y="310">{{ most }} tokens</text>
{% for x, y, label in points %}<circle cx="{{ x }}" cy="{{ y }}" r="5"/><text x="{{ x - 5 }}" y="{{ y + 18 }}"
 font-size="11" text-anchor="end">{{ label }}</text>{% endfor %}</svg>
<h2>Transcripts</h2>
{% for one in results %}<details id="{{ one.key | join('-') }}"><summary>{{ one.suite }} {{ one.task }} {{ one.mode }}
 {% if one.solved %}solved{% else %}<span class="no">{{ one.reason }}</span>{% endif %}</summary>
{% for turn in one.turns %}<p><b>{{ turn.message }}</b></p>{% for step in turn.steps %}<pre>{{ step.program }}</pre>
<pre>{{ step.status }}{% for call in step.calls %}
{{ call }}{% endfor %}
{{ step.error or step.value }}</pre>{% endfor %}<p>{{ turn.answer }}</p>{% endfor %}</details>
{% endfor %}</html>
"""


def html_of(results: Sequence[Result]) -> str:
    """Return a page with the table, success against tokens as a plot, and every transcript."""
    groups = groups_of(results)
    most = max((group.tokens for group in groups), default=0) or 1
    points = [
        (round(50 + 540 * group.tokens / most), round(280 - 270 * group.success), f"{group.suite} {group.mode}")
        for group in groups
    ]
    template = Environment(autoescape=True).from_string(_PAGE)
    return template.render(titles=_TITLES, groups=groups, points=points, most=f"{most:,.0f}", results=results)
