"""One program from text to code: parsed, looked at, refused or rewritten, compiled. Nothing of it runs here."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandbox.guest.language.bindings import bound_names
from sandbox.guest.language.deferral import deferred_calls
from sandbox.guest.language.ending import keep_value
from sandbox.guest.language.imports import future_flags
from sandbox.guest.language.policy import LanguagePolicy
from sandbox.guest.language.refusals import Refusals
from sandbox.guest.language.sites import call_sites, shadowing_imports
from sandbox.guest.language.source import parse

if TYPE_CHECKING:
    from collections.abc import Collection
    from types import CodeType

    from sandbox.outcome import CallSite, Refusal

FILENAME = "<program>"


@dataclass(frozen=True, slots=True)
class Program:
    """A program that may run, or the reasons why it may not.

    `text` is the source whose lines the code counts; `code` is None where there are refusals; `returns` tells whether
    its end gives a value (if only None); `is_async` whether running the code gives a coroutine.
    """

    text: str
    code: CodeType | None
    sites: tuple[CallSite, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    returns: bool = False
    is_async: bool = False


def compile_program(code: str, *, names: Collection[str], limit_bytes: int, limit_depth: int) -> Program:
    """Compile a program. Raises SourceRefused and SyntaxError; what the policy refuses stands in `refusals`."""
    source = parse(code, limit_bytes=limit_bytes, limit_depth=limit_depth)
    tree = source.tree
    bound = bound_names(source.nodes)
    sites = tuple(call_sites(source.nodes, names, bound))
    refusals = Refusals()
    shadowing_imports(source.nodes, names, refusals)
    deferred = deferred_calls(tree, names, bound) if "await" in code or "asyncio" in code else frozenset()
    flags = future_flags(tree) | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    returns = keep_value(tree)
    LanguagePolicy(refusals, bound=bound, deferred=deferred).visit(tree)
    if refusals:
        return Program(text=source.text, code=None, sites=sites, refusals=refusals.sorted())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = compile(tree, FILENAME, "exec", flags=flags, dont_inherit=True)
    return Program(
        text=source.text, code=compiled, sites=sites, returns=returns, is_async=bool(compiled.co_flags & _COROUTINE)
    )


#: CO_COROUTINE, CO_ASYNC_GENERATOR: an `await` at the top level makes the program a coroutine.
_COROUTINE = 0x80 | 0x200
