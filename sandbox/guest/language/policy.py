# ruff: noqa: N802, N815 - methods are named after the nodes of the syntax tree
"""The language policy: one method for each construct of the grammar, with its verdict.

RestrictedPython's transformer refuses each node that has no method. Attribute names are decided here, at compile time,
so that plain code runs at the speed of plain Python. Three kinds of access get a run-time guard: names that begin with
`_`, the names in `attributes.LOOKED_AT`, and writes to attributes. `self` is checked once, where its method begins.
Names of methods of dict that are not called are looked up in the fields of an answer first.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from RestrictedPython.transformer import RestrictingNodeTransformer

from sandbox.guest.language.attributes import (
    ASSIGNABLE,
    DEFINABLE,
    INSTEAD,
    METHODS_OF_DICT,
    Decision,
    decide,
    is_harmless_format,
)
from sandbox.guest.language.bindings import parameters
from sandbox.guest.language.guards import (
    FunctionNode,
    call,
    caught,
    check_receiver,
    checked,
    direct,
    load,
    located,
    receiver_of,
)
from sandbox.guest.language.imports import import_bindings, is_star
from sandbox.guest.language.own import MARK_NAME
from sandbox.guest.language.variables import BINDABLE, READABLE, UNAVAILABLE, is_dunder, is_reserved

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from sandbox.guest.language.refusals import Refusals

#: Nodes without names in them: nothing to decide below them.
_LEAVES = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


class LanguagePolicy(RestrictingNodeTransformer):
    """Walks a program once: refuses constructs, and adds guards for decisions that need the object.

    `bound` are the names that the program binds itself, `deferred` the ids of calls that are handed over un-run.
    Annotations that are text (`from __future__ import annotations`) never run and are not visited.
    """

    def __init__(
        self,
        refusals: Refusals,
        *,
        bound: Collection[str],
        deferred: Collection[int] = (),
        annotations_are_text: bool = False,
    ) -> None:
        super().__init__()
        self._skipped = frozenset({"annotation", "returns"}) if annotations_are_text else frozenset()
        self.refusals = refusals
        self._bound = bound
        self._deferred = deferred
        self._checked = ""  # the `self` of the method around, which is checked where the method begins
        self._in_class = False  # directly in the body of a class
        self._called: ast.expr | None = None  # the function of the call that is visited

    # --- frame -----------------------------------------------------------------------------------------------

    def visit(self, node: ast.AST) -> Any:
        """Dispatch to the method of a node. Nodes without names are left alone."""
        if isinstance(node, _LEAVES):
            return node
        return _VISITORS.get(type(node), LanguagePolicy.generic_visit)(self, node)

    def node_contents_visit(self, node: Any) -> Any:
        """Visit the children of a node and replace them by the results: a faster `NodeTransformer.generic_visit`."""
        for field in node._fields:
            part = getattr(node, field, None)
            if field in self._skipped:
                continue
            if isinstance(part, list):
                part[:] = self._visit_all(part)
            elif isinstance(part, ast.AST) and not isinstance(part, _LEAVES):
                setattr(node, field, self.visit(part))
        return node

    def _visit_all(self, parts: list[Any]) -> list[Any]:
        """Visit a list of nodes; one statement may become several. Names, and None for `**x`, stay as they are."""
        done: list[Any] = []
        for part in parts:
            new = self.visit(part) if isinstance(part, ast.AST) else part
            if isinstance(new, list):
                done += new
            else:
                done.append(new)
        return done

    def not_allowed(self, node: ast.AST) -> None:
        """Refuse a construct that no method here knows."""
        name = type(node).__name__
        self.refusals.add(node, "construct", f"this construct ({name}) is not available", "write it in another way")

    def error(self, node: ast.AST, info: str) -> None:
        """Take over refusals of the base class."""
        self.refusals.add(node, "construct", info)

    # --- variables -------------------------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> Any:
        """Allow variables; refuse names of the interpreter, and builtins that are not available."""
        if not isinstance(node.ctx, ast.Load):
            self._check_bound(node, node.id)
            return node
        name = node.id
        advice = None if name in self._bound else UNAVAILABLE.get(name)
        if advice is not None:
            rule = "name" if is_dunder(name) else "builtin"
            self.refusals.add(node, rule, f"{name} is not available: {advice.reason}", advice.instead)
            return call(".unavailable", [ast.Constant(name)], node)
        if name == "__import__" and name not in self._bound:
            return load(".call_import", node)
        if is_dunder(name) and name not in READABLE and not (name in self._bound and name in BINDABLE | DEFINABLE):
            self._refuse_name(node, name)
        return node

    def _check_bound(self, node: ast.AST, name: str | None) -> None:
        """Check a name that is bound here: assigned, imported, a parameter, a loop variable …"""
        if name is None:
            return
        if is_dunder(name):
            is_function = isinstance(node, ast.FunctionDef)  # put into a class later: `cls.__init__ = __init__`
            if self._in_class and name not in DEFINABLE:
                self.refusals.add(
                    node, "dunder", f"a class cannot define {name} here", INSTEAD.get(name, "leave it out")
                )
            elif not (self._in_class or name in BINDABLE or (is_function and name in DEFINABLE)):
                self._refuse_name(node, name)
        elif name == "super":
            self.refusals.add(node, "name", "the name super is the builtin's", "choose another name")
        elif is_reserved(name) or name == "_print":
            self.refusals.add(
                node, "name", f"the name {name} is reserved", "leave out the underscore at the end or at the beginning"
            )

    def _refuse_name(self, node: ast.AST, name: str) -> None:
        self.refusals.add(node, "name", f"{name} belongs to the interpreter", "choose a name without two underscores")

    def visit_Global(self, node: Any) -> Any:
        """Allow `global`, its names checked like any other."""
        for name in node.names:
            self._check_bound(node, name)
        return node

    visit_Nonlocal = visit_Global

    # --- attributes ------------------------------------------------------------------------------------------

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """Allow plain names, guard the names that need a look at the object, refuse the others."""
        decision = decide(node.attr)
        if decision is Decision.REFUSED:
            self._refuse_attribute(node)
            return node
        is_called = node is self._called
        is_super = isinstance(node.value, ast.Call) and not node.value.args and _name(node.value.func) == "super"
        node = self.node_contents_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return self._write(node, decision)
        if node.attr in METHODS_OF_DICT and not (is_called or is_super or self._is_checked(node.value)):
            return call(".field", [node.value, ast.Constant(node.attr)], node)
        if decision is Decision.LOOKED_AT and not is_harmless_format(node):
            return call(".looked_at", [node.value, ast.Constant(node.attr)], node)
        if decision is Decision.PRIVATE and not (is_super or self._is_checked(node.value)):
            node.value = checked(node.value, node.attr, ".private")
        return node

    def _refuse_attribute(self, node: ast.Attribute) -> None:
        instead = INSTEAD.get(node.attr, "leave it out")
        self.refusals.add(node, "attribute", f".{node.attr} reaches into the interpreter and is not available", instead)

    def _write(self, node: ast.Attribute, decision: Decision) -> ast.AST:
        """Allow writes to the program's own objects, and writes of plain names to objects of the library."""
        if is_dunder(node.attr) and node.attr not in ASSIGNABLE | DEFINABLE:
            self._refuse_attribute(node)
        if not self._is_checked(node.value):
            node.value = checked(node.value, node.attr, ".writable")
        return node

    def _is_checked(self, owner: ast.expr) -> bool:
        return bool(self._checked) and _name(owner) == self._checked

    # --- calls -----------------------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> Any:
        """Allow calls, also with `*args` and `**kwargs`. A call that is only awaited is handed over un-run."""
        deferred = id(node) in self._deferred
        if isinstance(node.func, ast.Name) and node.func.id not in self._bound:
            if node.func.id == "type" and len(node.args) == 3:
                self.refusals.add(node, "class", "type() makes no classes here", "write a class statement")
            instead = direct(node)
            if instead is not None:
                node.func = load(instead, node.func)
        self._called = node.func
        node = self.node_contents_visit(node)
        if deferred:
            node.args.insert(0, node.func)
            node.func = load(".later", node)
        return node

    def visit_Await(self, node: ast.Await) -> Any:
        """Allow `await`. Awaiting a plain value gives the value."""
        node = self.node_contents_visit(node)
        node.value = call(".awaitable", [node.value], node.value)
        return node

    # --- imports ---------------------------------------------------------------------------------------------

    def visit_Import(self, node: ast.Import) -> Any:
        """Allow `import`: it binds a table of listed names, never a module."""
        return self._import(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        """Allow `from x import y` out of the same tables."""
        if node.module == "__future__":
            return ast.copy_location(ast.Pass(), node)  # read before: `compile` gets the flags
        if node.level:
            self.refusals.add(node, "import", "relative imports need a package", "import the module by its full name")
            return node
        if is_star(node):  # only at the top level, as the grammar has it: the names go among the program's variables
            return located(ast.Expr(call(".star", [ast.Constant(node.module)], node)), node)
        return self._import(node)

    def _import(self, node: ast.Import | ast.ImportFrom) -> Any:
        if getattr(node, "is_lazy", 0):
            self.refusals.add(node, "import", "lazy imports are not available", "leave out `lazy`")
            return node
        statements = []
        for target, steps in import_bindings(node):
            self._check_bound(node, target)
            value = call(steps[0], [ast.Constant(argument) for argument in steps[1:]], node)
            statements.append(located(ast.Assign(targets=[ast.Name(target, ast.Store())], value=value), node))
        return statements

    # --- functions -------------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: FunctionNode) -> Any:
        """Allow functions and methods. Their names and those of their parameters are checked."""
        self._check_bound(node, node.name)
        in_class, outer = self._in_class, self._checked
        self._in_class = False
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        if node.returns is not None and not self._skipped:
            node.returns = self.visit(node.returns)
        self._visit_type_params(node)
        self._visit_parameters(node.args)
        if in_class and node.name == "__subclasshook__":
            node.decorator_list.append(load(".subclass_hook", node))
        first = receiver_of(node) if in_class else ""
        self._checked = first if in_class else outer  # a function inside of a method has its `self`
        node.body = self._visit_all(node.body)
        self._in_class, self._checked = in_class, outer
        if first:
            node.body.insert(ast.get_docstring(node, clean=False) is not None, check_receiver(first, node.body[0]))
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        """Allow lambdas."""
        in_class, self._in_class = self._in_class, False
        self._visit_parameters(node.args)
        node.body = self.visit(node.body)
        self._in_class = in_class
        return node

    def _visit_parameters(self, arguments: ast.arguments) -> None:
        for argument in parameters(arguments):
            self._check_bound(argument, argument.arg)
        self.node_contents_visit(arguments)

    def _visit_type_params(self, node: ast.AST) -> None:
        parameters = getattr(node, "type_params", None)
        if parameters:
            node.type_params = [self.visit(parameter) for parameter in parameters]  # type: ignore[attr-defined]

    # --- classes ---------------------------------------------------------------------------------------------

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        """Allow classes, and mark them as the program's own. Refuse metaclasses except ABCMeta and EnumType."""
        self._check_bound(node, node.name)
        in_class, outer = self._in_class, self._checked
        self._in_class, self._checked = False, ""
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        self._visit_type_params(node)
        for base in node.bases:
            if _name(base) == "type" and "type" not in self._bound:
                instead = "use a class decorator or __init_subclass__"
                self.refusals.add(base, "class", "metaclasses are not available here", instead)
        node.bases = [self.visit(base) for base in node.bases]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        for keyword in node.keywords:
            if keyword.arg == "metaclass":
                keyword.value = call(".metaclass", [keyword.value], keyword.value)
            elif keyword.arg is None:  # `**options` may name a metaclass
                self.refusals.add(keyword.value, "class", "a class statement takes no ** here", "write out the names")
        self._in_class = True
        node.body = self._visit_all(node.body)
        self._in_class, self._checked = in_class, outer
        mark = ast.Assign(targets=[ast.Name(MARK_NAME, ast.Store())], value=load(".mark", node))
        node.body.insert(ast.get_docstring(node, clean=False) is not None, located(mark, node))
        node.decorator_list.append(load(".own_class", node))
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Allow assignment. `__match_args__` must be written out: patterns read these names without a guard."""
        if not (self._in_class and [*map(_name, node.targets)] == ["__match_args__"]):
            return self.node_contents_visit(node)
        for name in node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]:
            text = name.value if isinstance(name, ast.Constant) else None
            if not isinstance(text, str) or decide(text) is not Decision.PLAIN:
                message = "__match_args__ must be a tuple of plain names"
                self.refusals.add(node.value, "pattern", message, "write them out")
        return node

    # --- statements and patterns that bind names --------------------------------------------------------------

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        """Allow handlers. `except:` and `except BaseException` catch each exception that a program may catch."""
        self._check_bound(node, node.name)
        node = self.node_contents_visit(node)
        node.type = caught(node.type or load("BaseException", node))
        return node

    def visit_MatchValue(self, node: ast.MatchValue) -> Any:
        """Allow values and dotted names in patterns. The interpreter reads these itself, so they must be plain."""
        self._check_pattern_name(node.value)
        return node

    def _check_pattern_name(self, node: ast.expr) -> None:
        inner = node
        while isinstance(inner, ast.Attribute):
            if decide(inner.attr) is not Decision.PLAIN:
                self.refusals.add(
                    node, "pattern", f"a pattern cannot read .{inner.attr}", "compare in a guard: `case x if x == ...`"
                )
            inner = inner.value
        self.visit(inner)

    def visit_MatchAs(self, node: Any) -> Any:
        """Allow captures. The name is checked."""
        self._check_bound(node, node.name)
        return self.node_contents_visit(node)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node: ast.MatchMapping) -> Any:
        """Allow mapping patterns. Keys are checked like values, and the name of the rest like a variable."""
        self._check_bound(node, node.rest)
        for key in node.keys:
            self._check_pattern_name(key)
        node.patterns = self._visit_all(node.patterns)
        return node

    def visit_MatchClass(self, node: ast.MatchClass) -> Any:
        """Allow class patterns by position, and by keyword for plain names. The interpreter reads these itself."""
        for name in node.kwd_attrs:
            if decide(name) is not Decision.PLAIN:
                self.refusals.add(node, "pattern", f"a pattern cannot read .{name}", "read the attribute in a guard")
        self._check_pattern_name(node.cls)
        node.patterns = self._visit_all(node.patterns)
        node.kwd_patterns = self._visit_all(node.kwd_patterns)
        return node

    def visit_TypeVar(self, node: Any) -> Any:
        """Allow type parameters. Their names are checked."""
        self._check_bound(node, node.name)
        return self.node_contents_visit(node)

    visit_ParamSpec = visit_TypeVarTuple = visit_TypeVar

    # --- constructs that need no decision of their own ----------------------------------------------------------

    def _allow(self, node: ast.AST) -> Any:
        """Allow without restrictions: the parts are visited; iteration and unpacking need no guard."""
        return self.node_contents_visit(node)

    visit_Module = visit_Expression = _allow
    visit_NamedExpr = visit_AnnAssign = visit_AugAssign = visit_Subscript = visit_TypeAlias = _allow
    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_comprehension = _allow
    visit_For = visit_With = visit_AsyncFor = visit_AsyncWith = visit_TryStar = _allow
    visit_Match = visit_match_case = visit_MatchSingleton = visit_MatchSequence = visit_MatchOr = _allow


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


_KINDS = (kind for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.AST))
#: The method for each kind of node: found once, and not by a name that is put together at each visit.
_VISITORS: dict[type[ast.AST], Callable[[LanguagePolicy, Any], Any]] = {
    kind: getattr(LanguagePolicy, f"visit_{kind.__name__}", LanguagePolicy.generic_visit) for kind in _KINDS
}
