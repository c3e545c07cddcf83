"""Find the tool calls that can be handed over un-run, because their value ends in `await` or in asyncio.

A tool call gives its value everywhere. It is deferred only if the source shows that each use of the value ends in
`await` or in an asyncio function that takes awaitables. Then `gather(*[ns.op(…) for …])` runs in parallel. A call
that is not found costs parallelism, never a result: awaiting a value gives the value.

Variables are followed by name through the whole program, without regard to scopes and order. So a name that holds
calls in one place and is read in another is not deferred.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from enum import Enum
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.source import children

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Collection, Sequence

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

#: Methods and functions of asyncio that take awaitables, on any object.
_SINKS = frozenset({"gather", "create_task", "ensure_future", "wait_for", "shield", "run_until_complete"})
#: The same, where the object is certainly asyncio.
_ASYNCIO_SINKS = frozenset({"as_completed", "wait", "run"})
#: Builtins that return the items of their argument.
_PASS_ON = frozenset({"list", "tuple", "set", "iter", "reversed", "enumerate", "zip", "dict"})
#: Methods that put their arguments into the object.
_PUT = frozenset({"append", "add", "extend", "insert", "appendleft", "update"})
#: Methods that return items of the object.
_TAKE = frozenset({"values", "items", "copy", "pop", "popleft"})
#: Builtins that do not read the items.
_HARMLESS = frozenset({"len", "bool", "range"})


class Use(Enum):
    """What an expression around a value does with it."""

    READ = "read, or unknown: the call must run"
    HARMLESS = "stored or counted"
    AWAITED = "awaited"


#: Where a value goes: a use, a variable whose own uses count, or the results of a function: `f()`.
_End = Use | str


def deferred_calls(nodes: Sequence[ast.AST], names: Collection[str], bound: Counter[str]) -> frozenset[int]:
    """Return the ids of the call nodes that are deferred. `nodes` are all nodes of the tree."""
    flow = _Flow(nodes, bound)
    own = {name for name in flow.functions if name not in names} | {"super"}
    calls = (node for node in nodes if isinstance(node, ast.Call) and getattr(node.func, "id", "") not in own)
    return frozenset(id(call) for call in calls if flow.is_awaited(call))


class _Flow:
    """Follows values from an expression to their uses.

    `functions` maps each name that is bound once in the program, to a definition or a lambda, to that function.
    """

    def __init__(self, nodes: Sequence[ast.AST], bound: Counter[str]) -> None:
        self.functions: dict[str, Function] = {}
        self._parents = {child: node for node in nodes for child in children([node])}
        self._loads: dict[str, list[ast.Name]] = defaultdict(list)
        self._from_asyncio: set[str] = set()
        self._known: dict[str, frozenset[_End]] = {}
        for node in nodes:
            match node:
                case ast.Name(name, ast.Load()):
                    self._loads[name].append(node)
                case ast.Assign([ast.Name(name)], ast.Lambda() as function) if bound[name] == 1:
                    self.functions[name] = function
                case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) if bound[name] == 1:
                    self.functions[name] = node
                case ast.ImportFrom("asyncio"):
                    self._from_asyncio.update(alias.asname or alias.name for alias in node.names)

    def is_awaited(self, call: ast.Call) -> bool:
        """Return whether the value of a call is awaited somewhere and read nowhere."""
        ends, seen, found = self._ends(call), set(), False
        for end in ends:  # grows
            if end is Use.READ:
                return False
            found = found or end is Use.AWAITED
            if isinstance(end, str) and end not in seen:
                seen.add(end)
                ends += self._ends_of(end)
        return found

    def _ends_of(self, name: str) -> frozenset[_End]:
        if name not in self._known:
            uses = self._loads[name.removesuffix("()")]
            follow = self._called if name.endswith("()") else self._ends
            self._known[name] = frozenset(end for use in uses for end in follow(use))
        return self._known[name]

    def _called(self, use: ast.AST) -> list[_End]:
        """Return where the results of a function go, at one use of its name."""
        match self._parents[use]:
            case ast.Call(func=func) as call if func is use:
                return self._ends(call)
            case ast.Call(ast.Name("map"), [first, *_]) as call if first is use:
                return self._ends(call)
        return [Use.READ]

    def _ends(self, node: ast.AST) -> list[_End]:  # noqa: C901, PLR0912 - one case for each construct
        """Return where the value of an expression goes."""
        parent: Any = self._parents.get(node)
        match parent:
            case ast.Await():
                return [Use.AWAITED]
            case ast.Call():
                return self._in_call(parent, node)
            case ast.keyword():
                return self._in_call(self._parents[parent], parent)
            case ast.Attribute():
                return self._in_method(parent)
            case ast.List() | ast.Tuple() | ast.Set() | ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return self._ends(parent)
            case ast.Starred() | ast.BinOp(op=ast.Add()):
                return self._ends(parent)
            case ast.DictComp() | ast.Dict():
                is_value = node is parent.value if isinstance(parent, ast.DictComp) else node in parent.values
                return self._ends(parent) if is_value else [Use.READ]
            case ast.Subscript(value=value, ctx=context) if value is node:
                return [Use.HARMLESS] if isinstance(context, ast.Store) else self._ends(parent)
            case ast.IfExp(test=test):
                return [Use.HARMLESS] if test is node else self._ends(parent)
            case ast.UnaryOp(op=ast.Not()):
                return [Use.HARMLESS]
            case ast.If(test=test) | ast.While(test=test) if test is node and isinstance(node, ast.Name):
                return [Use.HARMLESS]
            case ast.Assign() if isinstance(self._function_around(parent), ast.ClassDef):
                return [Use.READ]  # others read it as an attribute
            case ast.Assign(targets=targets):
                return [end for target in targets for end in _target(target, node)]
            case ast.AnnAssign(target=target):
                return _target(target, node)
            case ast.AugAssign(target=ast.Name(name), value=value) if value is node:
                return [name]
            case ast.NamedExpr(target=ast.Name(name)):
                return [name, *self._ends(parent)]
            case ast.For(iter=source) | ast.comprehension(iter=source) if source is node:
                return _item(parent.target, _index_in_items(node))
            case ast.comprehension() if isinstance(node, ast.Name):
                return [Use.HARMLESS]
            case ast.Return():
                return self._results(self._function_around(parent))
            case ast.Lambda():
                return self._in_lambda(parent)
        return [Use.READ]

    # --- calls ---------------------------------------------------------------------------------------------------

    def _in_call(self, call: ast.AST, node: ast.AST) -> list[_End]:
        """Follow an argument."""
        match call:
            case ast.Call(ast.Attribute(value, name)):
                is_asyncio = isinstance(value, ast.Name) and value.id == "asyncio"
                if name in _SINKS or (name in _ASYNCIO_SINKS and is_asyncio):
                    return [Use.AWAITED]
                return [value.id] if name in _PUT and isinstance(value, ast.Name) else [Use.READ]
            case ast.Call(ast.Name(name) as func) if func is not node:
                if name in self._from_asyncio and name in (_SINKS | _ASYNCIO_SINKS):
                    return [Use.AWAITED]
                if name in _PASS_ON:
                    return self._in_zip(call, node) if name == "zip" else self._ends(call)
                if name in _HARMLESS:
                    return [Use.HARMLESS if isinstance(node, ast.Name) else Use.READ]
                return self._in_own_call(call, name, node)
        return [Use.READ]  # the function itself, or a keyword of a class statement

    def _in_own_call(self, call: ast.Call, name: str, node: ast.AST) -> list[_End]:
        """`limited(sem, ns.op(…))`: follow the parameter of a function that the program defines."""
        function = self.functions.get(name)
        if function is None or isinstance(function, ast.Lambda):
            return [Use.READ]
        parameter = _parameter(function, call, node)
        return [Use.READ if parameter is None else parameter]

    def _in_method(self, attribute: ast.Attribute) -> list[_End]:
        """`calls.append(x)` as a statement does not read the items; `calls.values()` returns them."""
        call, name = self._parents[attribute], attribute.attr
        if not isinstance(call, ast.Call) or call.func is not attribute:
            return [Use.READ]
        if name == "keys" or (name in _PUT and isinstance(self._parents[call], ast.Expr)):
            return [Use.HARMLESS]
        return self._ends(call) if name in _TAKE else [Use.READ]

    def _in_lambda(self, function: ast.Lambda) -> list[_End]:
        match self._parents[function]:
            case ast.Call(func=func) as call if func is function:
                return self._ends(call)
            case ast.Call(ast.Name("map")) as call:
                return self._ends(call)
            case ast.Assign([ast.Name()]):
                return self._results(function)
        return [Use.READ]

    def _results(self, function: Any) -> list[_End]:
        """Follow what a function returns to its calls."""
        name = next((name for name, known in self.functions.items() if known is function), "")
        is_plain = isinstance(function, ast.Lambda | ast.FunctionDef) and not getattr(function, "decorator_list", None)
        return [f"{name}()"] if name and is_plain else [Use.READ]

    def _function_around(self, node: ast.AST) -> Any:
        while not isinstance(node, Function | ast.ClassDef | ast.Module):
            node = self._parents[node]
        return node

    def _in_zip(self, call: ast.Call, node: ast.AST) -> list[_End]:
        """`for name, task in zip(names, tasks)`: follow the part of the loop variable that holds the values."""
        match self._parents[call]:
            case ast.For(target, source) | ast.comprehension(target, source) if source is call and node in call.args:
                return _item(target, call.args.index(node))
        return self._ends(call)


# --- names -----------------------------------------------------------------------------------------------------------


def _target(target: ast.AST, value: ast.AST) -> list[_End]:
    match target, value:
        case ((ast.Name(name) | ast.Subscript(ast.Name(name))), _):
            return [name]
        case ast.Tuple(names), ast.Tuple(items) if len(names) == len(items):
            return [end for name, item in zip(names, items, strict=True) for end in _target(name, item)]
    return [Use.READ]


def _item(target: ast.AST, index: int | None) -> list[_End]:
    """Follow the loop variable, or the part of it that holds the values."""
    if isinstance(target, ast.Tuple) and index is not None and index < len(target.elts):
        target = target.elts[index]
    return [target.id if isinstance(target, ast.Name) else Use.READ]


def _index_in_items(source: ast.AST) -> int | None:
    """Return where the values stand in the items of `d.items()` and `enumerate(…)`."""
    match source:
        case ast.Call(ast.Attribute(attr="items") | ast.Name("enumerate")):
            return 1
    return None


def _parameter(function: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call, node: ast.AST) -> str | None:
    """Return the name of the parameter that takes an argument."""
    if isinstance(node, ast.keyword):
        return node.arg
    positional = [*function.args.posonlyargs, *function.args.args]
    if node not in call.args or any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    index = call.args.index(node)
    return positional[index].arg if index < len(positional) else None
