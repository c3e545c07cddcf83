"""Notes for programs that take the date from their own clock, and call a service with another one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from codemode.search.introduction import with_full_names

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from codemode.catalog.catalog import Catalog

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
