"""Compilation of a program: it is parsed, checked, refused or rewritten, and compiled. Nothing of it runs here."""

from __future__ import annotations

import ast
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from sandbox.guest.language.bindings import bound_names
from sandbox.guest.language.deferral import deferred_calls
from sandbox.guest.language.ending import declare_global, keep_value
from sandbox.guest.language.imports import ANNOTATIONS, future_flags
from sandbox.guest.language.leftovers import Leftovers
from sandbox.guest.language.loaded_values import load_values
from sandbox.guest.language.policy import LanguagePolicy
from sandbox.guest.language.refusals import Refusals
from sandbox.guest.language.sites import call_sites, hidden_namespaces, shadowing_imports
from sandbox.guest.language.source import parse
from sandbox.guest.language.unimported import unimported

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from types import CodeType

    from sandbox.outcome import CallSite, Refusal

FILENAME = "<program>"

#: Words in the source of each program that can return a named tuple.
_MAKES_NAMED_TUPLES = re.compile(
    r"namedtuple|urlparse|urlsplit|urldefrag|matching_block|longest_match|as_tuple|import \*", re.IGNORECASE
)


class Program(NamedTuple):
    """A compiled program, or its refusals.

    `text` is the source whose lines the code counts; `code` is None where there are refusals; `returns` tells whether
    its end gives a value (if only None); `is_async` whether running the code gives a coroutine; `makes_named_tuples`
    whether its result may hold one, and has to be walked before it is encoded; `note` is for the outcome; `unimported`
    are the imports that it left out, as tuples of `Unimported`.
    """

    text: str
    code: CodeType | None
    sites: tuple[CallSite, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    returns: bool = False
    is_async: bool = False
    makes_named_tuples: bool = False
    note: str = ""
    unimported: tuple[tuple[str, str, bool], ...] = ()


def compile_program(
    code: str,
    *,
    names: Collection[str],
    limit_bytes: int,
    limit_depth: int,
    values: Mapping[str, str] = MappingProxyType({}),
    modules: Collection[str] = (),
) -> Program:
    """Compile a program. Refusals of the policy are in `refusals`. Raises SourceRefused and SyntaxError.

    `values` maps names that the program may read to the functions that return their values. `modules` are the modules
    that programs can import.
    """
    source = parse(code, limit_bytes=limit_bytes, limit_depth=limit_depth)
    tree = source.tree
    bound = bound_names(source.nodes)
    sites = tuple(call_sites(source.nodes, names, bound, modules)) if ast.Call in source.kinds else ()
    refusals = Refusals()
    if ast.Import in source.kinds:
        shadowing_imports(source.nodes, names, refusals)
        hidden_namespaces(source.nodes, names, modules, refusals)
    left_out = (
        tuple((*one,) for one in unimported(source.nodes, bound, names, modules))
        if ast.Attribute in source.kinds
        else ()
    )
    may_await = "await" in code or "asyncio" in code
    deferred = deferred_calls(source.nodes, names, bound) if may_await else frozenset()
    flags = future_flags(tree) | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    kinds = source.kinds
    load_values(tree, source.nodes, values, bound)
    returns = keep_value(tree, bound=bound, kinds=kinds)
    policy = LanguagePolicy(refusals, bound=bound, deferred=deferred, annotations_are_text=bool(flags & ANNOTATIONS))
    policy.visit(tree)
    if refusals.has("builtin"):
        refusals.leave_out("builtin", Leftovers(source.text).hold)
    if refusals:
        return Program(text=source.text, code=None, sites=sites, refusals=refusals.sorted())
    declare_global(tree, kinds)
    compiled = compile(tree, FILENAME, "exec", flags=flags, dont_inherit=True)
    return Program(
        text=source.text,
        code=compiled,
        sites=sites,
        returns=returns,
        is_async=bool(compiled.co_flags & _COROUTINE),
        makes_named_tuples=_MAKES_NAMED_TUPLES.search(source.text) is not None,
        note=source.note,
        unimported=left_out,
    )


def compile_annotation(text: str) -> CodeType:
    """Compile an annotation that is text, by the same policy. Raises ValueError if it is no type."""
    refusals = Refusals()
    try:
        tree = ast.parse(text.strip(), FILENAME, "eval")
        LanguagePolicy(refusals, bound=()).visit(tree)
        if not refusals and len(text) <= _ANNOTATION_CHARACTERS:
            return compile(tree, FILENAME, "eval", dont_inherit=True)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(str(error)) from None
    message = f"{text[:40]} means no type"
    raise ValueError(message)


#: The limit of an annotation that is text.
_ANNOTATION_CHARACTERS = 2_000

#: CO_COROUTINE, CO_ASYNC_GENERATOR: an `await` at the top level makes the program a coroutine.
_COROUTINE = 0x80 | 0x200
