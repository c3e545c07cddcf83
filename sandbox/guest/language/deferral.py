"""Which calls are handed over un-run, because their value can go nowhere but to `await` or into asyncio.

A tool call gives its value, everywhere. Only where following it through the tree shows that every way of its value
ends in `await` or in an asyncio function that takes awaitables is it deferred, so that `gather(*[ns.op(…) for …])`
runs in parallel. A miss costs parallelism, never a result: awaiting a value gives the value.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from sandbox.guest.language.scopes import Scopes

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Collection

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
#: Uses that do not look at the values.
_HARMLESS_CALLS = frozenset({"len", "bool", "range"})


def deferred_calls(tree: ast.Module, names: Collection[str], bound: Counter[str]) -> frozenset[int]:
    """Return the ids of the call nodes that are deferred."""
    flow = _Flow(tree)
    own = {name for name in flow.scopes.functions if bound[name] == 1 and name not in names}
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or (isinstance(node.func, ast.Name) and node.func.id in own):
            continue
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            continue
        if flow.only_awaited(node):
            found.add(id(node))
    return frozenset(found)


class _Flow:
    """Follows values from where they arise to all places where they are used."""

    def __init__(self, tree: ast.Module) -> None:
        self.scopes = Scopes(tree)
        self._parents = self.scopes.parents
        self._from_asyncio = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module == "asyncio"
            for alias in node.names
        }
        self._following: set[tuple[ast.AST, str]] = set()
        self._rules: dict[type[ast.AST], Callable[[ast.AST, ast.AST], bool]] = {
            ast.Await: lambda parent, node: True,
            ast.Call: self._in_call,
            ast.keyword: lambda parent, node: self._in_call(self._parents[parent], parent),
            ast.Attribute: self._in_attribute,
            ast.Assign: self._in_assignment,
            ast.AnnAssign: self._in_assignment,
            ast.NamedExpr: self._in_walrus,
            ast.Return: self._in_return,
            ast.Lambda: self._in_lambda,
            ast.For: self._in_loop,
            ast.comprehension: self._in_comprehension,
            ast.Dict: lambda parent, node: node not in getattr(parent, "keys", ()) and self.only_awaited(parent),
            ast.DictComp: lambda parent, node: node is getattr(parent, "value", None) and self.only_awaited(parent),
            ast.Subscript: self._in_subscript,
            ast.IfExp: lambda parent, node: node is getattr(parent, "test", None) or self.only_awaited(parent),
            ast.BinOp: lambda parent, node: isinstance(getattr(parent, "op", None), ast.Add)
            and self.only_awaited(parent),
            ast.If: self._in_condition,
            ast.While: self._in_condition,
            ast.UnaryOp: lambda parent, node: isinstance(getattr(parent, "op", None), ast.Not),
            ast.AugAssign: self._in_addition,
        }
        for kind in (ast.List, ast.Tuple, ast.Set, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.Starred):
            self._rules[kind] = lambda parent, node: self.only_awaited(parent)

    def only_awaited(self, node: ast.AST) -> bool:
        """Tell whether the value of this expression can only be awaited, or be handed to asyncio."""
        parent = self._parents.get(node)
        rule = self._rules.get(type(parent)) if parent is not None else None
        return rule is not None and parent is not None and rule(parent, node)

    # --- calls ---------------------------------------------------------------------------------------------------

    def _in_call(self, parent: ast.AST, node: ast.AST) -> bool:
        if not isinstance(parent, ast.Call) or node is parent.func:
            return isinstance(parent, ast.Call) and isinstance(node, ast.Lambda) and self.only_awaited(parent)
        func = parent.func
        if isinstance(func, ast.Attribute):
            return self._in_method_call(parent, func)
        if not isinstance(func, ast.Name):
            return False
        if func.id in self._from_asyncio and func.id in (_SINKS | _ASYNCIO_SINKS):
            return True
        if func.id in _PASS_ON:
            return self.only_awaited(parent)
        if func.id in _HARMLESS_CALLS:
            return isinstance(node, ast.Name)
        if func.id == "map":
            return isinstance(node, ast.Lambda) and self.only_awaited(parent)
        return self._in_own_call(parent, func.id, node)

    def _in_method_call(self, parent: ast.Call, func: ast.Attribute) -> bool:
        if func.attr in _SINKS:
            return True
        if func.attr in _ASYNCIO_SINKS:
            return isinstance(func.value, ast.Name) and func.value.id == "asyncio"
        return func.attr in _PUT and isinstance(func.value, ast.Name) and self._variable_only_awaited(func.value)

    def _in_own_call(self, parent: ast.Call, name: str, node: ast.AST) -> bool:
        """`limited(sem, ns.op(…))`: where the function is the program's own, follow the parameter."""
        function = self.scopes.functions.get(name)
        if function is None or isinstance(function, ast.Lambda):
            return False
        parameter = _parameter(function, parent, node)
        return parameter is not None and self._name_only_awaited(function, parameter)

    # --- names ---------------------------------------------------------------------------------------------------

    def _in_assignment(self, parent: ast.AST, node: ast.AST) -> bool:
        targets = parent.targets if isinstance(parent, ast.Assign) else [getattr(parent, "target", None)]
        return all(self._target_only_awaited(target, node, parent) for target in targets)

    def _target_only_awaited(self, target: ast.AST | None, value: ast.AST, statement: ast.AST) -> bool:
        if isinstance(target, ast.Name):
            return self._variable_only_awaited(target, statement)
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            return self._variable_only_awaited(target.value)
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            return all(self._target_only_awaited(item, value, statement) for item in target.elts)
        return False

    def _in_walrus(self, parent: ast.AST, node: ast.AST) -> bool:
        target = getattr(parent, "target", None)
        return isinstance(target, ast.Name) and self._variable_only_awaited(target) and self.only_awaited(parent)

    def _in_addition(self, parent: ast.AST, node: ast.AST) -> bool:
        target = getattr(parent, "target", None)
        return isinstance(target, ast.Name) and node is not target and self._variable_only_awaited(target)

    def _variable_only_awaited(self, name: ast.Name, statement: ast.AST | None = None) -> bool:
        scope = self.scopes.scope_of(name, name.id)
        if scope is None:
            return False
        uses = self.scopes.uses_until_rebound(scope, name.id, statement)
        return self._uses_only_awaited(scope, name.id, uses)

    def _name_only_awaited(self, scope: ast.AST, name: str) -> bool:
        return self._uses_only_awaited(scope, name, self.scopes.uses(scope, name))

    def _uses_only_awaited(self, scope: ast.AST, name: str, uses: list[ast.Name]) -> bool:
        if (scope, name) in self._following:
            return True  # a cycle adds no use of its own
        if not uses:
            return False
        self._following.add((scope, name))
        try:
            return all(self.only_awaited(use) for use in uses)
        finally:
            self._following.discard((scope, name))

    # --- uses of a variable ----------------------------------------------------------------------------------------

    def _in_attribute(self, parent: ast.AST, node: ast.AST) -> bool:
        """`calls.append(x)` as a statement does not look at the values; `calls.values()` hands them on."""
        call = self._parents.get(parent)
        if not isinstance(parent, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not parent:
            return False
        if parent.attr in _PUT:
            return isinstance(self._parents.get(call), ast.Expr)
        return parent.attr in _TAKE and self.only_awaited(call)

    def _in_subscript(self, parent: ast.AST, node: ast.AST) -> bool:
        if not isinstance(parent, ast.Subscript) or node is not parent.value:
            return False
        return isinstance(parent.ctx, ast.Store) or self.only_awaited(parent)

    def _in_condition(self, parent: ast.AST, node: ast.AST) -> bool:
        return node is getattr(parent, "test", None) and isinstance(node, ast.Name)

    def _in_loop(self, parent: ast.AST, node: ast.AST) -> bool:
        return isinstance(parent, ast.For) and node is parent.iter and self._item_only_awaited(parent.target, node)

    def _in_comprehension(self, parent: ast.AST, node: ast.AST) -> bool:
        if not isinstance(parent, ast.comprehension):
            return False
        if node is not parent.iter:
            return isinstance(node, ast.Name)  # a condition
        return self._item_only_awaited(parent.target, node)

    def _item_only_awaited(self, target: ast.AST, source: ast.AST) -> bool:
        """Follow the loop variable, or the part of it that holds the values (`for k, v in d.items()`)."""
        if isinstance(target, ast.Tuple):
            index = self._value_index(source)
            if index is None or index >= len(target.elts):
                return False
            target = target.elts[index]
        return isinstance(target, ast.Name) and self._variable_only_awaited(target)

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
        return isinstance(node, ast.Name) and any(name == node.id for _, name in self._following)

    # --- functions ---------------------------------------------------------------------------------------------------

    def _in_return(self, parent: ast.AST, node: ast.AST) -> bool:
        function = self.scopes.function_around(parent)
        if not isinstance(function, ast.FunctionDef) or function.decorator_list:
            return False
        return self._results_only_awaited(function, function.name)

    def _in_lambda(self, parent: ast.AST, node: ast.AST) -> bool:
        outer = self._parents.get(parent)
        if isinstance(outer, ast.Call):
            return self._in_call(outer, parent)
        if isinstance(outer, ast.Assign) and len(outer.targets) == 1 and isinstance(outer.targets[0], ast.Name):
            return self._results_only_awaited(parent, outer.targets[0].id)
        return False

    def _results_only_awaited(self, function: ast.AST, name: str) -> bool:
        """Tell whether every use of the function is a call whose value is only awaited."""
        if self.scopes.functions.get(name) is not function:
            return False
        uses = self.scopes.uses_of_function(name)
        return bool(uses) and all(self._use_of_function(use) for use in uses)

    def _use_of_function(self, use: ast.Name) -> bool:
        parent = self._parents.get(use)
        if not isinstance(parent, ast.Call):
            return False
        if parent.func is use:
            return self.only_awaited(parent)
        is_mapped = isinstance(parent.func, ast.Name) and parent.func.id == "map" and parent.args[0] is use
        return is_mapped and self.only_awaited(parent)


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
