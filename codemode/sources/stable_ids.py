"""Store tool ids by source and operation, so that a new operation never renames an old one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codemode.shared.values import UNAVAILABLE

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from codemode.catalog.tool import Tool
    from codemode.shared.values import ValueStore
    from codemode.sources.loaded import Surface

    #: Makes the tools of a source with the ids that are stored for them.
    Naming = Callable[[Mapping[str, str]], Awaitable[Surface]]

#: The most attempts to agree on ids with other servers. One is enough unless they read the source at the same moment.
_ATTEMPTS = 5


class StableIds:
    """Tool ids in one shared value for each source. If they cannot be stored, they are assigned anew each time."""

    def __init__(self, store: ValueStore) -> None:
        self._store = store

    async def named(self, source: str, make: Naming) -> Surface:
        """Return the tools of a source with the stored ids, and store the ids of new ones.

        Stored ids of other operations are withheld.

        If another server has stored another id for the same operation meanwhile, or has given an id away, the tools are
        made again: the first server decides.
        """
        ids = await asyncio.to_thread(self.read, source)
        for _ in range(_ATTEMPTS):
            surface = await make(ids)
            ids = await asyncio.to_thread(self.keep, source, surface.tools)
            if all(ids.get(tool.key) == tool.id for tool in surface.tools):
                break
        return replace(surface, withheld=frozenset(ids.values()).difference(tool.id for tool in surface.tools))

    def read(self, source: str) -> dict[str, str]:
        """Return the stored ids of a source by operation key (`GET /path`). Empty if there are none."""
        try:
            return _of_source(source, _parsed(self._store.value("ids", source).read()))
        except UNAVAILABLE:
            return {}

    def keep(self, source: str, tools: Iterable[Tool]) -> dict[str, str]:
        """Add the ids of a source's tools, and return all. The ids of removed operations stay reserved.

        An operation whose id another operation has meanwhile is not added.
        """
        wanted = {tool.key: tool.id for tool in tools}
        result: dict[str, str] = {}

        def add(data: bytes | None) -> bytes | None:
            known = _parsed(data)
            taken = frozenset(known.values())
            added = {key: id_ for key, id_ in wanted.items() if key not in known and id_ not in taken}
            result.clear()
            result.update(known | added)
            return json.dumps({"ids": result}).encode() if added else None

        try:
            self._store.value("ids", source).change(add)
        except UNAVAILABLE:
            return result or wanted
        return _of_source(source, result)


def _parsed(data: bytes | None) -> dict[str, Any]:
    try:
        ids = json.loads(data or b"{}")["ids"]
    except (ValueError, KeyError, TypeError):
        return {}
    return dict(ids) if isinstance(ids, Mapping) else {}


def _of_source(source: str, ids: Mapping[str, Any]) -> dict[str, str]:
    return {key: id_ for key, id_ in ids.items() if isinstance(id_, str) and id_.startswith(f"{source}.")}
