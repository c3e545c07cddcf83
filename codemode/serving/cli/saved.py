"""`codemode saved list | show | check | promote | remove`: saved programs, which are tools of the namespace `saved`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codemode.errors import ConfigurationError
from codemode.serving.cli.project_options import (
    FOUND,
    AsJson,
    Config,
    ProjectOptions,
    Role,
    local_caller,
    operator_of,
    with_service,
)
from codemode.serving.cli.tables import print_table
from codemode.serving.output import terminal as show
from codemode.settings import DEFAULT_ROLE
from codemode.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codemode.service import CodeMode

app = typer.Typer(no_args_is_help=True, help="Manage saved programs: good programs that became tools.")

Program = Annotated[str, typer.Argument(help="The name of a saved program.")]


@app.callback()
def commands() -> None:
    """Manage saved programs: good programs that became tools."""


@app.command("list")
def list_saved(
    role: Role = DEFAULT_ROLE,
    config: Config = FOUND,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """List the saved programs that a role sees."""

    async def work(service: CodeMode) -> int:
        from codemode.features.saved.saved import SavedPrograms, saved_json

        found = [saved_json(tool) for tool in await service.part(SavedPrograms).list(local_caller(service, role))]
        if as_json:
            show.print_json(found)
        elif found:
            rows = [_row(program) for program in found]
            print_table(("program", "version", "effect", "saved by", "description"), rows, may_be_cut=("description",))
        else:
            show.console.print("no saved programs: save one with `codemode saved promote EXECUTION NAME --describe …`")
        return 0

    with_service(ProjectOptions(config), work, needs_search=False, as_json=as_json)


@app.command("show")
def show_saved(
    name: Program,
    config: Config = FOUND,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Show the file of a saved program."""

    async def work(service: CodeMode) -> int:
        from codemode.catalog.saved import program_of
        from codemode.features.saved.saved import SavedPrograms, saved_json

        tool = await service.part(SavedPrograms).get(name)
        program = program_of(tool)
        code = program.code if program is not None else ""
        if as_json:
            show.print_json({**saved_json(tool), "code": code})
        else:
            show.console.print(show.plain(code.rstrip("\n")), soft_wrap=True)
        return 0

    with_service(ProjectOptions(config), work, needs_search=False, as_json=as_json)


@app.command("check")
def check(
    config: Config = FOUND,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Check the saved programs against the catalog. Nothing is run. Exit code 1 if one is broken."""

    async def work(service: CodeMode) -> int:
        from codemode.features.saved.saved import SavedPrograms

        found = await service.part(SavedPrograms).check()
        broken = [one for one in found if one.problem]
        if as_json:
            show.print_json([{"name": one.name, "problem": one.problem} for one in found])
        else:
            for one in broken:
                show.console.print(show.plain(f"{one.name}: {one.problem}", style="red"), soft_wrap=True)
            show.console.print(f"{counted(len(found), 'saved program')} checked, {len(broken)} broken", markup=False)
        return 1 if broken else 0

    with_service(ProjectOptions(config), work, needs_search=False, as_json=as_json)


@app.command("promote")
def promote(
    execution: Annotated[str, typer.Argument(help="The id of a completed execution, or the beginning of it.")],
    name: Annotated[str, typer.Argument(help="The name of the new tool: saved.NAME.")],
    describe: Annotated[str, typer.Option(help="What it does, for search and for models. Required.")] = "",
    parameter: Annotated[
        list[str] | None,
        typer.Option(help="NAME: a variable that becomes a required parameter. NAME=JSON: an optional one."),
    ] = None,
    sees: Annotated[list[str] | None, typer.Option(help="A role that sees it. Default: all roles.")] = None,
    config: Config = FOUND,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Save the program of an execution as a tool. An existing program gets its next version.

    A parameter replaces the line `NAME = literal` of the program.
    """

    async def work(service: CodeMode) -> int:
        from codemode.executions.types.promotion import Promotion
        from codemode.features.saved.saved import SavedPrograms, saved_json
        from codemode.serving.cli.execution_control import whole

        made_by = await whole(service, execution)
        promotion = Promotion(made_by, name, describe, _parameters(parameter or ()), tuple(sees or ()))
        tool = await service.part(SavedPrograms).promote(promotion, reader=operator_of(service))
        if as_json:
            show.print_json(saved_json(tool))
        else:
            version, effect = saved_json(tool)["version"], tool.effect
            folder = service.settings.saved.folder
            where = "in the journal, for all servers"
            if folder is not None and not service.settings.has_shared_store:
                where = str(folder / f"{name}.py")
            show.console.print(show.plain(f"{tool.id} version {version} ({effect}): {where}"), soft_wrap=True)
        return 0

    with_service(ProjectOptions(config), work, needs_search=False, as_json=as_json)


@app.command("remove")
def remove(
    name: Program,
    config: Config = FOUND,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Remove a saved program, with its file."""

    async def work(service: CodeMode) -> int:
        from codemode.features.saved.saved import SavedPrograms

        await service.part(SavedPrograms).remove(name)
        if as_json:
            show.print_json({"name": name})
        else:
            show.console.print(show.plain(f"{name} is removed"), soft_wrap=True)
        return 0

    with_service(ProjectOptions(config), work, needs_search=False, as_json=as_json)


def _row(program: dict[str, Any]) -> tuple[str, str, str, str, str]:
    told = f"broken: {program['problem']}" if program["problem"] else program["description"]
    return program["id"], str(program["version"]), program["effect"], program["saved_by"] or "-", told


def _parameters(words: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the schemas that `NAME` and `NAME=JSON` give. Raises ConfigurationError."""
    found: dict[str, dict[str, Any]] = {}
    for word in words:
        name, is_optional, text = word.partition("=")
        if name in found:
            message = f"--parameter {name} is given twice"
            raise ConfigurationError(message)
        try:
            found[name] = {"default": json.loads(text)} if is_optional else {}
        except ValueError:
            message = f"--parameter {word}: the default is JSON; write a text as {name}='\"{text}\"'"
            raise ConfigurationError(message) from None
    return found
