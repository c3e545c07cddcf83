"""From text to syntax tree, within budgets. The parser itself ends at what nests too deeply."""

from __future__ import annotations

import ast
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from sandbox.guest.language.readings import readings, without_language

#: Nodes of a syntax tree; the largest program that a model wrote in the development corpus has 1,900.
MOST_NODES = 40_000
#: Nested comprehensions: CPython 3.13 crashes at about 25.
MOST_COMPREHENSIONS = 12
#: Nested `try … finally`: the compiler repeats each `finally` for each way into it.
MOST_FINALLYS = 6


class SourceRefused(Exception):
    """The text cannot be read as a program. The message says why."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed program: its text, its tree, and all nodes of the tree, level by level.

    Each look at the program goes over `nodes`: finding them takes longer than looking. `kinds` are their types: what
    is not in it need not be looked for. `note` says what was read differently from what stands in the text.
    """

    text: str
    tree: ast.Module
    nodes: tuple[ast.AST, ...]
    kinds: frozenset[type[ast.AST]]
    note: str = ""


def parse(code: str, *, limit_bytes: int, limit_depth: int) -> Source:
    """Parse a program. If it does not parse, try it without what models and their clients put around and into it.

    Raises SourceRefused for a text over its budgets, SyntaxError for one that is not Python.
    """
    code = without_language(code.removeprefix("\ufeff"))  # files begin with it
    _check_text(code, limit_bytes)
    failure: SyntaxError | None = None
    for text, note in readings(code):
        try:
            text, tree = _unquoted(text, _parse_one(text))
        except SyntaxError as error:
            failure = failure or error
            continue
        if failure is not None and not tree.body:
            continue  # everything was taken off
        nodes = _all_nodes(tree, limit_depth)
        kinds = frozenset(map(type, nodes))
        if not kinds.isdisjoint(_MAY_GROW):
            _check_growth(tree, nodes)
        return Source(text, tree, nodes, kinds, note)
    assert failure is not None  # noqa: S101  # there is always one reading
    raise failure


def _check_text(code: str, limit_bytes: int) -> None:
    size = len(code.encode("utf-8", "surrogatepass"))
    if size > limit_bytes:
        message = f"the program has {size:,} bytes, {limit_bytes:,} are allowed"
        raise SourceRefused(message, "do it in smaller steps; data belongs in results of calls, not in the source")
    if "\0" in code:
        raise SourceRefused("the program holds a null character", "leave it out")
    try:
        code.encode()
    except UnicodeEncodeError:
        raise SourceRefused("the program holds half of a surrogate pair", "write the character itself") from None


def _parse_one(text: str) -> ast.Module:
    try:
        return ast.parse(text, "<program>")
    except (RecursionError, MemoryError):
        raise SourceRefused("the program is nested too deeply", "use intermediate variables") from None
    except ValueError as error:  # integers with more digits than CPython converts
        raise SyntaxError(str(error)) from None


def _unquoted(text: str, tree: ast.Module) -> tuple[str, ast.Module]:
    """Return the program that stands in a text which is one literal, if it has several lines and calls something."""
    match tree.body:
        case [ast.Expr(ast.Constant(str(inner)))] if "(" in inner and "\n" in inner.strip():
            with suppress(SyntaxError, SourceRefused):
                program = _parse_one(inner)
                if any(isinstance(node, ast.Call) for node in ast.walk(program)):
                    return inner, program
    return text, tree


def _all_nodes(tree: ast.Module, limit_depth: int) -> tuple[ast.AST, ...]:
    """Return the nodes, level by level. Raises SourceRefused when there are too many nodes or levels."""
    nodes: list[ast.AST] = []
    level: list[ast.AST] = [tree]
    depth = 0
    while level:
        nodes += level
        depth += 1
        if len(nodes) > MOST_NODES:
            message = f"the program has more than {MOST_NODES:,} syntax nodes"
            raise SourceRefused(message, "do it in smaller steps")
        if depth > limit_depth:
            message = f"the program is nested more than {limit_depth} deep"
            raise SourceRefused(message, "use intermediate variables")
        level = children(level)
    return tuple(nodes)


def _check_growth(tree: ast.Module, nodes: tuple[ast.AST, ...]) -> None:
    """Refuse constructs that the compiler cannot nest so deep. The depth is computed only if there are many."""
    for kinds, most, what in _GROWING:
        if sum(_grows(node, kinds) for node in nodes) <= most:
            continue
        pending: list[tuple[ast.AST, int]] = [(tree, 0)]
        while pending:
            node, depth = pending.pop()
            depth += _grows(node, kinds)
            if depth > most:
                message = f"{what} are nested more than {most} deep"
                raise SourceRefused(message, "use functions or intermediate variables")
            pending += [(child, depth) for child in children([node])]


def _grows(node: ast.AST, kinds: tuple[type, ...]) -> bool:
    return isinstance(node, kinds) and bool(getattr(node, "finalbody", True))


_GROWING: tuple[tuple[tuple[type, ...], int, str], ...] = (
    ((ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp), MOST_COMPREHENSIONS, "comprehensions"),
    ((ast.Try, ast.TryStar), MOST_FINALLYS, "try statements with finally"),
)


_MAY_GROW = frozenset(kind for kinds, _, _ in _GROWING for kind in kinds)


def children(level: list[ast.AST]) -> list[ast.AST]:
    """Return the children of these nodes, except contexts and operators."""
    found: list[ast.AST] = []
    for node in level:
        kind: Any = type(node)
        for name in _fields_with_nodes(kind):
            value = getattr(node, name, None)
            if isinstance(value, _NODE):
                found.append(value)
            elif value and isinstance(value, list):
                found += [item for item in value if isinstance(item, _NODE)]
    return found


_NODE = ast.AST
#: Fields that hold text or numbers, or contexts and operators, which all trees share.
_NO_NODES = frozenset({
    "id", "attr", "arg", "asname", "module", "level", "is_async", "simple", "conversion", "rest", "ctx", "op", "ops",
})  # fmt: skip


@cache
def _fields_with_nodes(kind: Any) -> tuple[str, ...]:
    return tuple(name for name in kind._fields if name not in _NO_NODES)
