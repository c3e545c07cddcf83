# ruff: noqa: N802 - methods are named after the nodes of the syntax tree
"""What one guard has shown, the next need not ask: `node._left` after `node._key`, `p.y = …` after `p.x = …`.

A guard lets through an object, and all the names of its kind; which object a variable holds changes only where it is
bound. So the program is followed in the order in which it runs, with what is known of each variable: after a branch
what both sides know, in a loop what no turn of it changes, in a handler what the body cannot have changed. Only
variables that belong to the function at hand are followed, and none that another function may bind.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.attributes import LISTED_PRIVATE, Decision, decide
from sandbox.guest.language.bindings import BINDING, bindings, parameter_names
from sandbox.guest.language.source import children
from sandbox.guest.language.variables import has_other_spelling

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from typing import TypeGuard

#: Known of a variable's value: private names may be read; plain names may be written; both, and private ones written.
_READS, _WRITES, _ALL = 1, 2, 7
#: In larger programs every guard stays: to follow them would take longer than guards do.
_MOST_NODES = 5_000

#: Looked at where their method begins, see `receivers.check_receiver_first`.
_RECEIVERS = frozenset({"self", "cls"})

Known = dict[str, int]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (*_FUNCTIONS, ast.ClassDef, ast.Lambda, *_COMPREHENSIONS, getattr(ast, "TypeAlias", ()))
_BINDING_ELSEWHERE = (ast.Global, ast.Nonlocal, *_COMPREHENSIONS)
#: Expressions whose parts are evaluated in the order in which the tree lists them.
_IN_ORDER = (
    ast.Call, ast.keyword, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Slice, ast.Starred, ast.List, ast.Tuple, ast.Set,
    ast.JoinedStr, ast.FormattedValue, ast.Await, ast.Yield, ast.YieldFrom,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Proven:
    """What is known before the policy looks: `attributes`, by their `id`, need no guard; `steady` are the variables of
    the top level that nothing binds but the top level itself.
    """

    attributes: Collection[int] = ()
    steady: frozenset[str] = frozenset()


NOTHING_PROVEN = Proven()


def follow(tree: ast.Module, nodes: Sequence[ast.AST]) -> Proven:
    """Follow a program through its variables. `nodes` are all nodes of its tree."""
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    if not attributes:
        return NOTHING_PROVEN
    asked = Counter(node.value.id for node in attributes if _asks(node) and isinstance(node.value, ast.Name))
    again = {name for name, times in asked.items() if times > 1 and _is_followed(name)}
    if not again or len(nodes) > _MOST_NODES or any(map(_binds_anything, nodes)):
        return NOTHING_PROVEN
    shared = {name for node in nodes if isinstance(node, _BINDING_ELSEWHERE) for name in _bound_elsewhere(node)}
    found: set[int] = set()
    local = frozenset(name for name in _bound_here(tree.body) - shared if not has_other_spelling(name))
    _Function(local & again, frozenset(again - shared), found).follow(tree.body)
    return Proven(found, local)


def _bound_elsewhere(node: ast.AST) -> Iterable[str]:
    """Return the names that are bound here for another scope, which may be whenever other code runs."""
    if isinstance(node, ast.Global | ast.Nonlocal):
        return node.names
    return [inner.target.id for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr)]


def _asks(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and (not isinstance(node.ctx, ast.Load) or node.attr.startswith("_"))


def _is_followed(name: str) -> bool:
    return name not in _RECEIVERS and not has_other_spelling(name)


def _binds_anything(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and node.names[0].name == "*"


class _Function:
    """Follows the body of one function, or the top level.

    `local` are the variables that it binds itself, `asked` those that guards ask for more than once in the program.
    """

    def __init__(self, local: frozenset[str], asked: frozenset[str], found: set[int]) -> None:
        self._local = local & asked
        self._asked = asked
        self._found = found

    def follow(self, body: list[ast.stmt]) -> None:
        """Go through from the beginning, where nothing is known."""
        self._block(body, {})

    def _block(self, body: Iterable[ast.stmt], known: Known) -> Known | None:
        """Return what is known at the end; None where the end is not reached."""
        after: Known | None = known
        for statement in body:
            if after is None:
                break
            step: Callable[[Any, Known], Known | None] = getattr(self, "_" + type(statement).__name__, self._other)
            after = step(statement, after)
        return after

    def _other(self, node: ast.stmt, known: Known) -> Known:
        return _without(known, node)

    # --- statements ----------------------------------------------------------------------------------------------

    def _Expr(self, node: ast.Expr, known: Known) -> Known:
        self._evaluate(node.value, known)
        return known

    def _Assign(self, node: ast.Assign, known: Known) -> Known:
        for part in (node.value, *node.targets):
            self._evaluate(part, known)
        return known

    def _AugAssign(self, node: ast.AugAssign, known: Known) -> Known:
        self._evaluate(node.target, known)
        self._evaluate(node.value, known)
        return _without(known, node)

    def _Return(self, node: ast.Return | ast.Raise, known: Known) -> None:
        for part in ast.iter_child_nodes(node):
            self._evaluate(part, known)

    _Raise = _Break = _Continue = _Return

    def _Delete(self, node: ast.Delete, known: Known) -> Known:
        for target in node.targets:
            self._evaluate(target, known)
        return known

    def _If(self, node: ast.If, known: Known) -> Known | None:
        self._evaluate(node.test, known)
        ends = [self._block(body, dict(known)) for body in (node.body, node.orelse)]
        reached = [end for end in ends if end is not None]
        return _common(reached) if reached else None

    def _While(self, node: ast.While, known: Known) -> Known:
        known = _without(known, node)
        turn = dict(known)
        self._evaluate(node.test, turn)
        self._block(node.body, turn)
        self._block(node.orelse, dict(known))
        return known

    def _For(self, node: ast.For | ast.AsyncFor, known: Known) -> Known:
        self._evaluate(node.iter, known)
        known = _without(known, node)
        turn = dict(known)
        self._evaluate(node.target, turn)
        self._block(node.body, turn)
        self._block(node.orelse, dict(known))
        return known

    _AsyncFor = _For

    def _With(self, node: ast.With | ast.AsyncWith, known: Known) -> Known:
        inside = dict(known)
        for item in node.items:
            self._evaluate(item.context_expr, inside)
            if item.optional_vars is not None:
                self._evaluate(item.optional_vars, inside)
        self._block(node.body, inside)
        return _without(known, node)  # an error in it may have been swallowed

    _AsyncWith = _With

    def _Try(self, node: ast.Try, known: Known) -> Known:
        after = self._block(node.body, dict(known))
        known = _without(known, node)
        self._block(node.orelse, dict(known) if after is None else after)
        for handler in node.handlers:
            self._block(handler.body, dict(known))
        self._block(node.finalbody, dict(known))
        return known

    def _FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, known: Known) -> Known:
        local = _bound_here(node.body) | parameter_names(node.args)
        _Function(frozenset(local), self._asked, self._found).follow(node.body)
        return _without(known, node)

    _AsyncFunctionDef = _FunctionDef

    def _ClassDef(self, node: ast.ClassDef, known: Known) -> Known:
        for inner in node.body:  # what the body itself binds goes into its namespace
            if isinstance(inner, (*_FUNCTIONS, ast.ClassDef)):
                self._block([inner], {})
        return _without(known, node)

    # --- expressions ---------------------------------------------------------------------------------------------

    def _evaluate(self, node: ast.AST, known: Known) -> None:
        """Follow one expression, noting what its guards show."""
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                known.pop(node.id, None)
        elif isinstance(node, ast.Attribute):
            self._evaluate(node.value, known)
            if isinstance(node.value, ast.Name):
                self._access(node, node.value.id, known)
        elif isinstance(node, _IN_ORDER):
            for part in ast.iter_child_nodes(node):
                self._evaluate(part, known)
        elif isinstance(node, ast.NamedExpr):
            self._evaluate(node.value, known)
            self._evaluate(node.target, known)
        elif isinstance(node, _COMPREHENSIONS):
            self._comprehend(node, known)
        else:
            self._maybe(node, known)

    def _maybe(self, node: ast.AST, known: Known) -> None:
        """Follow an expression whose first parts are evaluated always, and the others perhaps."""
        always: list[ast.expr] = []
        perhaps: list[list[ast.expr]] = []
        if isinstance(node, ast.BoolOp):
            always, perhaps = node.values[:1], [node.values[1:]]
        elif isinstance(node, ast.IfExp):
            always, perhaps = [node.test], [[node.body], [node.orelse]]
        elif isinstance(node, ast.Compare):
            always, perhaps = [node.left, node.comparators[0]], [node.comparators[1:]]
        for part in always:
            self._evaluate(part, known)
        for parts in perhaps:
            inside = dict(known)
            for part in parts:
                self._evaluate(part, inside)
        _forget(known, node)

    def _comprehend(self, node: Any, known: Known) -> None:
        """Follow one turn: from turn to turn nothing is known, and of the variables around it nothing at all."""
        self._evaluate(node.generators[0].iter, known)
        if any(isinstance(inner, ast.NamedExpr) for inner in ast.walk(node)):
            _forget(known, node)
            return
        targets = (generator.target for generator in node.generators)
        inner = _Function(frozenset(_bound_here(targets)), self._asked, self._found)
        turn: Known = {}
        for index, generator in enumerate(node.generators):
            for part in (*([generator.iter] if index else []), generator.target, *generator.ifs):
                inner._evaluate(part, turn)
        parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        for part in parts:
            inner._evaluate(part, turn)

    def _access(self, node: ast.Attribute, name: str, known: Known) -> None:
        """Decide on `name.attribute`: the guard is not needed, or shows something."""
        if name not in self._local:
            return
        decision = decide(node.attr)
        is_read = isinstance(node.ctx, ast.Load)
        if decision is Decision.PRIVATE:
            needed, shown = (_READS, _READS) if is_read else (_ALL, _ALL)
            if is_read and node.attr in LISTED_PRIVATE:
                shown = 0  # these pass on named tuples and enumerations, too
        elif decision is Decision.PLAIN and not is_read:
            needed = shown = _WRITES
        else:
            return
        before = known.get(name, 0)
        if before & needed == needed:
            self._found.add(id(node))
        else:
            known[name] = before | shown


def _bound_here(parts: Iterable[ast.AST]) -> set[str]:
    """Return the names that are bound here, in this scope and no other."""
    bound: set[str] = set()
    level = list(parts)
    while level:
        for node in level:
            if type(node) in BINDING:
                bound.update(bindings(node))
        level = children([node for node in level if not isinstance(node, _SCOPES)])
    return bound


def _forget(known: Known, node: ast.AST) -> None:
    """Forget what is known of all names that are bound in a part of the program, whatever the scope."""
    level = [node] if known else []
    while level:
        for inner in level:
            if type(inner) in BINDING:
                for name in bindings(inner):
                    known.pop(name, None)
        level = children(level)


def _without(known: Known, node: ast.AST) -> Known:
    known = dict(known)
    _forget(known, node)
    return known


def _common(ends: list[Known]) -> Known:
    first, *others = ends
    return {name: _shared_by(flags, name, others) for name, flags in first.items()}


def _shared_by(flags: int, name: str, others: list[Known]) -> int:
    for other in others:
        flags &= other.get(name, 0)
    return flags
