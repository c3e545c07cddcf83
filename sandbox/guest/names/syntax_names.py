"""`ast`: syntax trees as data. Text becomes a tree and a tree becomes text; nothing becomes code.

Trees are walked by the fields of their classes: an object can claim other fields, and is refused where it does.
"""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.source import SourceRefused, check_nesting
from sandbox.guest.names.kinds import stand_in
from sandbox.guest.runtime.access import WRITABLE
from sandbox.guest.runtime.classes import BASES
from sandbox.guest.runtime.handed_out import handed_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sandbox.guest.names.scene import Scene

#: Longest literal and longest program that are read; a parser that works on text is stopped by nobody.
LITERAL_CHARACTERS = 1_000_000
PROGRAM_CHARACTERS = 100_000
#: Deepest brackets.
DEPTH = 80

NODES = {name: kind for name, kind in vars(ast).items() if isinstance(kind, type) and issubclass(kind, ast.AST)}
_KNOWN = frozenset(kind for kind in NODES.values() if type(kind) is type)
#: Classes of constants that Python replaced by `Constant`.
_OLD = ("Num", "Str", "Bytes", "NameConstant", "Ellipsis")


def _is_hidden(name: Any) -> bool:
    return type(name) is not str or name.startswith("_")


def checked(node: Any) -> Any:
    """Return a node of a syntax tree. Raises TypeError for what is none, or says of itself what its class does not."""
    names = vars(node)  # a node is made with `__dict__=…`, too
    if type(node) not in _KNOWN or type(names) is not dict or any(map(_is_hidden, names)):
        message = f"expected a node of a syntax tree, not {type(node).__name__}"
        raise TypeError(message)
    return node


def iter_fields(node: Any) -> Iterator[tuple[str, Any]]:
    """Yield names and values of the fields of a node."""
    for name in type(checked(node))._fields:
        if hasattr(node, name):
            yield name, getattr(node, name)


def iter_child_nodes(node: Any) -> Iterator[Any]:
    """Yield the nodes directly below a node."""
    for _, value in iter_fields(node):
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST):
                yield item


def walk(node: Any) -> Iterator[Any]:
    """Yield a node and all below it."""
    pending = [node]
    for each in pending:
        pending += iter_child_nodes(each)
        yield each


def _tree(node: Any) -> Any:
    for each in walk(node):
        checked(each)
    return node


@handed_out
class NodeVisitor:
    """Calls `visit_Name` for each node of the class Name, `generic_visit` where there is none."""

    def visit(self, node: Any) -> Any:
        """Visit a node."""
        return getattr(self, "visit_" + type(checked(node)).__name__, self.generic_visit)(node)

    def generic_visit(self, node: Any) -> Any:
        """Visit the nodes below a node."""
        for child in iter_child_nodes(node):
            self.visit(child)


@handed_out
class NodeTransformer(NodeVisitor):
    """Puts what a visit returns in the place of the node."""

    def generic_visit(self, node: Any) -> Any:
        """Visit the nodes below a node, and replace them."""
        for name, value in list(iter_fields(node)):
            if isinstance(value, list):
                value[:] = self._replaced(value)
            elif isinstance(value, ast.AST):
                new = self.visit(value)
                if new is None:
                    delattr(node, name)
                else:
                    setattr(node, name, new)
        return node

    def _replaced(self, items: list[Any]) -> list[Any]:
        found: list[Any] = []
        for item in items:
            new = self.visit(item) if isinstance(item, ast.AST) else item
            if isinstance(new, list):
                found += new
            elif new is not None:
                found.append(new)
        return found


for _kind in (NodeVisitor, NodeTransformer):
    _kind.__module__ = "ast"
    BASES.add(_kind)
WRITABLE.update(_KNOWN)


def _text(source: Any, most: int) -> str:
    if not isinstance(source, str):
        raise TypeError("source must be text here")
    text = str.__str__(source)
    if len(text) > most:
        raise ValueError("the text is too long")
    return text


def parse(source: Any, filename: str = "<unknown>", mode: str = "exec", **_: Any) -> Any:
    """Return the syntax tree of a text."""
    text = _text(source, PROGRAM_CHARACTERS)
    if mode not in ("exec", "eval", "single"):
        message = f"parse() mode must be 'exec', 'eval' or 'single', not {mode!r}"
        raise ValueError(message)
    try:
        check_nesting(text, DEPTH)
    except SourceRefused as error:
        raise SyntaxError(str(error)) from None
    return ast.parse(text, "<unknown>", mode)


def literal_eval(node_or_string: Any) -> Any:
    """Return the value of a literal, given as text or as a tree."""
    if isinstance(node_or_string, ast.AST):
        return ast.literal_eval(_tree(node_or_string))
    text = _text(node_or_string, LITERAL_CHARACTERS)
    check_nesting(text, DEPTH)
    return ast.literal_eval(text)


def _on_trees(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of the library take trees whose nodes are what their classes say."""

    def on_trees(*arguments: Any, **options: Any) -> Any:
        for each in (*arguments, *options.values()):
            if isinstance(each, ast.AST):
                _tree(each)
            elif not isinstance(each, str | int | None):
                raise TypeError("expected a syntax tree")
        return function(*arguments, **options)

    on_trees.__name__ = on_trees.__qualname__ = function.__name__
    return on_trees


_LIBRARY = (
    *(ast.copy_location, ast.dump, ast.fix_missing_locations, ast.get_docstring, ast.get_source_segment),
    *(ast.increment_lineno, ast.unparse),
)


def ast_names(scene: Scene) -> dict[str, Any]:
    """Return the names of the module."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        old = {name: stand_in(name, "ast", getattr(ast, name)) for name in _OLD if hasattr(ast, name)}
    return {
        **{name: kind for name, kind in NODES.items() if kind in _KNOWN},
        **old,
        **{function.__name__: _on_trees(function) for function in _LIBRARY},
        "NodeTransformer": NodeTransformer,
        "NodeVisitor": NodeVisitor,
        "iter_child_nodes": iter_child_nodes,
        "iter_fields": iter_fields,
        "literal_eval": literal_eval,
        "parse": parse,
        "walk": walk,
    }


BUILDERS: dict[str, Callable[[Scene], dict[str, Any]]] = {"ast": ast_names}
