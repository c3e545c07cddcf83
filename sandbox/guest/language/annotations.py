"""Annotations under `from __future__ import annotations`: text that the compiler writes from the tree as it stands.

Nothing of it is run, so the policy has nothing to decide there; its guards would show in the text.
"""

from __future__ import annotations
import __future__

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable

#: The flag that the statement gives to the compiler.
ANNOTATIONS = __future__.annotations.compiler_flag


class Text(NamedTuple):
    """An annotation, and where it stands."""

    node: Any
    field: str
    annotation: ast.expr


def set_aside(nodes: Iterable[ast.AST]) -> list[Text]:
    """Take all annotations out of the tree."""
    found = []
    for node in nodes:
        for field in ("annotation", "returns"):
            annotation = getattr(node, field, None)
            if annotation is not None:
                found.append(Text(node, field, annotation))
                setattr(node, field, None)
    return found


def put_back(texts: Iterable[Text]) -> None:
    """Put them back."""
    for node, field, annotation in texts:
        setattr(node, field, annotation)
