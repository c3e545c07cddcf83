"""One program from text to code: parsed, looked at, refused or rewritten, compiled. Nothing of it runs here."""

from __future__ import annotations

import ast
import re
from types import CodeType, MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from sandbox.guest.language.annotations import ANNOTATIONS, put_back, set_aside
from sandbox.guest.language.bindings import bound_names
from sandbox.guest.language.deferral import deferred_calls
from sandbox.guest.language.ending import MAIN, await_calls, keep_value
from sandbox.guest.language.examples import Example, examples_of, show_values
from sandbox.guest.language.imports import future_flags
from sandbox.guest.language.policy import LanguagePolicy
from sandbox.guest.language.proven import NOTHING_PROVEN, follow
from sandbox.guest.language.refusals import Refusals
from sandbox.guest.language.sites import call_sites, shadowing_imports
from sandbox.guest.language.source import SourceRefused, parse
from sandbox.guest.language.top_level import declare_global
from sandbox.guest.language.unused import UnusedFunctions

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Collection, Iterable, Mapping

    from sandbox.outcome import CallSite, Refusal

FILENAME = "<program>"

#: What a program must mention to have a named tuple in its result.
_MAKES_NAMED_TUPLES = re.compile(
    r"namedtuple|urlparse|urlsplit|urldefrag|matching_block|longest_match|as_tuple|import \*", re.IGNORECASE
)
#: What shows a program when memory is freed.
_WATCHES_MEMORY = re.compile(r"__del__|\bweakref\b")


class Program(NamedTuple):
    """A program that may run, or the reasons why it may not.

    `text` is the source whose lines the code counts; `code` is None where there are refusals; `returns` tells whether
    its end gives a value (if only None); `is_async` whether running the code gives a coroutine; `watches_memory`
    whether it may see when memory is freed; `makes_named_tuples` whether its result may hold one, and has to be walked
    before it is encoded; `examples` are those of its docstrings, where it speaks of `doctest`.
    """

    text: str
    code: CodeType | None
    sites: tuple[CallSite, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    returns: bool = False
    is_async: bool = False
    watches_memory: bool = False
    makes_named_tuples: bool = False
    examples: Mapping[str, tuple[Example, ...]] = MappingProxyType({})


def compile_program(code: str, *, names: Collection[str], limit_bytes: int, limit_depth: int) -> Program:
    """Compile a program. Raises SourceRefused and SyntaxError; what the policy refuses stands in `refusals`."""
    source = parse(code, limit_bytes=limit_bytes, limit_depth=limit_depth)
    tree = source.tree
    bound = bound_names(source.nodes)
    sites = tuple(call_sites(source.nodes, names, bound)) if ast.Call in source.kinds else ()
    refusals = Refusals()
    if ast.Import in source.kinds:
        shadowing_imports(source.nodes, names, refusals)
    may_await = "await" in code or "asyncio" in code
    deferred = deferred_calls(tree, source.nodes, names, bound) if may_await else frozenset()
    flags = future_flags(tree) | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    examples = _examples(source.nodes, bound, flags, limit_depth) if "doctest" in code else {}
    kinds = source.kinds
    if ast.AsyncFunctionDef in kinds and "asyncio.run" not in code and "run_until_complete" not in code:
        await_calls(tree, bound)
    returns = keep_value(tree, bound=bound, kinds=kinds)
    inherited = _inherited(source.nodes) if ast.ClassDef in kinds else ()
    proven = NOTHING_PROVEN if examples else follow(tree, source.nodes)  # examples bind what they like
    texts = set_aside(source.nodes) if flags & ANNOTATIONS else []
    LanguagePolicy(refusals, bound=bound, deferred=deferred, inherited=inherited, proven=proven).visit(tree)
    put_back(texts)
    if refusals.has("builtin"):
        unused = UnusedFunctions(source.text)
        refusals.leave_out("builtin", unused.hold)
    if refusals:
        return Program(text=source.text, code=None, sites=sites, refusals=refusals.sorted())
    declare_global(tree, kinds)
    compiled = _named(compile(tree, FILENAME, "exec", flags=flags, dont_inherit=True))
    return Program(
        text=source.text,
        code=compiled,
        sites=sites,
        returns=returns,
        is_async=bool(compiled.co_flags & _COROUTINE),
        watches_memory=_WATCHES_MEMORY.search(source.text) is not None,
        makes_named_tuples=_MAKES_NAMED_TUPLES.search(source.text) is not None,
        examples=examples,
    )


def _inherited(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names of classes that others are below, or that are below a class of the library.

    This may make another class of the statement: NamedTuple does, and the methods then have no `__class__`.
    """
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    bases = [(node.name, base.id if isinstance(base, ast.Name) else "") for node in classes for base in node.bases]
    own = {"object", *(node.name for node in classes)}
    return frozenset(name if base not in own else base for name, base in bases)


def _named(code: CodeType) -> CodeType:
    """Let the function that a program was made into show as the program itself."""
    if MAIN not in code.co_names:
        return code
    shown = [
        each.replace(co_name=code.co_name, co_qualname=code.co_qualname)
        if isinstance(each, CodeType) and each.co_name == MAIN
        else each
        for each in code.co_consts
    ]
    return code.replace(co_consts=tuple(shown))


def _examples(
    nodes: Iterable[ast.AST], bound: Counter[str], flags: int, limit_depth: int
) -> dict[str, tuple[Example, ...]]:
    """Compile the examples of the docstrings, by the same policy. One that may not be tells so when it is run."""

    def compile_one(text: str) -> CodeType | str:
        try:
            source = parse(text, limit_bytes=len(text.encode()), limit_depth=limit_depth)
        except (SourceRefused, SyntaxError) as error:
            return str(error)
        refusals = Refusals()
        show_values(source.tree)
        LanguagePolicy(refusals, bound=bound + bound_names(source.nodes)).visit(source.tree)
        if refusals:
            return refusals.sorted()[0].message
        try:
            code: CodeType = compile(source.tree, FILENAME, "exec", flags=flags & ~_AWAIT, dont_inherit=True)
        except SyntaxError as error:
            return str(error)
        return code

    return examples_of(nodes, compile_one)


_AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


#: CO_COROUTINE, CO_ASYNC_GENERATOR: an `await` at the top level makes the program a coroutine.
_COROUTINE = 0x80 | 0x200
