"""Figures of results: what may be published of a run, without the texts that belong to a suite or a model."""

from __future__ import annotations

import lzma
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from codemode.bench.results import Result, Step, TurnRecord


def figures_of(result: Result) -> Result:
    """Return the result without messages, programs, values, errors and reasons. Its row in a report is the same."""
    return replace(
        result,
        reason="",
        turns=[_turn(one) for one in result.turns],
        details={name: value for name, value in result.details.items() if isinstance(value, (bool, int, float))},
        duration_s=_rounded(result.duration_s),
    )


def _turn(turn: TurnRecord) -> TurnRecord:
    return replace(
        turn,
        message="",
        answer="",
        steps=[_step(one) for one in turn.steps],
        duration_s=_rounded(turn.duration_s),
        model_s=_rounded(turn.model_s),
        tools_s=_rounded(turn.tools_s),
    )


def _step(step: Step) -> Step:
    return replace(step, program="", value=None, error="", calls=(), duration_s=_rounded(step.duration_s))


def _rounded(seconds: float) -> float:
    return round(seconds, 3)


def write_figures(results: Iterable[Result], file: Path, about: Mapping[str, str] = MappingProxyType({})) -> None:
    """Write the figures of results, one line each. A file whose name ends in `.xz` is compressed.

    `about` adds to how the results came about.
    """
    named = (replace(one, about={**one.about, **about}) for one in results)
    text = "".join(f"{figures_of(one).to_line()}\n" for one in named).encode()
    file.write_bytes(lzma.compress(text, preset=9) if file.suffix == ".xz" else text)
