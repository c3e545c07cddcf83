"""Store tool ids by source and operation, so that a new operation never renames an old one."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codemode.catalog.tool import Tool


class StableIds:
    """Tool ids in one file for each source. Write errors are ignored: the ids are then assigned anew."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, source: str) -> dict[str, str]:
        """Return the stored ids of a source by operation key (`GET /path`). Empty if there are none."""
        try:
            data = json.loads(self._file(source).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        ids = data.get("ids") if isinstance(data, Mapping) else None
        if not isinstance(ids, Mapping):
            return {}
        return {key: id_ for key, id_ in ids.items() if isinstance(id_, str) and id_.startswith(f"{source}.")}

    def keep(self, source: str, tools: Iterable[Tool]) -> None:
        """Add the ids of a source's tools. The ids of removed operations stay reserved."""
        known = self.read(source)
        added = {tool.key: tool.id for tool in tools if tool.key not in known}
        if not added:
            return
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=self._folder, delete=False, encoding="utf-8") as file:
                json.dump({"ids": known | added}, file)
            Path(file.name).replace(self._file(source))
        except OSError:
            return

    def _file(self, source: str) -> Path:
        return self._folder / f"{source}.ids.json"
