"""Read the source of a program in a process of its own: a hostile source can end this process, but not the host.

Each line of standard input is a request `{"code", "names", "values", "limit_bytes", "limit_depth"}`, each line of
standard output the fields of `sandbox.monty.reader.Reading` or `{"failure": …}`. Nothing of a program runs here.
"""

from __future__ import annotations

import ast
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sandbox.guest.advice.syntax import hint_for_syntax
from sandbox.guest.language.bindings import bound_names
from sandbox.guest.language.deferral import deferred_calls
from sandbox.guest.language.refusals import Refusals
from sandbox.guest.language.sites import call_sites, dotted
from sandbox.guest.language.source import SourceRefused, parse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

#: The modules of pydantic-monty 1.4.
MODULES = (
    *("asyncio", "base64", "binascii", "bisect", "collections", "copy", "csv", "dataclasses", "datetime", "decimal"),
    *("functools", "hashlib", "itertools", "json", "math", "os", "pathlib", "random", "re", "sys", "time", "tomllib"),
    *("typing", "unicodedata"),
)
ASYNCIO = ("gather", "run", "sleep")

#: Fields of the process engine's ToolError. In Monty, it is RuntimeError, which has none.
_ERROR_FIELDS = frozenset({"status", "kind", "body", "retry_after_s", "reason"})
#: Methods of `datetime` that Monty does not have, and what does the same.
_DATES = {
    "fromtimestamp": "write datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=...)",
    "utcfromtimestamp": "write datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=...)",
    "isocalendar": "use .strftime('%G-%V-%u')",
}
#: Functions that read all items of a generator expression.
_READ_ALL = frozenset({"dict", "frozenset", "gather", "join", "list", "max", "min", "set", "sorted", "sum", "tuple"})
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def main() -> None:
    """Answer requests until the input ends."""
    for line in sys.stdin.buffer:
        answer = read(**json.loads(line))
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()


def read(*, code: str, names: list[str], values: dict[str, str], limit_bytes: int, limit_depth: int) -> dict[str, Any]:
    """Return what the source shows about a program, or its failure."""
    code = code.replace("\r\n", "\n").replace("\r", "\n")  # the interpreter counts bytes
    try:
        source = parse(code, limit_bytes=limit_bytes, limit_depth=limit_depth)
        text = _rewritten(source.text, source.nodes, values)
        if text != source.text:
            source = parse(text, limit_bytes=len(text.encode()), limit_depth=limit_depth)
    except SourceRefused as error:
        return {"failure": {"type": "PolicyViolation", "message": error.message, "hint": error.hint}}
    except SyntaxError as error:
        message, line = error.msg or "invalid syntax", error.lineno or 1
        place = {"line": line, "column": max(0, (error.offset or 1) - 1), "hint": hint_for_syntax(error, code)}
        return {"failure": {"type": type(error).__name__, "message": f"line {line}: {message}", **place}}
    except (RecursionError, MemoryError):
        return {"failure": {"type": "PolicyViolation", "message": "the program is nested too deeply"}}
    bound = bound_names(source.nodes)
    deferred = deferred_calls(source.nodes, names, bound)
    offsets = _Offsets(source.text)
    text, returns = _with_result(source.text, source.tree.body)
    return {
        "text": text,
        "returns": returns,
        "sites": [asdict(site) for site in call_sites(source.nodes, names, bound)],
        "parallel": [offsets.range(node) for node in source.nodes if id(node) in deferred],
        "refusals": [asdict(refusal) for refusal in _refusals(source.nodes, names)],
    }


def _rewritten(text: str, nodes: Sequence[ast.AST], values: Mapping[str, str]) -> str:
    """Give `next` an iterator, because a generator expression is a list in Monty, and load the values of names.

    A name such as `last` becomes `load("last")`. Lines stay as they are.
    """
    data, offsets = text.encode(), _Offsets(text)
    edits: list[tuple[int, bytes]] = []
    bound = bound_names(nodes) if values else {}
    for node in nodes:
        match node:
            case ast.Call(ast.Name("next"), [ast.GeneratorExp() as items, *_]):
                start, end = offsets.range(items)
                has_own = end != offsets.range(node)[1]  # `next((…), None)`; else the brackets of the call are its own
                edits += [(start, b"iter")] if has_own else [(start, b"(iter"), (end, b")")]
            case ast.Name(name) if name in values and not bound[name]:
                start, end = offsets.range(node)
                if data[start:end] == name.encode():  # Python 3.11 misplaces names in f-strings
                    edits += [(start, f'{values[name]}("'.encode()), (end, b'")')]
    for place, insert in sorted(edits, reverse=True):
        data = data[:place] + insert + data[place:]
    return data.decode()


def _with_result(text: str, body: Sequence[ast.stmt]) -> tuple[str, bool]:
    """Let a program that ends by assigning `result` return it. Return whether the program ends with a value."""
    last = body[-1] if body else None
    targets = last.targets if isinstance(last, ast.Assign) else [getattr(last, "target", None)]
    if any(isinstance(target, ast.Name) and target.id == "result" for target in targets):
        return f"{text}\nresult", True
    return text, isinstance(last, ast.Expr) or any(isinstance(node, ast.Return) for node in _outside(body))


def _outside(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield the nodes that are in no function or class."""
    level = list(nodes)
    while level:
        level = [node for node in level if not isinstance(node, _SCOPES)]
        yield from level
        level = [child for node in level for child in ast.iter_child_nodes(node)]


class _Offsets:
    """Places in a source as UTF-8 byte offsets, as Monty gives them."""

    def __init__(self, text: str) -> None:
        self._starts = [0]
        for line in text.split("\n"):
            self._starts.append(self._starts[-1] + len(line.encode()) + 1)

    def range(self, node: Any) -> tuple[int, int]:
        """Return where a node starts and ends."""
        return (
            self._starts[node.lineno - 1] + node.col_offset,
            self._starts[node.end_lineno - 1] + node.end_col_offset,
        )


# --- what Monty does not have ----------------------------------------------------------------------------------------


def _refusals(nodes: Sequence[ast.AST], names: Collection[str]) -> list[Any]:
    """Refuse what would fail in the middle of the program. Monty itself refuses unsupported syntax."""
    refusals = Refusals()
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            _check_import(node, names, refusals)
        elif isinstance(node, ast.Attribute | ast.Name):
            _check_name(node, refusals)
        elif isinstance(node, ast.Call):
            _check_call(node, refusals)
        elif isinstance(node, ast.ExceptHandler) and node.name and node.type is not None:
            _check_error(node, node.name, node.type, refusals)
    _check_generators(nodes, {*names, "tools"}, refusals)
    return list(refusals.sorted())


def _check_import(node: ast.Import | ast.ImportFrom, names: Collection[str], refusals: Refusals) -> None:
    if isinstance(node, ast.ImportFrom):
        _check_module(node, node.module or "", names, refusals)
        for alias in node.names:
            _check_asyncio(node, f"{node.module}.{alias.name}", refusals)
    else:
        for alias in node.names:
            _check_module(node, alias.name, names, refusals)


def _check_name(node: ast.Attribute | ast.Name, refusals: Refusals) -> None:
    if isinstance(node, ast.Attribute):
        _check_asyncio(node, ".".join(dotted(node) or ()), refusals)
        if node.attr in _DATES:
            refusals.add(node, "monty", f"this engine has no .{node.attr}", _DATES[node.attr])
    elif node.id == "ToolRejected":
        message = "this engine has no ToolRejected: a rejected call raises ToolError"
        refusals.add(node, "monty", message, "catch ToolError; str(error) has the reason")


def _check_module(node: ast.AST, name: str, names: Collection[str], refusals: Refusals) -> None:
    if name in names:
        message = f"this engine does not import {name}, which is bound already"
        refusals.add(node, "import", message, "remove the import")
    elif name not in MODULES:
        message = f"this engine has no module {name}"
        refusals.add(node, "import", message, f"modules: {', '.join(MODULES)}")


def _check_asyncio(node: ast.AST, name: str, refusals: Refusals) -> None:
    module, _, attribute = name.partition(".")
    if module == "asyncio" and attribute and attribute not in ASYNCIO:
        message = f"this engine has no asyncio.{attribute}"
        refusals.add(node, "monty", message, "make parallel calls with asyncio.gather; asyncio.sleep waits")


def _check_call(call: ast.Call, refusals: Refusals) -> None:
    name = _name(call)
    if name == "gather" and call.keywords:
        message = "in this engine, asyncio.gather takes no keyword arguments"
        refusals.add(call, "monty", message, "catch ToolError in each coroutine")


def _check_generators(nodes: Sequence[ast.AST], roots: Collection[str], refusals: Refusals) -> None:
    """Refuse calls in generator expressions that may end early: Monty makes all of them at once."""
    read_all: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, ast.Call) and _name(node) in _READ_ALL:
            read_all.update(each.value if isinstance(each, ast.Starred) else each for each in node.args)
    for node in nodes:
        if not isinstance(node, ast.GeneratorExp) or node in read_all:
            continue
        first, *others = node.generators  # whose source is read at once in CPython, too
        parts = [node.elt, *first.ifs, *others]
        calls = (each for part in parts for each in ast.walk(part) if isinstance(each, ast.Call))
        if any((dotted(call.func) or [""])[0] in roots for call in calls):
            message = "in this engine, a generator expression makes all of its calls at once"
            refusals.add(node, "monty", message, "use a for loop with break, or a list")


def _name(call: ast.Call) -> str:
    """Return the last part of the name of the function that is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _check_error(handler: ast.ExceptHandler, name: str, kinds: ast.expr, refusals: Refusals) -> None:
    if not any(isinstance(node, ast.Name) and node.id == "ToolError" for node in ast.walk(kinds)):
        return
    for node in ast.walk(handler):
        if isinstance(node, ast.Attribute) and node.attr in _ERROR_FIELDS and getattr(node.value, "id", "") == name:
            message = f"in this engine, a ToolError has no .{node.attr}"
            refusals.add(node, "monty", message, f"use str({name}): it has the status and the reason")
