"""Examples in docstrings, for `doctest`: part of the source, so they are looked at and compiled with it.

Nothing that comes up while a program runs becomes code: `doctest` finds the examples of a text only if that text stands
in the source as a docstring.
"""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType

#: Called with the value of each expression that stands alone, as the interactive interpreter shows it.
SHOW = ".show"

_PROMPT = re.compile(r"^(?P<indent> *)>>>(?: |$)(?P<source>.*)$")
_NO_CODE = re.compile(r"\s*(#|$)")
_OPTION = re.compile(r"#\s*doctest:\s*(?P<options>[^\n'\"]*)$", re.MULTILINE)
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Example:
    """One example: its source, what it should show, its options (`+ELLIPSIS`), and its code or why there is none."""

    source: str
    want: str
    line: int
    options: tuple[str, ...]
    code: CodeType | None
    problem: str = ""


def examples_of(
    nodes: Iterable[ast.AST], compile_one: Callable[[str], CodeType | str]
) -> dict[str, tuple[Example, ...]]:
    """Map the docstrings of a program to their examples. `compile_one` gives code, or a text that says why not."""
    found = {}
    for node in nodes:
        text = ast.get_docstring(node, clean=False) if isinstance(node, _DOCUMENTED) else None
        if text is not None and ">>>" in text:
            found[docstring_key(text)] = tuple(_examples(text, _first_line(node), compile_one))
    return found


def docstring_key(text: str) -> str:
    """Return the form under which the examples of a docstring are kept: compilers differ in what they strip."""
    return inspect.cleandoc(text)


def _first_line(node: Any) -> int:
    line: int = node.body[0].lineno
    return line


def _examples(text: str, first: int, compile_one: Callable[[str], CodeType | str]) -> Iterator[Example]:
    lines = text.expandtabs().split("\n")
    index = 0
    while index < len(lines):
        prompt = _PROMPT.match(lines[index])
        if prompt is None:
            index += 1
            continue
        start, indent = index, len(prompt["indent"])
        source = [prompt["source"]]
        index += 1
        while index < len(lines) and lines[index][indent:].startswith("..."):
            source.append(lines[index][indent + 4 :])
            index += 1
        want = []
        while index < len(lines) and lines[index].strip() and not _PROMPT.match(lines[index]):
            want.append(lines[index][indent:])
            index += 1
        if all(_NO_CODE.match(line) for line in source):
            continue
        code = compile_one("\n".join(source))
        problem, made = (code, None) if isinstance(code, str) else ("", code)
        yield Example("\n".join(source), "\n".join(want), first + start, _options(source), made, problem)


def _options(source: list[str]) -> tuple[str, ...]:
    return tuple(
        option for found in _OPTION.finditer("\n".join(source)) for option in re.split(r"[,\s]+", found["options"])
    )


def show_values(tree: ast.Module) -> None:
    """Rewrite the expressions that stand alone, outside of functions, so that their values are shown."""
    _Showing().visit(tree)


class _Showing(ast.NodeTransformer):
    """Leaves functions and classes alone."""

    def _skip(self, node: ast.AST) -> ast.AST:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _skip  # noqa: N815  # names of nodes

    def visit_Expr(self, node: ast.Expr) -> ast.Expr:
        """Hand the value over."""
        call = ast.Call(func=ast.Name(SHOW, ast.Load()), args=[node.value], keywords=[])
        return ast.fix_missing_locations(ast.copy_location(ast.Expr(call), node))
