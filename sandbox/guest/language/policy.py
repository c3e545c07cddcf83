# ruff: noqa: N802, N815 - methods are named after the nodes of the syntax tree
"""The language policy: one visible decision per construct of Python's grammar.

It stands on RestrictedPython's transformer, which refuses every node of a grammar that nobody has looked at, and
differs from it in this: attribute names are decided here, at compile time, so that plain code runs at the speed of
plain Python. Only three kinds of access leave a guard in the code: `x._name`, `x.__name__`, and the few names in
`attributes.GUARDED`; and writes to attributes, which are for the program's own objects.

Guards are called by names that begin with a dot (`.private`), which no program can spell.
"""

from __future__ import annotations

import ast
import sys
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from RestrictedPython.transformer import RestrictingNodeTransformer

from sandbox.guest.language.attributes import ASSIGNABLE, DEFINABLE, HOOKS, NOT_DEFINABLE, NOT_METHODS, Decision, decide
from sandbox.guest.language.bindings import parameter_names, parameters
from sandbox.guest.language.fields import is_harmless_format
from sandbox.guest.language.guards import call, caught, direct, is_own, load, located, placed, read_first
from sandbox.guest.language.imports import import_bindings, is_star
from sandbox.guest.language.later import check_later
from sandbox.guest.language.patterns import check_match_args
from sandbox.guest.language.proven import NOTHING_PROVEN
from sandbox.guest.language.receivers import check_receiver_first, is_super_call, is_untouched, receiver
from sandbox.guest.language.refusals import INSTEAD_OF
from sandbox.guest.language.steady import comprehension_names, steady_names
from sandbox.guest.language.variables import BINDABLE, READABLE, UNAVAILABLE, is_dunder, is_reserved

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from sandbox.guest.language.proven import Proven
    from sandbox.guest.language.refusals import Refusals

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

#: A call of an attribute looks for a method first, see `guards.read_first`.
_CALLS_METHODS = sys.version_info < (3, 12)

#: Builtins that the program does not read as they stand. `super()` itself is completed by the compiler.
READ_AS = {"__import__": ".call_import", "super": ".super"}

#: Nodes without names in them: nothing to decide below them.
_LEAVES = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


class LanguagePolicy(RestrictingNodeTransformer):
    """Walks a program once, refuses what may not be, and puts guards where the run time must decide.

    `bound` are the names that the program binds itself, `deferred` the calls that are handed over un-run, `inherited`
    the names of classes that are not alone in having their methods, `proven` what is known of variables.
    """

    def __init__(
        self,
        refusals: Refusals,
        *,
        bound: Collection[str],
        deferred: Collection[int] = (),
        inherited: Collection[str] = (),
        proven: Proven = NOTHING_PROVEN,
    ) -> None:
        super().__init__()
        self.refusals = refusals
        self._bound = bound
        self._deferred = deferred
        self._inherited = inherited
        self._proven = proven.attributes
        self._trusted: frozenset[str] = frozenset()  # receivers that were looked at when their method began
        self._steady: Callable[[], frozenset[str]] = lambda: proven.steady  # variables that nothing else binds
        self._imported: set[str] = set()  # by `import x`, so far
        self._in_class = False  # directly in the body of a class
        self._class = ""  # the innermost one around

    # --- frame -----------------------------------------------------------------------------------------------

    def visit(self, node: ast.AST) -> Any:
        """Dispatch, leaving out the nodes that hold nothing."""
        if isinstance(node, _LEAVES):
            return node
        return _VISITORS.get(type(node), LanguagePolicy.generic_visit)(self, node)

    def node_contents_visit(self, node: Any) -> Any:
        """Visit the parts of a node and put what comes back in their places: as `ast.NodeTransformer` does, sooner."""
        for field in node._fields:
            part = getattr(node, field, None)
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
        """Take over what the transformer below refuses by itself."""
        self.refusals.add(node, "construct", info)

    def visit_Module(self, node: ast.Module) -> Any:
        """Allow a program."""
        return self.node_contents_visit(node)

    # --- variables -------------------------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> Any:
        """Allow variables; refuse the interpreter's own names, and builtins that are left out."""
        if isinstance(node.ctx, ast.Load):
            if node.id in READ_AS and node.id not in self._bound:
                return load(READ_AS[node.id], node)
            return self._read(node)
        self._check_bound(node, node.id)
        return node

    def _read(self, node: ast.Name) -> ast.expr:
        name = node.id
        advice = UNAVAILABLE.get(name)
        if advice is not None and name not in self._bound:
            rule = "name" if is_dunder(name) else "builtin"
            self.refusals.add(node, rule, f"{name} is not available: {advice.reason}", advice.instead)
            return call(".unavailable", [ast.Constant(name)], node)
        if is_dunder(name) and name not in READABLE and not (name in self._bound and name in BINDABLE | DEFINABLE):
            self._refuse_name(node, name)
        return node

    def _check_bound(self, node: ast.AST, name: str | None) -> None:
        """Check a name that is bound here: assigned, imported, a parameter, a loop variable …"""
        if name is None:
            return
        if is_dunder(name):
            if self._in_class:
                self._check_definable(node, name)
            elif name not in BINDABLE and not (isinstance(node, ast.FunctionDef) and name in DEFINABLE):
                self._refuse_name(node, name)  # functions are put into a class later: `cls.__init__ = __init__`
        elif name == "super":
            self.refusals.add(node, "name", "the name super is the builtin's", "choose another name")
        elif is_reserved(name) or name == "_print":
            self.refusals.add(
                node, "name", f"the name {name} is reserved", "leave out the underscore at the end or at the beginning"
            )

    def _refuse_name(self, node: ast.AST, name: str) -> None:
        self.refusals.add(node, "name", f"{name} belongs to the interpreter", "choose a name without two underscores")

    def _check_definable(self, node: ast.AST, name: str) -> None:
        is_written_out = name != "__match_args__" or isinstance(node, ast.Name)  # see `patterns`
        if name in HOOKS and isinstance(node, ast.FunctionDef):  # wrapped, see `visit_FunctionDef`
            return
        if is_written_out and (name in DEFINABLE or name in ("__slots__", "__doc__", "__hash__")):
            return
        instead = NOT_DEFINABLE.get(name, "leave it out")
        self.refusals.add(node, "dunder", f"a class cannot define {name} here", instead)

    def visit_Global(self, node: Any) -> Any:
        """Allow `global`, its names checked like any other."""
        for name in node.names:
            self._check_bound(node, name)
        return node

    visit_Nonlocal = visit_Global

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Any:
        """Allow `(x := value)`; its target is visited like any other."""
        return self.node_contents_visit(node)

    # --- attributes ------------------------------------------------------------------------------------------

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """Allow plain names as they stand, guard what must be looked at, refuse the rest."""
        decision = decide(node.attr)
        if decision is Decision.REFUSED:
            self._refuse_attribute(node)
            return node
        is_super = is_super_call(node.value) and node.attr not in NOT_METHODS
        node = self.node_contents_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return self._guard_write(node, decision)
        if is_super and decision is Decision.DUNDER:
            return call(".bound", [node], node)
        if decision is Decision.PLAIN or (is_super and decision is Decision.PRIVATE):
            return node
        if decision is Decision.PRIVATE:
            return self._guard_owner(node, ".private")
        if is_harmless_format(node):
            return node
        guard = ".dunder" if decision is Decision.DUNDER else ".guarded"
        return call(guard, [node.value, ast.Constant(node.attr)], node)

    def _refuse_attribute(self, node: ast.Attribute) -> None:
        name = node.attr
        instead = INSTEAD_OF.get(name, "leave it out")
        self.refusals.add(node, "attribute", f".{name} reaches into the interpreter and is not available", instead)

    def _guard_write(self, node: ast.Attribute, decision: Decision) -> ast.AST:
        """Let attributes be written on the program's own objects (and a few listed kinds)."""
        if decision is Decision.DUNDER:
            if node.attr not in ASSIGNABLE | DEFINABLE:
                self._refuse_attribute(node)
            node.value = call(".setter", [node.value], node.value)
            return node
        return self._guard_owner(node, ".writable")

    def _guard_owner(self, node: ast.Attribute, guard: str) -> ast.AST:
        """Replace `x.a` by `(x if type(x) in OWN else guard(x, "a")).a`: no call for the program's own objects.

        Where something else may bind `x` between the two, the guard is called with it.
        """
        value = node.value
        name = ast.Constant(node.attr)
        if isinstance(value, ast.Name):
            if id(node) in self._proven or (value.id in self._trusted and node.attr != "mro"):
                return node
            slow = call(guard, [load(value.id, value), placed(name, value)], value)
            checked: ast.expr = slow
            if value.id in self._steady():
                checked = ast.IfExp(test=is_own(value.id, value), body=value, orelse=slow)
        else:
            checked = call(guard, [value, placed(name, value)], value)
        node.value = placed(checked, value)
        return node

    # --- calls -----------------------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> Any:
        """Allow calls, `*args` and `**kwargs` included; a call that is only awaited is handed over un-run."""
        if is_super_call(node):
            return node
        deferred = id(node) in self._deferred
        instead = direct(node)
        if instead is not None and node.func.id not in self._bound:  # type: ignore[attr-defined]
            node.func = load(instead, node.func)
        node = self.node_contents_visit(node)
        if deferred:
            node.args.insert(0, node.func)
            node.func = load(".later", node)
        elif _CALLS_METHODS and isinstance(node.func, ast.Attribute) and self._is_imported(node.func.value):
            node.func = read_first(node.func)
        return node

    def _is_imported(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self._imported

    def visit_Await(self, node: ast.Await) -> Any:
        """Allow `await`, also of a plain value, which gives the value."""
        node = self.node_contents_visit(node)
        node.value = call(".awaitable", [node.value], node.value)
        return node

    # --- imports ---------------------------------------------------------------------------------------------

    def visit_Import(self, node: ast.Import) -> Any:
        """Allow `import`: it binds a table of vetted names, never a module."""
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
            if isinstance(node, ast.Import):
                self._imported.add(target)
            value = call(steps[0], [ast.Constant(argument) for argument in steps[1:]], node)
            statements.append(located(ast.Assign(targets=[ast.Name(target, ast.Store())], value=value), node))
        return statements

    # --- functions -------------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: FunctionNode) -> Any:
        """Allow functions and methods; the names of both and of their parameters are checked."""
        self._check_bound(node, node.name)
        in_class, trusted = self._in_class, self._trusted
        self._in_class = False
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        node.returns = self.visit(node.returns) if node.returns is not None else None
        self._visit_type_params(node)
        self._visit_parameters(node.args)
        first = receiver(node) if in_class else None
        trust = first is not None and is_untouched(first, node)
        names, steady = parameter_names(node.args), self._steady
        self._trusted = (trusted - names) | ({first} if trust and first else frozenset())
        self._steady = cache(partial(steady_names, names, node.body))
        node.body = self._visit_all(node.body)
        self._in_class, self._trusted, self._steady = in_class, trusted, steady
        if trust and first:
            check_receiver_first(node, first, is_inherited=self._class in self._inherited)
        if in_class and node.name in HOOKS:
            # outermost: another decorator may put anything in the place of the function
            node.decorator_list.insert(0, call(".hook", [ast.Constant(node.name)], node))
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        """Allow lambdas."""
        trusted, in_class = self._trusted, self._in_class
        self._in_class = False
        self._visit_parameters(node.args)
        names, steady = parameter_names(node.args), self._steady
        self._trusted = trusted - names
        self._steady = cache(partial(steady_names, names, [node.body]))
        node.body = self.visit(node.body)
        self._trusted, self._in_class, self._steady = trusted, in_class, steady
        return node

    def visit_ListComp(self, node: Any) -> Any:
        """Allow comprehensions; their variables are their own."""
        names, steady = comprehension_names(node.generators), self._steady
        is_later = isinstance(node, ast.GeneratorExp)  # runs when the function around it may have gone on
        self._steady = (lambda: names) if is_later else (lambda: steady() | names)
        node = self.node_contents_visit(node)
        self._steady = steady
        return node

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

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
        """Allow classes over vetted bases, marked as the program's own."""
        self._check_bound(node, node.name)
        in_class, around = self._in_class, self._class
        self._in_class = False
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        self._visit_type_params(node)
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        is_alone = not node.bases and not getattr(node, "type_params", None)
        has_metaclass = any(keyword.arg == "metaclass" for keyword in node.keywords)
        for keyword in node.keywords:
            if keyword.arg == "metaclass":
                keyword.value = call(".metaclass", [keyword.value, ast.Constant(is_alone)], keyword.value)
            elif keyword.arg is None:  # `**options` may name a metaclass, whose namespace answers for the guards
                self.refusals.add(keyword.value, "class", "a class statement takes no ** here", "write out the names")
        if not (is_alone and has_metaclass):  # a metaclass is shown that there is no base
            guard = ".named_bases" if has_metaclass else ".bases"
            bases = call(guard, [self.visit(base) for base in node.bases], node)
            node.bases = [located(ast.Starred(value=bases, ctx=ast.Load()), node)]
        trusted, self._trusted = self._trusted, frozenset()  # a metaclass may write another `self` into the namespace
        self._in_class, self._class, steady, self._steady = True, node.name, self._steady, frozenset
        if "__match_args__" in self._bound:
            check_match_args(node, self.refusals)
        node.body = self._visit_all(node.body)
        check_later(node, self.refusals)
        self._in_class, self._class, self._trusted, self._steady = in_class, around, trusted, steady
        node.body.append(located(ast.Expr(call(".mark", [], node)), node))
        return node

    # --- statements and patterns that bind names --------------------------------------------------------------

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """Allow annotated assignment."""
        return self.node_contents_visit(node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Allow assignment. In a class a hook may be some other function: `__getattr__ = dict.get`."""
        target = node.targets[0]
        if not (self._in_class and isinstance(target, ast.Name) and target.id in HOOKS and len(node.targets) == 1):
            return self.node_contents_visit(node)
        wrap = call(".hook", [ast.Constant(target.id)], node)
        node.value = placed(ast.Call(func=wrap, args=[self.visit(node.value)], keywords=[]), node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """Allow `+=` and the like on names, items and attributes, which are read first."""
        target = node.target
        if not isinstance(target, ast.Attribute) or decide(target.attr) is not Decision.GUARDED:
            return self.node_contents_visit(node)
        target.value = call(".setter", [self.visit(target.value)], target.value)
        node.value = self.visit(node.value)
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        """Allow handlers; `except:` and `except BaseException` catch all that a program may catch."""
        self._check_bound(node, node.name)
        node = self.node_contents_visit(node)
        node.type = caught(node.type or load("BaseException", node))
        return node

    def visit_TryStar(self, node: ast.AST) -> Any:
        """Allow `except*`: its known fault needs a subclass of ExceptionGroup, and nobody can make one here."""
        return self.node_contents_visit(node)

    def visit_Match(self, node: Any) -> Any:
        """Allow `match`."""
        return self.node_contents_visit(node)

    visit_match_case = visit_MatchSingleton = visit_Match
    visit_MatchSequence = visit_MatchOr = visit_Match

    def visit_MatchValue(self, node: ast.MatchValue) -> Any:
        """Allow values and dotted names in patterns; these the interpreter reads itself, so they must be plain."""
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
        """Allow captures; the name is checked."""
        self._check_bound(node, node.name)
        return self.node_contents_visit(node)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node: ast.MatchMapping) -> Any:
        """Allow mapping patterns; keys are read as values are, the name that takes the rest is checked."""
        self._check_bound(node, node.rest)
        for key in node.keys:
            self._check_pattern_name(key)
        node.patterns = self._visit_all(node.patterns)
        return node

    def visit_MatchClass(self, node: ast.MatchClass) -> Any:
        """Allow class patterns by position, and by keyword for plain names: the interpreter reads these itself."""
        for name in node.kwd_attrs:
            if decide(name) is not Decision.PLAIN:
                self.refusals.add(node, "pattern", f"a pattern cannot read .{name}", "read the attribute in a guard")
        self._check_pattern_name(node.cls)
        node.patterns = self._visit_all(node.patterns)
        node.kwd_patterns = self._visit_all(node.kwd_patterns)
        return node

    # --- constructs that need no decision below them -----------------------------------------------------------

    def _allow(self, node: ast.AST) -> Any:
        """Allow without restrictions: the parts are visited, iteration and unpacking need no guard."""
        return self.node_contents_visit(node)

    visit_Subscript = visit_comprehension = visit_For = visit_With = _allow
    visit_AsyncFor = visit_AsyncWith = _allow

    # `type X = …`, `def f[T]`, `class A[T]`: their scopes hold ordinary expressions, visited like any other.
    def visit_TypeVar(self, node: Any) -> Any:
        """Allow type parameters; their names are checked."""
        self._check_bound(node, node.name)
        return self.visit_TypeAlias(node)

    visit_ParamSpec = visit_TypeVarTuple = visit_TypeVar

    def visit_TypeAlias(self, node: Any) -> Any:
        """Allow `type X = …`, which is evaluated when the function around it may have gone on."""
        steady, self._steady = self._steady, frozenset
        node = self.node_contents_visit(node)
        self._steady = steady
        return node


_KINDS = (kind for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.AST))
#: The method for each kind of node: found once, and not by a name that is put together at each visit.
_VISITORS: dict[type[ast.AST], Callable[[LanguagePolicy, Any], Any]] = {
    kind: getattr(LanguagePolicy, f"visit_{kind.__name__}", LanguagePolicy.generic_visit) for kind in _KINDS
}
