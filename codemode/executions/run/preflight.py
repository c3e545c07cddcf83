"""Preflight: check a program's calls against the catalog before the program runs.

The guest reports the calls. A dishonest guest gains nothing, because the gateway checks every call again.
"""

from __future__ import annotations

import sys
from itertools import islice
from typing import TYPE_CHECKING

from codemode.catalog.arguments import accepts, missing
from codemode.errors import SourceUnavailable, ToolNotFound
from codemode.executions.run.forms import form_of
from codemode.executions.run.paging import WholeList
from codemode.text.nearest import nearest
from sandbox import ProgramRefused, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.saved import SavedProgram
    from codemode.catalog.tool import Tool
    from sandbox import CallSite

#: Largest number of refusals for one program. Searching the nearest names takes milliseconds for each.
MOST = 50

#: Refuses a program that has no mistake and should be checked only.
CHECKED = Refusal(rule="only_checked", message="the program was checked, and does not run", line=0, column=0)


def check(sites: Iterable[CallSite], catalog: Catalog, within: SavedProgram | None = None) -> None:
    """Raise ProgramRefused for calls that cannot succeed: unknown tools, unknown or missing arguments.

    The calls of the saved program `within` must be those that its header allows.
    """
    refusals = list(islice((refusal for site in sites for refusal in _refusals(site, catalog, within)), MOST))
    if refusals:
        raise ProgramRefused(refusals)


def _refusals(site: CallSite, catalog: Catalog, within: SavedProgram | None) -> Iterator[Refusal]:
    form = form_of(site.name, catalog)
    try:
        tool = form.tool if form else catalog.get(site.name)
    except ToolNotFound as error:
        yield _unknown_tool(site, error, catalog)
        return
    forbidden = within.forbids(tool) if within is not None else ""
    if forbidden:
        yield _refusal(site, "outside_header", f"{tool.id} cannot be called: {forbidden}", "add it to the header")
    problem = form.problem() if form else ""
    if form and problem:
        rule = "no_pages" if isinstance(form, WholeList) else "no_response"
        yield _refusal(site, rule, problem, f"call {tool.id}(…) without .{form.kind}")
    valid = [*(parameter.name for parameter in tool.parameters), *(form.extra_names if form else ())]
    if site.positional:
        message = f"{tool.id}() takes keyword arguments only, not {site.positional} positional"
        yield _refusal(site, "positional_argument", message, f"write {tool.id}({_keywords(valid)})")
    known = frozenset(valid)
    keywords = dict.fromkeys(site.keywords)  # a guest may repeat them
    unknown = (keyword for keyword in keywords if keyword not in known and not accepts(tool, keyword))
    meant = {keyword: nearest(keyword, valid) for keyword in islice(unknown, MOST)}
    for keyword, name in meant.items():
        yield _unknown_argument(site, keyword, name, tool)
    present = {*keywords, *(name for name in meant.values() if name)}  # a misspelt argument is not also missing
    absent = missing(tool, present)
    if absent and not site.open_ended and not site.positional:
        names = ", ".join(repr(name) for name in absent)
        yield _refusal(site, "missing_argument", f"{tool.id}() is missing {names}", _parameters(tool))


def _unknown_tool(site: CallSite, error: ToolNotFound, catalog: Catalog) -> Refusal:
    if isinstance(error, SourceUnavailable):
        return _refusal(site, error.code, str(error), "remove the call, or run the program again later")
    group = site.name + "."
    members = [tool.id for tool in catalog.tools if tool.id.startswith(group)]
    if members:
        message = f"{site.name} is a group of {len(members)} tools, not a tool"
        return _refusal(site, "not_a_tool", message, f"for example {', '.join(members[:3])}")
    hint = f"nearest: {', '.join(error.nearest)}; or search for it" if error.nearest else "search for it first"
    root = site.name.partition(".")[0]
    if root in sys.stdlib_module_names and root in catalog.namespaces:
        hint += f"; {root} is a source here: `import {root}` binds Python's module, and the tools stay at tools.{root}"
    return _refusal(site, "unknown_tool", f"there is no tool {site.name!r}", hint)


def _unknown_argument(site: CallSite, keyword: str, meant: str | None, tool: Tool) -> Refusal:
    message = f"{tool.id}() has no parameter {keyword!r}" + (f"; did you mean {meant!r}?" if meant else "")
    return _refusal(site, "unknown_argument", message, _parameters(tool))


def _parameters(tool: Tool) -> str:
    if not tool.parameters:
        return "it takes no arguments"
    names = ", ".join(p.name + ("*" if p.required else "") for p in tool.parameters)
    return f"valid parameters (* = required): {names}"


def _keywords(names: list[str]) -> str:
    return ", ".join(f"{name}=…" for name in names[:4]) + (", …" if len(names) > 4 else "")


def _refusal(site: CallSite, rule: str, message: str, hint: str) -> Refusal:
    return Refusal(rule=rule, message=message, line=site.line, column=site.column, hint=hint)
