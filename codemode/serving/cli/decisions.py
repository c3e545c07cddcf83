"""Remembered decisions on the command line, as the operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.features.decisions.decisions import RememberedDecisions
from codemode.serving.cli.project_options import operator_of
from codemode.serving.cli.tables import print_table
from codemode.serving.output import terminal as show

if TYPE_CHECKING:
    from codemode.service import CodeMode


async def print_remembered(service: CodeMode, *, as_json: bool) -> int:
    """Print what is remembered, oldest first."""
    part = service.part(RememberedDecisions)
    rows = [one.to_json(part.now()) for one in await part.list(operator_of(service))]
    if as_json:
        show.print_json(rows)
    elif rows:
        columns = ("id", "tool", "owner", "reaches", "expires", "status", "by")
        print_table(columns, [[str(row[name]) for name in columns] for row in rows], may_be_cut=("owner",))
    else:
        show.errors.print("no decision is remembered: `codemode approvals approve ID --remember hour` makes one")
    return 0


async def forget(service: CodeMode, decision: str, *, as_json: bool) -> int:
    """End a remembered decision."""
    part = service.part(RememberedDecisions)
    ended = await part.revoke(decision, operator_of(service))
    if as_json:
        show.print_json(ended.to_json(part.now()))
    else:
        show.console.print(show.plain(f"{ended.id} is revoked: the next such call asks a person"))
    return 0
