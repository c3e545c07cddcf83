"""`codemode demo`, `run`, `call` and `tools`: run programs, call and list tools."""

from __future__ import annotations

import asyncio
import sys
from functools import partial
from pathlib import Path  # noqa: TC003 -- typer reads it at run time
from typing import TYPE_CHECKING, Annotated

import typer
from rich.tree import Tree

from codemode.errors import ConfigurationError
from codemode.serving.cli.project_options import (
    AsJson,
    NoInput,
    ProjectOptions,
    Role,
    Strict,
    YesTo,
    local_caller,
    with_project_options,
    with_service,
)
from codemode.serving.output import terminal as show
from codemode.serving.output.exit_codes import errors_as_exit_codes, exit_code_of
from codemode.serving.output.terminal import plain
from codemode.settings import DEFAULT_ROLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codemode.catalog.tool import Tool
    from codemode.service import CodeMode


app = typer.Typer()


@app.command()
def demo(
    everything: Annotated[bool, typer.Option("--all", help="Also show a search and six programs.")] = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Show on one screen what codemode does, against two example services."""
    from codemode.serving.cli.demo import run_demo

    with errors_as_exit_codes(as_json=as_json):
        raise typer.Exit(asyncio.run(run_demo(everything=everything, as_json=as_json)))


@app.command()
@with_project_options
def run(
    project: ProjectOptions,
    file: Annotated[Path, typer.Argument(help="A program, or - for standard input.", allow_dash=True)],
    role: Role = DEFAULT_ROLE,
    resume_from: Annotated[str, typer.Option(help="The id of an earlier execution, or the beginning of it.")] = "",
    fresh_reads: Annotated[bool, typer.Option("--fresh-reads", help="Repeat its reads.")] = False,  # noqa: FBT002
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List writes instead of making them.")] = False,  # noqa: FBT002
    input_: Annotated[
        list[str] | None, typer.Option("--input", metavar="NAME=VALUE", help="A variable: JSON, else text.")
    ] = None,
    files: Annotated[
        list[str] | None, typer.Option("--file", metavar="NAME=PATH", help="A variable that refers to this file.")
    ] = None,
    conversation: Annotated[
        str, typer.Option(help="Programs with the same conversation share what they store, and `last`.")
    ] = "",
    html: Annotated[Path | None, typer.Option(help="Also write the outcome to this file, as an HTML page.")] = None,
    yes_to: YesTo = None,
    no_input: NoInput = False,  # noqa: FBT002
    strict: Strict = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Run a program in the sandbox, with all tools in their namespaces.

    At a terminal, it shows each call that needs a person, asks, and continues. Exit code 75: a person must decide.
    """
    from codemode.serving.cli.files import inputs_of, where_files_are

    async def work(service: CodeMode) -> int:
        from codemode.serving.cli.asking import approver_here
        from codemode.serving.cli.execution_control import whole

        inputs = await inputs_of(service, input_ or (), files or ())
        caller = local_caller(service, role)
        approver = approver_here(service, caller, yes_to, no_input=no_input, as_json=as_json)
        execute = partial(
            service.execute,
            code,
            caller=caller,
            resume_from=await whole(service, resume_from) if resume_from else "",
            fresh_reads=fresh_reads,
            inputs=inputs,
            dry_run=dry_run,
            conversation=conversation,
        )
        if as_json:
            ended = await approver.settle(await execute())
            show.print_json(ended.to_json())
        else:
            from codemode.serving.cli.watching import watching

            with watching(show.errors) as watcher:
                ended = await execute(watch=watcher.called)
                watcher.ended(ended.calls)
            ended = await approver.settle(ended)
            show.print_outcome(ended)
            for line in where_files_are(ended) if service.settings.keeps_journal else ():
                show.errors.print(show.plain(line), soft_wrap=True)
        if html is not None:
            from codemode.executions.report.html_report import outcome_page

            html.write_text(outcome_page(code, ended), encoding="utf-8")
        return exit_code_of(ended.status)

    with errors_as_exit_codes(as_json=as_json):
        code = _read_program(file)
        if html is not None:
            _require_folder(html)
    with_service(project, work, strict=strict, needs_search=False, as_json=as_json)


@app.command()
@with_project_options
def call(
    project: ProjectOptions,
    tool: Annotated[str, typer.Argument(help="The id of the tool.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="KEY=VALUE …", help="Its arguments. A value is JSON, else text.")
    ] = None,
    role: Role = DEFAULT_ROLE,
    yes_to: YesTo = None,
    no_input: NoInput = False,  # noqa: FBT002
    strict: Strict = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Call one tool, and print its result as JSON. The policy, the journal and approvals apply as in a program."""

    from codemode.serving.cli.arguments import arguments_of, call_of
    from codemode.serving.cli.asking import approver_here

    async def work(service: CodeMode) -> int:
        caller = local_caller(service, role)
        called = (await service.view(caller)).catalog.get(tool)
        approver = approver_here(service, caller, yes_to, no_input=no_input, as_json=as_json)
        code = call_of(called, arguments_of(called, arguments or ()))
        ended = await approver.settle(await service.execute(code, caller=caller))
        if as_json:
            show.print_json(ended.to_json())
        elif ended.ok:
            show.print_json(ended.value)
        else:
            show.errors.print(show.outcome(ended))
        return exit_code_of(ended.status)

    with_service(project, work, strict=strict, needs_search=False, as_json=as_json)


@app.command()
@with_project_options
def tools(
    project: ProjectOptions,
    namespace: Annotated[str, typer.Option(help="Only tools of this namespace or id prefix.")] = "",
    tree: Annotated[bool, typer.Option("--tree", help="Show namespaces and groups as a tree.")] = False,  # noqa: FBT002
    role: Role = DEFAULT_ROLE,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """List all tools, one per line, or as a tree."""

    async def work(service: CodeMode) -> int:
        from codemode.catalog.stubs import one_liner

        catalog = (await service.view(local_caller(service, role))).catalog
        found = sorted((tool for tool in catalog if _is_in(namespace, tool.id)), key=lambda tool: tool.id)
        if namespace and not found:
            known = ", ".join(sorted({tool.namespace for tool in catalog}))
            message = f"no tool has the namespace {namespace!r}; there are: {known}"
            raise ConfigurationError(message)
        if as_json:
            show.print_json([{"id": tool.id, "effect": tool.effect, "summary": tool.summary} for tool in found])
        elif tree:
            for branch in trees(found):
                show.console.print(branch)
        else:
            for tool in found:
                show.console.print(show.plain(one_liner(tool)), soft_wrap=True)
        return 0 if found else 1

    with_service(project, work, needs_search=False, as_json=as_json)


def _is_in(namespace: str, id_: str) -> bool:
    return not namespace or id_.startswith(f"{namespace.rstrip('.')}.")


def _read_program(file: Path) -> str:
    if str(file) == "-":
        return sys.stdin.read()
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        message = f"cannot read the program {file}: {reason}"
        raise ConfigurationError(message) from None


def _require_folder(file: Path) -> None:
    """Raise ConfigurationError before the program runs if its page could not be written."""
    if file.is_dir() or not file.parent.is_dir():
        reason = "it is a folder" if file.is_dir() else f"there is no folder {file.parent}"
        message = f"--html {file} cannot be written: {reason}; name a file in an existing folder"
        raise ConfigurationError(message)


_EFFECT_STYLE = {"read": "green", "write": "yellow", "destructive": "red"}


def trees(tools: Iterable[Tool]) -> list[Tree]:
    """Return one tree for each namespace. Leaves show the effect and the summary of a tool."""
    roots: dict[str, Tree] = {}
    branches: dict[str, Tree] = {}
    for tool in tools:
        *groups, name = tool.id.split(".")
        prefix = groups[0]
        branch = roots.setdefault(prefix, Tree(plain(prefix, style="bold"), guide_style="dim"))
        for group in groups[1:]:
            prefix = f"{prefix}.{group}"
            if prefix not in branches:
                branches[prefix] = branch.add(plain(group))
            branch = branches[prefix]
        effect = plain(f"  {tool.effect}", style=_EFFECT_STYLE.get(tool.effect, ""))
        label = plain(name) + effect + plain(f"  {tool.summary}", style="dim")
        label.no_wrap, label.overflow = True, "ellipsis"
        branch.add(label)
    return list(roots.values())
