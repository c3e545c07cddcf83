"""Hints and notes for programs: a missing name may be part of a tool id; a service may have another clock."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from codemode.search.introduction import with_full_names

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from codemode.catalog.catalog import Catalog
    from sandbox import Failure


_MISSING = re.compile(r"name '(\w{1,200})' is not defined")


def advised(failure: Failure, catalog: Catalog) -> Failure:
    """Return the failure with a hint that gives the full id, if a tool or group was called without its namespace."""
    missing_name = _MISSING.match(failure.message) if failure.type == "NameError" else None
    if missing_name is None:
        return failure
    name = missing_name[1]
    groups = {tool.id[: tool.id.index(f".{name}.") + len(name) + 1] for tool in catalog if f".{name}." in tool.id}
    if groups:
        return replace(failure, hint=f"write {' or '.join(sorted(groups)[:3])}: {name} is a group of tools")
    tools = catalog.called(name)
    if not tools:
        return failure
    if tools[0].rpartition(".")[2] == name:
        return replace(failure, hint=f"call tools by their full id: write {' or '.join(tools)}")
    return replace(failure, hint=f"did you mean {', '.join(tools)}? Call tools by their full id")


#: How programs read their clock. The text is searched and never parsed on the host.
_READS = re.compile(r"\b(date(?:time)?\.(?:today|now|utcnow))\(")


def clock_notes(code: str, tools: Iterable[str], catalog: Catalog, moment: datetime) -> tuple[str, ...]:
    """Return one note for each called source whose date differs from the program's. `moment` is in UTC.

    A program that names the zone of the source needs no note.
    """
    read = _READS.search(code) if catalog.clocks else None
    if read is None:
        return ()
    notes = []
    for source in dict.fromkeys(catalog.get(tool).source for tool in tools if tool in catalog):
        clock = catalog.clocks.get(source)
        if clock is None or (clock.zone and clock.zone in code) or clock.date_at(moment) == moment.date():
            continue
        said = with_full_names(str(clock), source, catalog)
        notes.append(f"{read[1]}() is {moment.date()} (UTC) in programs; {source} has another clock: {said}")
    return tuple(notes)
