"""Default fields that answered with an error: they are left out of the next calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from graphql import FieldNode, InlineFragmentNode, OperationDefinitionNode, SelectionSetNode, parse, print_ast

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

#: Largest number of pairs of a caller's account and a tool whose fields are remembered.
_MOST_REMEMBERED = 1_000

Path = tuple[str, ...]


class FailingFields:
    """The paths of default fields that answered with an error, by caller and account, and tool."""

    def __init__(self) -> None:
        self._paths: dict[tuple[Hashable, str], frozenset[Path]] = {}

    def of(self, owner: Hashable, tool: str) -> frozenset[Path]:
        """Return the paths to leave out."""
        return self._paths.get((owner, tool), frozenset())

    def add(self, owner: Hashable, tool: str, paths: Iterable[Path]) -> None:
        """Remember paths. The oldest pair is forgotten when there are too many."""
        known = self._paths.pop((owner, tool), frozenset())
        self._paths[owner, tool] = known.union(paths)
        if len(self._paths) > _MOST_REMEMBERED:
            del self._paths[next(iter(self._paths))]


def failed_paths(errors: Any, field: Path) -> frozenset[Path]:
    """Return the paths below a field that errors name, without the positions in lists. Empty if one names none."""
    paths = set()
    for error in errors if isinstance(errors, list) else ():
        path = error.get("path") if isinstance(error, Mapping) else None
        names = tuple(name for name in path if isinstance(name, str)) if isinstance(path, list) else ()
        if names[: len(field)] != field or len(names) == len(field):
            return frozenset()
        paths.add(names[len(field) :])
    return frozenset(paths)


def without_fields(selection: str, paths: frozenset[Path]) -> str:
    """Return a selection without the fields at these paths, "" if none are left."""
    definition = parse(f"{{ {selection} }}").definitions[0]
    kept = _kept(definition.selection_set, paths, ()) if isinstance(definition, OperationDefinitionNode) else None
    return " ".join(print_ast(node) for node in kept.selections) if kept is not None else ""


def _kept(selected: SelectionSetNode, paths: frozenset[Path], above: Path) -> SelectionSetNode | None:
    nodes = []
    for node in selected.selections:
        own = (*above, _key(node)) if isinstance(node, FieldNode) else above
        inner = getattr(node, "selection_set", None)
        if own in paths and isinstance(node, FieldNode):
            continue
        if inner is None:
            nodes.append(node)
        elif (rest := _kept(inner, paths, own)) is not None:
            nodes.append(_with_selection(node, rest))
    return SelectionSetNode(selections=tuple(nodes)) if nodes else None


def _key(node: FieldNode) -> str:
    return node.alias.value if node.alias else node.name.value


def _with_selection(node: Any, selected: SelectionSetNode) -> Any:
    if isinstance(node, InlineFragmentNode):
        return InlineFragmentNode(
            type_condition=node.type_condition, directives=node.directives, selection_set=selected
        )
    return FieldNode(
        alias=node.alias,
        name=node.name,
        arguments=node.arguments,
        directives=node.directives,
        selection_set=selected,
    )
