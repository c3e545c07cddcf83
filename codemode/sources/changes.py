"""Compare a source with its last refresh: operations that were added, removed or changed."""

from __future__ import annotations

import hashlib
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codemode.catalog.stubs import signature

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.catalog.tool import Tool


@dataclass(frozen=True, slots=True)
class Changes:
    """Tool ids by kind of change. A changed tool has another signature, description or effect."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


class LastSeen:
    """The state of each source at its last refresh, in one file for each source."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def changes(self, source: str, tools: Iterable[Tool]) -> Changes | None:
        """Return the changes since the last refresh, and store the current state. None on the first refresh."""
        now = {tool.key or tool.id: (tool.id, fingerprint(tool)) for tool in tools}
        before = self._read(source)
        self._keep(source, now)
        if before is None:
            return None
        return Changes(
            added=tuple(sorted(now[key][0] for key in now.keys() - before.keys())),
            removed=tuple(sorted(before[key][0] for key in before.keys() - now.keys())),
            changed=tuple(sorted(now[key][0] for key in now.keys() & before.keys() if now[key][1] != before[key][1])),
        )

    def _read(self, source: str) -> dict[str, tuple[str, str]] | None:
        try:
            data = json.loads(self._file(source).read_text(encoding="utf-8"))
            return {key: (str(id_), str(mark)) for key, (id_, mark) in data["operations"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def _keep(self, source: str, seen: Mapping[str, tuple[str, str]]) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=self._folder, delete=False, encoding="utf-8") as file:
            json.dump({"operations": seen}, file)
        Path(file.name).replace(self._file(source))

    def _file(self, source: str) -> Path:
        return self._folder / f"{source}.seen.json"


def fingerprint(tool: Tool) -> str:
    """Return a digest of what a model sees of a tool: its full signature, description and effect."""
    text = "\x1f".join((signature(tool, budget_tokens=100_000), tool.summary, tool.description, tool.effect))
    return hashlib.blake2s(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
