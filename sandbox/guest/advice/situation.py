"""What is known of an error: where it arose, and the values at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sandbox.guest.advice.values import value_of

if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping, Sequence

    from sandbox.guest.advice.place import Place

    #: The names that tools are bound under; with what they take where they are functions.
    Roots = Mapping[str, Sequence[str]]


class Situation:
    """An error, where it arose, and what was there."""

    def __init__(
        self, error: BaseException, message: str, place: Place | None, variables: dict[str, Any], roots: Roots
    ) -> None:
        self.error = error
        self.message = message
        self.node = place.node if place is not None else None
        self.tree = place.tree if place is not None else None
        self.line = place.line if place is not None else 0
        self.variables = {**variables, **place.local} if place is not None else variables
        self.names = sorted(roots)
        self.namespaces = [name for name in self.names if not roots[name]]

    def value(self, node: ast.AST | None) -> Any:
        """Return the value of an expression, or UNKNOWN."""
        return value_of(node, self.variables)
