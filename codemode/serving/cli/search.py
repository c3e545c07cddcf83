"""`codemode search`: find tools."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from codemode.catalog.tool import Effect  # noqa: TC001 -- typer reads it at run time
from codemode.search.query import DEFAULT_LIMIT
from codemode.search.request import MAX_LIMIT, SearchRequest
from codemode.serving.cli.project_options import (
    AsJson,
    ProjectOptions,
    Role,
    local_caller,
    with_project_options,
    with_service,
)
from codemode.serving.output import terminal as show
from codemode.settings import DEFAULT_ROLE

if TYPE_CHECKING:
    from codemode.gateway.caller import Caller
    from codemode.search.explanation import Explanation
    from codemode.service import CodeMode

PATIENCE_S = 8.0  # how long `codemode search` waits for embeddings that are nearly complete

app = typer.Typer()


@app.command()
@with_project_options
def search(
    project: ProjectOptions,
    queries: Annotated[list[str], typer.Argument(help="What to look for: one query per step of a plan.")],
    namespace: Annotated[str, typer.Option(help="Only tools of this namespace or id prefix.")] = "",
    of_source: Annotated[str, typer.Option(help="Only tools of this configured source.")] = "",
    effect: Annotated[Effect | None, typer.Option(help="Only tools with this effect.")] = None,
    tag: Annotated[str, typer.Option(help="Only tools with this tag.")] = "",
    limit: Annotated[int, typer.Option(help="Hits per page.", min=1, max=MAX_LIMIT)] = DEFAULT_LIMIT,
    offset: Annotated[int, typer.Option(help="Hits to skip.", min=0)] = 0,
    full: Annotated[bool, typer.Option("--full", help="Show the full documentation of the best hit.")] = False,  # noqa: FBT002
    why: Annotated[bool, typer.Option("--why", help="Show why each hit is there.")] = False,  # noqa: FBT002
    tool: Annotated[str, typer.Option(help="With --why: show where this tool is, or what keeps it out.")] = "",
    role: Role = DEFAULT_ROLE,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Find tools. Hits include signatures that a program can call."""

    request = SearchRequest.checked(
        queries=queries,
        namespace=namespace or None,
        source=of_source or None,
        effect=effect,
        tag=tag or None,
        limit=limit,
        offset=offset,
    )

    async def work(service: CodeMode) -> int:
        with nullcontext() if as_json else show.waiting("embedding the tools and the queries"):
            await service.discovery.settle_search(queries, PATIENCE_S)
        if why or tool:
            return await _explain(service, request, local_caller(service, role), tool, as_json=as_json)
        answer = await service.search(
            queries,
            namespace=namespace or None,
            source=of_source or None,
            effect=effect,
            tag=tag or None,
            detail="full" if full else "auto",
            limit=limit,
            offset=offset,
            caller=local_caller(service, role),
        )
        if as_json:
            show.print_json(answer.to_json())
        else:
            show.console.print(show.plain(answer.text), soft_wrap=True)
            if show.console.is_terminal and answer.hits:
                show.console.print(show.plain("why these tools: the same command with --why", style="dim"))
        return 0 if answer.hits else 1

    with_service(project, work, calls=False, as_json=as_json)


async def _explain(service: CodeMode, request: SearchRequest, caller: Caller, tool: str, *, as_json: bool) -> int:
    explanations = await service.discovery.explain(request, caller, tool)
    if as_json:
        show.print_json([asdict(each) for each in explanations])
    else:
        lines = [line for each in explanations for line in _lines(each, tool)]
        show.console.print(show.plain("\n".join(lines)), soft_wrap=True)
    return 0 if any(each.hits for each in explanations) else 1


def _lines(explanation: Explanation, tool: str) -> list[str]:
    from codemode.search.explanation import hit_line

    hits = [f"  {hit.id}: {hit_line(hit)}" for hit in explanation.hits]
    left_out = [f"  {id_}: {reason}" for id_, reason in explanation.left_out.items()]
    read_as = f", read as: {explanation.read_as}" if explanation.read_as else ""
    return [
        f"{explanation.query} (confidence {explanation.confidence:.2f}{read_as})",
        *(hits or ["  no hit"]),
        *(["left out, though it would be among these:", *left_out] if left_out else ()),
        *([f"{tool}: {explanation.wanted}"] if tool else ()),
    ]
