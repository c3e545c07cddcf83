"""Find the operations that a program's selection reaches, so that the policy judges them too.

A selection is a text in GraphQL: it may name a field that is a mutation of its own, at any depth, under an alias or
in an inline fragment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphql import (
    FieldNode,
    GraphQLError,
    InlineFragmentNode,
    OperationDefinitionNode,
    get_named_type,
    parse,
    value_from_ast_untyped,
)

from codemode.catalog.tool import Effect, ReachedOperation
from codemode.transports.graphql import LONGEST_SELECTION, MOST_TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from graphql import SelectionSetNode

    from codemode.sources.graphql.operations import Operation, Operations
    from codemode.transports.graphql import FieldInvocation


class ReachedOperations:
    """The operations that a call of one operation reaches by its selection."""

    def __init__(self, operations: Operations, operation: Operation, plan: FieldInvocation) -> None:
        self._operations = operations
        self._operation = operation
        self._plan = plan

    def __call__(self, arguments: Mapping[str, Any]) -> tuple[ReachedOperation, ...]:
        """Return the operations. An unreadable selection reaches none: it is rejected before anything is sent."""
        text = arguments.get(self._plan.selecting)
        if not isinstance(text, str) or len(text) > LONGEST_SELECTION:
            return ()
        try:
            definitions = parse(f"{{ {text} }}", max_tokens=MOST_TOKENS).definitions
        except GraphQLError:
            return ()
        if len(definitions) != 1 or not isinstance(definitions[0], OperationDefinitionNode):
            return ()
        return tuple(self._below(definitions[0].selection_set, arguments))

    def _below(self, selection: SelectionSetNode, arguments: Mapping[str, Any]) -> Iterator[ReachedOperation]:
        variables = {variable: value for variable, _, value in self._plan.sent(arguments).values()}
        kind, names = self._operation.kind, self._operation.names
        pending = [(selection, get_named_type(self._operation.field.type), names, dict(arguments))]
        while pending:  # selections may be deeper than Python's stack
            selected, parent, names, above = pending.pop()
            for node in selected.selections:
                if isinstance(node, InlineFragmentNode):
                    condition = node.type_condition
                    inner = self._operations.type(condition.name.value) if condition else parent
                    pending.append((node.selection_set, inner, names, above))
                    continue
                field = getattr(parent, "fields", {}).get(node.name.value) if isinstance(node, FieldNode) else None
                if not isinstance(node, FieldNode) or field is None:
                    continue
                name = node.name.value
                own = {one.name.value: value_from_ast_untyped(one.value, variables) for one in node.arguments or ()}
                effect = self._operations.judgement(kind, parent, name, field).effect
                yield from self._reached(parent.name, (*names, name), effect, {**above, **own})
                if node.selection_set is not None:
                    below = get_named_type(field.type)
                    pending.append((node.selection_set, below, (*names, name), {**above, **own}))

    def _reached(
        self, parent: str, names: tuple[str, ...], effect: Effect, arguments: dict[str, Any]
    ) -> Iterator[ReachedOperation]:
        """Yield the tools that one field is, or the field itself if it does something and is no tool."""
        known: tuple[Operation, ...] = ()
        if self._operation.kind == "mutation":
            exact = self._operations.by_names.get(names)
            known = (exact,) if exact else self._operations.by_field.get((parent, names[-1]), ())
        for one in known:
            yield ReachedOperation(".".join(one.names), one.effect.effect, one.key, arguments)
        if not known and effect is not Effect.READ:
            yield ReachedOperation(".".join(names), effect, arguments=arguments)
