"""What `codemode mcp` gave a client last time, so that the next one need not wait for the sources."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemode.catalog.definitions import two_tools_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.settings import Settings

_FILE = "definitions.json"


class KnownDefinitions:
    """The definitions of each role, for as long as sources, pins and policy are what they were. One file."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._file = settings.state() / _FILE
        what = settings.model_dump_json(include={"sources", "pins", "policy"})
        self._of = hashlib.blake2s(what.encode()).hexdigest()

    def read(self, role: str) -> list[dict[str, Any]] | None:
        """The definitions for a role; None where they are not known before the sources are.

        Without pins and rules they follow from the names of the sources.
        """
        found = self._read().get(role)
        if isinstance(found, list):
            return found
        settings = self._settings
        if settings.pins or settings.policy.rules:
            return None
        return two_tools_of(dict.fromkeys(settings.sources, 0))

    def keep(self, role: str, definitions: Sequence[dict[str, Any]]) -> None:
        """Keep these. A folder that cannot be written keeps nothing."""
        known = self._read()
        if known.get(role) == definitions:
            return
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=self._file.parent, delete=False, encoding="utf-8") as file:
                json.dump({"of": self._of, "roles": {**known, role: definitions}}, file)
            Path(file.name).replace(self._file)
        except OSError:
            return

    def _read(self) -> dict[str, Any]:
        try:
            data = json.loads(self._file.read_bytes())
            return dict(data["roles"]) if data["of"] == self._of else {}
        except (OSError, ValueError, KeyError, TypeError):
            return {}
