"""Which calls are handed over un-run, because their value can go nowhere but to `await` or into asyncio.

A tool call gives its value, everywhere. Only where following it through the tree shows that every way of its value
ends in `await` or in an asyncio function that takes awaitables is it deferred, so that `gather(*[ns.op(…) for …])`
runs in parallel. A miss costs parallelism, never a result: awaiting a value gives the value.
"""

from __future__ import annotations

import ast
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.scopes import Scopes

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Collection, Iterable

#: Methods and functions of asyncio that take awaitables, whatever they are called on.
_SINKS = frozenset({"gather", "create_task", "ensure_future", "wait_for", "shield", "run_until_complete"})
#: The same, where they are surely asyncio's.
_ASYNCIO_SINKS = frozenset({"as_completed", "wait", "run"})
#: Builtins that hand on what is in their argument.
_PASS_ON = frozenset({"list", "tuple", "set", "iter", "reversed", "enumerate", "zip", "dict"})
#: Methods that put their arguments into the object.
_PUT = frozenset({"append", "add", "extend", "insert", "appendleft", "update"})
#: Methods that give what is in the object.
_TAKE = frozenset({"values", "items", "copy", "pop", "popleft"})
#: Steps from a call to the end of a way. A program with longer ways runs such calls where they stand.
MOST_STEPS = 60
#: Uses that do not look at the values.
_HARMLESS_CALLS = frozenset({"len", "bool", "range"})


class Use(IntEnum):
    """What happens to a value at one place, or at all its places."""

    LOOKED_AT = 0  # or not known: the call must run
    HARMLESS = 1  # put away, counted: says nothing
    AWAITED = 2


def _worst(uses: Iterable[Use]) -> Use:
    """Join what happens at several places: one look spoils it, and somebody must await."""
    worst = Use.HARMLESS
    for use in uses:
        if use is Use.LOOKED_AT:
            return use
        worst = max(worst, use)
    return worst


def deferred_calls(
    tree: ast.Module, nodes: Iterable[ast.AST], names: Collection[str], bound: Counter[str]
) -> frozenset[int]:
    """Return the ids of the call nodes that are deferred. `nodes` are all of the tree."""
    flow = _Flow(tree, nodes)
    own = {name for name in flow.scopes.functions if bound[name] == 1 and name not in names}
    found = set()
    for node in nodes:
        if not isinstance(node, ast.Call) or (isinstance(node.func, ast.Name) and node.func.id in own):
            continue
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            continue
        if flow.follow(node) is Use.AWAITED:
            found.add(id(node))
    return frozenset(found)


#: A variable of a scope; with a statement, as far as what that statement assigns can be seen.
_Key = tuple[ast.AST, str, ast.AST | None]


class _Flow:
    """Follows values from where they arise to all places where they are used."""

    def __init__(self, tree: ast.Module, nodes: Iterable[ast.AST]) -> None:
        self.scopes = Scopes(tree)
        self._parents = self.scopes.parents
        self._from_asyncio = {
            alias.asname or alias.name
            for node in nodes
            if isinstance(node, ast.ImportFrom) and node.module == "asyncio"
            for alias in node.names
        }
        self._known: dict[_Key, Use] = {}
        self._following: dict[_Key, None] = {}
        self._depth = 0
        self._rules: dict[type[ast.AST], Callable[[Any, ast.AST], Use]] = {
            ast.Await: lambda parent, node: Use.AWAITED,
            ast.Call: self._in_call,
            ast.keyword: lambda parent, node: self._in_call(self._parents[parent], parent),
            ast.Attribute: self._in_attribute,
            ast.Assign: lambda parent, node: _worst(self._target(each, node, parent) for each in parent.targets),
            ast.AnnAssign: lambda parent, node: self._target(parent.target, node, parent),
            ast.AugAssign: self._in_addition,
            ast.NamedExpr: self._in_walrus,
            ast.Return: self._in_return,
            ast.Lambda: self._in_lambda,
            ast.For: lambda parent, node: self._item(parent.target, node) if node is parent.iter else Use.LOOKED_AT,
            ast.comprehension: self._in_comprehension,
            ast.Dict: lambda parent, node: Use.LOOKED_AT if node in parent.keys else self.follow(parent),
            ast.DictComp: lambda parent, node: self.follow(parent) if node is parent.value else Use.LOOKED_AT,
            ast.Subscript: self._in_subscript,
            ast.IfExp: lambda parent, node: Use.HARMLESS if node is parent.test else self.follow(parent),
            ast.BinOp: lambda parent, node: self.follow(parent) if isinstance(parent.op, ast.Add) else Use.LOOKED_AT,
            ast.If: self._in_condition,
            ast.While: self._in_condition,
            ast.UnaryOp: lambda parent, node: Use.HARMLESS if isinstance(parent.op, ast.Not) else Use.LOOKED_AT,
        }
        for kind in (ast.List, ast.Tuple, ast.Set, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.Starred):
            self._rules[kind] = lambda parent, node: self.follow(parent)

    def follow(self, node: ast.AST) -> Use:
        """Tell what happens to the value of this expression."""
        parent = self._parents.get(node)
        rule = self._rules.get(type(parent)) if parent is not None else None
        if rule is None or self._depth > MOST_STEPS:
            return Use.LOOKED_AT
        self._depth += 1
        try:
            return rule(parent, node)
        finally:
            self._depth -= 1

    # --- calls ---------------------------------------------------------------------------------------------------

    def _in_call(self, parent: Any, node: ast.AST) -> Use:
        if not isinstance(parent, ast.Call):  # a keyword of a class statement
            return Use.LOOKED_AT
        func = parent.func
        if node is func:  # a call of what was called, `(lambda: ns.op())()`
            return self.follow(parent) if isinstance(node, ast.Lambda) else Use.LOOKED_AT
        if isinstance(func, ast.Attribute):
            return self._in_method_call(func)
        if not isinstance(func, ast.Name):
            return Use.LOOKED_AT
        if func.id in self._from_asyncio and func.id in (_SINKS | _ASYNCIO_SINKS):
            return Use.AWAITED
        if func.id in _PASS_ON or (func.id == "map" and isinstance(node, ast.Lambda)):
            return self.follow(parent)
        if func.id in _HARMLESS_CALLS:
            return Use.HARMLESS if isinstance(node, ast.Name) else Use.LOOKED_AT
        return self._in_own_call(parent, func.id, node)

    def _in_method_call(self, func: ast.Attribute) -> Use:
        on = func.value.id if isinstance(func.value, ast.Name) else ""
        if func.attr in _SINKS or (func.attr in _ASYNCIO_SINKS and on == "asyncio"):
            return Use.AWAITED
        if func.attr in _PUT and isinstance(func.value, ast.Name):
            return self._variable(func.value)
        return Use.LOOKED_AT

    def _in_own_call(self, parent: ast.Call, name: str, node: ast.AST) -> Use:
        """`limited(sem, ns.op(…))`: where the function is the program's own, follow the parameter."""
        function = self.scopes.functions.get(name)
        if function is None or isinstance(function, ast.Lambda):
            return Use.LOOKED_AT
        parameter = _parameter(function, parent, node)
        if parameter is None:
            return Use.LOOKED_AT
        return self._uses((function, parameter, None))

    # --- names ---------------------------------------------------------------------------------------------------

    def _target(self, target: ast.AST, value: ast.AST, statement: ast.AST) -> Use:
        if isinstance(target, ast.Name):
            return self._variable(target, statement)
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            return self._variable(target.value)
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            return _worst(self._target(item, value, statement) for item in target.elts)
        return Use.LOOKED_AT

    def _in_walrus(self, parent: Any, node: ast.AST) -> Use:
        return _worst((self._variable(parent.target), self.follow(parent)))

    def _in_addition(self, parent: Any, node: ast.AST) -> Use:
        is_value = node is parent.value and isinstance(parent.target, ast.Name)
        return self._variable(parent.target) if is_value else Use.LOOKED_AT

    def _variable(self, name: ast.Name, statement: ast.AST | None = None) -> Use:
        scope = self.scopes.scope_of(name, name.id)
        if scope is None:
            return Use.LOOKED_AT
        if not self.scopes.is_rebound(scope, name.id):
            statement = None
        return self._uses((scope, name.id, statement))

    def _uses(self, key: _Key) -> Use:
        """Join what happens at all uses of a variable, or of the results of a function."""
        scope, name, statement = key
        return self._once(key, lambda: self.scopes.uses_until_rebound(scope, name, statement), self.follow)

    def _once(self, key: _Key, uses: Callable[[], list[Any]], follow: Callable[[Any], Use]) -> Use:
        """Look at the uses of one thing once for each call that is followed: the same uses again add nothing.

        What was found for the first thing of a call is complete, and kept; what was found on the way may lack what
        had been looked at before.
        """
        if key in self._known:
            return self._known[key]
        if key in self._following:
            return Use.HARMLESS
        is_first = not self._following
        self._following[key] = None
        found = _worst(follow(use) for use in uses())
        if is_first:
            self._following.clear()
            self._known[key] = found
        return found

    # --- uses of a variable ----------------------------------------------------------------------------------------

    def _in_attribute(self, parent: Any, node: ast.AST) -> Use:
        """`calls.append(x)` as a statement does not look at the values; `calls.values()` hands them on."""
        name: str = parent.attr
        call = self._parents.get(parent)
        if not isinstance(call, ast.Call) or call.func is not parent:
            return Use.LOOKED_AT
        if name == "keys":
            return Use.HARMLESS
        if name in _PUT:
            return Use.HARMLESS if isinstance(self._parents.get(call), ast.Expr) else Use.LOOKED_AT
        return self.follow(call) if name in _TAKE else Use.LOOKED_AT

    def _in_subscript(self, parent: Any, node: ast.AST) -> Use:
        if node is not parent.value:
            return Use.LOOKED_AT
        return Use.HARMLESS if isinstance(parent.ctx, ast.Store) else self.follow(parent)

    def _in_condition(self, parent: Any, node: ast.AST) -> Use:
        return Use.HARMLESS if node is parent.test and isinstance(node, ast.Name) else Use.LOOKED_AT

    def _in_comprehension(self, parent: Any, node: ast.AST) -> Use:
        if node is not parent.iter:
            return Use.HARMLESS if isinstance(node, ast.Name) else Use.LOOKED_AT  # a condition
        return self._item(parent.target, node)

    def _item(self, target: ast.AST, source: ast.AST) -> Use:
        """Follow the loop variable, or the part of it that holds the values (`for k, v in d.items()`)."""
        if isinstance(target, ast.Tuple):
            index = self._value_index(source)
            if index is None or index >= len(target.elts):
                return Use.LOOKED_AT
            target = target.elts[index]
        return self._variable(target) if isinstance(target, ast.Name) else Use.LOOKED_AT

    def _value_index(self, source: ast.AST) -> int | None:
        if not isinstance(source, ast.Call):
            return None
        if isinstance(source.func, ast.Attribute):
            return 1 if source.func.attr == "items" else None
        name = getattr(source.func, "id", None)
        if name == "enumerate":
            return 1
        if name != "zip":
            return None
        carrying = [index for index, item in enumerate(source.args) if self._is_followed(item)]
        return carrying[0] if len(carrying) == 1 else None

    def _is_followed(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and any(name == node.id for _, name, _ in self._following)

    # --- functions ---------------------------------------------------------------------------------------------------

    def _in_return(self, parent: ast.AST, node: ast.AST) -> Use:
        function = self.scopes.function_around(parent)
        if not isinstance(function, ast.FunctionDef) or function.decorator_list:
            return Use.LOOKED_AT
        return self._results(function, function.name)

    def _in_lambda(self, parent: ast.AST, node: ast.AST) -> Use:
        outer = self._parents.get(parent)
        if isinstance(outer, ast.Call):
            return self._in_call(outer, parent)
        if isinstance(outer, ast.Assign) and len(outer.targets) == 1 and isinstance(outer.targets[0], ast.Name):
            return self._results(parent, outer.targets[0].id)
        return Use.LOOKED_AT

    def _results(self, function: ast.AST, name: str) -> Use:
        """Join what happens to the value of each call of the function."""
        if self.scopes.functions.get(name) is not function:
            return Use.LOOKED_AT
        return self._once((function, "()", None), lambda: self.scopes.uses_of_function(name), self._use_of_function)

    def _use_of_function(self, use: ast.Name) -> Use:
        parent = self._parents.get(use)
        if not isinstance(parent, ast.Call):
            return Use.LOOKED_AT
        is_mapped = isinstance(parent.func, ast.Name) and parent.func.id == "map" and parent.args[0] is use
        return self.follow(parent) if parent.func is use or is_mapped else Use.LOOKED_AT


def _parameter(function: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call, node: ast.AST) -> str | None:
    """Return the name of the parameter that takes this argument."""
    if isinstance(node, ast.keyword):
        return node.arg
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    positional = [*function.args.posonlyargs, *function.args.args]
    for index, argument in enumerate(call.args):
        if argument is node and index < len(positional):
            return positional[index].arg
    return None
