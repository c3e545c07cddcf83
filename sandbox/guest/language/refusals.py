"""Refusals of one program: each has a place, a reason and a hint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox.outcome import Refusal

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable

#: Refusals that are reported at most.
MOST = 20
#: Characters of a message at most: a name in it may be as long as the program.
LONGEST = 500


class Refusals:
    """Collects the refusals of one program."""

    def __init__(self) -> None:
        self._found: list[Refusal] = []
        self._seen: set[tuple[str, int, int]] = set()

    def add(self, node: ast.AST, rule: str, message: str, hint: str = "") -> None:
        """Refuse the source at a node. The same rule at the same place counts once."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        if (rule, line, column) in self._seen or len(self._found) >= MOST:
            return
        self._seen.add((rule, line, column))
        message = message if len(message) <= LONGEST else f"{message[:LONGEST]} …"
        self._found.append(Refusal(rule=rule, message=message, line=line, column=column, hint=hint))

    def has(self, rule: str) -> bool:
        """Return whether there is a refusal by a rule."""
        return any(refusal.rule == rule for refusal in self._found)

    def leave_out(self, rule: str, is_meant: Callable[[Refusal], bool]) -> None:
        """Remove the refusals of a rule for which `is_meant` is true, unless some were dropped because of `MOST`."""
        if len(self._found) < MOST:
            self._found = [each for each in self._found if each.rule != rule or not is_meant(each)]

    def sorted(self) -> tuple[Refusal, ...]:
        """Return the refusals in the order of the source."""
        return tuple(sorted(self._found, key=lambda refusal: (refusal.line, refusal.column)))

    def __bool__(self) -> bool:
        return bool(self._found)
