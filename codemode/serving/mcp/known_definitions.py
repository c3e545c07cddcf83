"""Cached tool definitions, so that `codemode mcp` can list its tools before the sources are read."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemode.catalog.definitions import two_tools_of
from codemode.model.definitions import definitions_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.settings import Settings

_FILE = "definitions.json"


class KnownDefinitions:
    """A file with the definitions of each role, in the form of MCP.

    It is valid while sources, definitions, pins and policy are unchanged.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._file = settings.state() / _FILE
        what = settings.model_dump_json(include={"sources", "definitions", "pins", "policy"})
        self._of = hashlib.blake2s(f"mcp {what}".encode()).hexdigest()

    def read(self, role: str) -> list[dict[str, Any]] | None:
        """Return the definitions of a role, or None if they depend on sources not read yet.

        Without signatures, pins and policy rules the definitions depend on source names only.
        """
        found = self._read().get(role)
        if isinstance(found, list):
            return found
        settings = self._settings
        if settings.definitions.inline_tokens or settings.pins or settings.policy.rules:
            return None
        return [one.in_form("mcp") for one in definitions_of(two_tools_of(dict.fromkeys(settings.sources, 0)))]

    def keep(self, role: str, definitions: Sequence[dict[str, Any]]) -> None:
        """Store the definitions. If the folder is not writable, nothing is stored."""
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
