"""Repeated calls of a ledger as one: the short form for people and models. JSON data keeps each call."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from codemode.executions.types.ledger import LedgerEntry


def repeats(calls: Iterable[LedgerEntry]) -> list[tuple[LedgerEntry, ...]]:
    """Return the calls in groups of one tool and one shown state, in the order of their first calls."""
    groups: dict[Hashable, list[LedgerEntry]] = {}
    for call in calls:
        groups.setdefault((call.tool, call.shown_state), []).append(call)
    return [tuple(group) for group in groups.values()]


def times(count: int) -> str:
    """Return a number of repeats as text, after a multiplication sign, and "" for a single call."""
    return f"\N{MULTIPLICATION SIGN}{count:,}" if count > 1 else ""


def shared_arguments(calls: Sequence[LedgerEntry], most: int) -> str:
    """Return the arguments of a group as Python. Those that differ are `…`; others have at most `most` characters."""
    values = {name: [call.arguments.get(name) for call in calls] for name in calls[0].arguments}
    return ", ".join(f"{name}={_shared(several, most)}" for name, several in values.items())


def _shared(values: list[object], most: int) -> str:
    return repr(values[0])[:most] if all(value == values[0] for value in values) else "…"
