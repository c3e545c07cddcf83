"""Calls that a refused program would have made."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codemode.executions.types.outcome import ExecutionOutcome


def rules_of(outcome: ExecutionOutcome) -> tuple[str, ...]:
    """Return the rules that refused a program before anything was sent; none if it ran."""
    return tuple(one.rule for one in outcome.failure.refusals) if outcome.failure is not None else ()


def written_tool_calls(program: str, namespaces: Iterable[str]) -> int:
    """Return how many calls of tools are written in a program. A call in a loop counts once."""
    roots = "|".join(re.escape(one) for one in (*namespaces, "tools"))
    return len(re.findall(rf"(?<![\w.])(?:{roots})(?:\.\w+)+\(", program))
