"""The source `saved`: the saved programs as tools, judged against the catalog that they call."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from codemode.catalog.effects import worst
from codemode.catalog.saved import SAVED
from codemode.catalog.schema import Schema
from codemode.catalog.tool import Location, Parameter, Tool
from codemode.sources.factory import LoadedSource
from codemode.sources.loaded import SourceWarning, Surface
from codemode.transports.absent import AbsentTransport

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.saved import SavedProgram
    from codemode.catalog.tool import Effect

_DESCRIPTION = "Saved programs. Each is called like a tool, and calls tools itself."


def source_of(programs: Mapping[str, SavedProgram], problems: Mapping[str, str], catalog: Catalog) -> LoadedSource:
    """Return the source. `problems` are the files that are no programs; `catalog` has the tools of all other sources.

    A program whose tools are gone stays a tool, and its description says what it lacks.
    """
    warnings = [SourceWarning(name, problem) for name, problem in problems.items()]
    tools = []
    for program in programs.values():
        missing = _missing(program, programs, catalog)
        problem = f"it needs {', '.join(missing)}, which no longer exists" if missing else ""
        tools.append(_tool(program, _effect(program, programs, catalog), problem))
        warnings += [SourceWarning(program.id, problem)] if problem else []
    text = "\0".join(f"{tool.id} {tool.effect} {tool.description} {programs[tool.path].code}" for tool in tools)
    surface = Surface(
        tuple(tools),
        tuple(warnings),
        title="Saved programs",
        digest=hashlib.blake2b(text.encode(), digest_size=16).hexdigest(),
        description=_DESCRIPTION if tools else "",
    )
    return LoadedSource(SAVED, surface, AbsentTransport(SAVED, "a saved program has no pages"))


def _tool(program: SavedProgram, effect: Effect, problem: str) -> Tool:
    """Return a program as a tool. `problem` is why it is broken, "" if it is not."""
    description = f"Broken: {problem}.\n{program.description}" if problem else program.description
    return Tool(
        program.id,
        source=SAVED,
        summary=description.partition("\n")[0],
        description=description,
        parameters=tuple(sorted(_parameters(program), key=lambda parameter: not parameter.required)),
        effect=effect,
        effect_said=True,
        returns=Schema.of(dict(program.returns)) if program.returns else None,
        invocation=replace(program, problem=problem),
        related=program.tools,
        key=f"{program.name} {program.version}",
    )


def _parameters(program: SavedProgram) -> Iterator[Parameter]:
    for name, schema in program.parameters.items():
        yield Parameter(
            name,
            name,
            Location.ARGUMENT,
            required="default" not in schema,
            schema=Schema.of(dict(schema)),
            description=str(schema.get("description", "")),
        )


def _missing(program: SavedProgram, programs: Mapping[str, SavedProgram], catalog: Catalog) -> tuple[str, ...]:
    ids = {one.id for one in programs.values()}
    return tuple(id_ for id_ in program.missing(catalog) if id_ not in ids)


def _effect(program: SavedProgram, programs: Mapping[str, SavedProgram], catalog: Catalog) -> Effect:
    """Return the worst effect of a program: that of its header, and those that its tools have today."""
    effects = [program.effect, *(catalog.get(id_).effect for id_ in program.tools if id_ in catalog)]
    ids = {one.id: one.effect for one in programs.values()}
    return worst([*effects, *(ids[id_] for id_ in program.tools if id_ in ids)])
