"""Cache parsed catalogs on disk, by content.

A cached catalog is used only for exactly the same texts, namespace and options. An unreadable one is ignored.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemode.catalog.tool import Effect, Tool
from codemode.sources.documents.fragments import Fragments, write_fragments
from codemode.sources.loaded import SourceWarning, Surface
from codemode.sources.openapi.operations import ApiDocument
from codemode.transports.auth.requirements import SecurityScheme

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.catalog.tool import Details
    from codemode.sources.openapi.operations import Operation

#: The largest number of cached catalogs. The least recently used are removed first.
MOST_KEPT = 40

#: Increase this whenever the same text yields other tools. Catalogs of other versions are ignored.
VERSION = 14


class CatalogCache:
    """Cached catalogs in one folder with mode 0700."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def key(self, text: bytes, name: str, options: Any = None) -> str:
        """Return the cache key of an entry document, its namespace, and the options that change its tools."""
        rest = json.dumps([VERSION, name, options], sort_keys=True, default=str).encode()
        return hashlib.blake2b(text + b"\0" + rest, digest_size=20).hexdigest()

    def read(
        self, key: str, details: Callable[[Operation], Details], digest: Callable[[str], str | None]
    ) -> Surface | None:
        """Return the cached surface, or None. `digest` returns the current digest of a referenced document."""
        path = self._folder / f"{key}.catalog"
        try:
            fragments = Fragments(path)
            facts = fragments.facts
            if any(digest(uri) != known for uri, known in facts["files"].items()):
                return None
            os.utime(path)
            return _surface(fragments, details)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(
        self, key: str, surface: Surface, documents: Mapping[str, Any], entry: str, files: Mapping[str, str]
    ) -> None:
        """Store a surface with its documents. Write errors are ignored."""
        facts = {
            "entry": entry,
            "files": dict(files),
            "title": surface.title,
            "description": surface.description,
            "digest": surface.digest,
            "servers": surface.servers,
            "server_defaults": surface.server_defaults,
            "auth": surface.auth,
            "warnings": surface.warnings,
            "tools": [_row(tool) for tool in surface.tools],
        }
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._folder, suffix=".new", delete=False) as file:
                write_fragments(file, documents, entry, facts)
            Path(file.name).replace(self._folder / f"{key}.catalog")
            self._prune()
        except (OSError, ValueError, TypeError):
            return

    def _prune(self) -> None:
        kept = sorted(self._folder.glob("*.catalog"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in kept[MOST_KEPT:]:
            path.unlink(missing_ok=True)


def _row(tool: Tool) -> list[Any]:
    method, _, path = tool.key.partition(" ")
    return [
        tool.id, method, path, tool.source, tool.summary, tool.description, tool.effect, tool.effect_word, tool.tags,
        tool.aliases, tool.retrieval_text, tool.deprecated, tool.parameter_names,
    ]  # fmt: skip


def _surface(fragments: Fragments, details: Callable[[Operation], Details]) -> Surface:
    facts = fragments.facts
    entry = facts["entry"]
    api = ApiDocument(fragments.document(entry), uri=entry, retrieve=fragments.document)
    tools = tuple(_tool(row, api, details) for row in facts["tools"])
    warnings = tuple(SourceWarning(*warning) for warning in facts["warnings"])
    auth = tuple(SecurityScheme(*scheme)._replace(scopes=()) for scheme in facts["auth"])
    return Surface(
        tools,
        warnings,
        tuple(facts["servers"]),
        facts["title"],
        facts["digest"],
        auth,
        server_defaults=tuple(facts.get("server_defaults", ())),
        description=facts["description"],
    )


def _tool(row: list[Any], api: ApiDocument, details: Callable[[Operation], Details]) -> Tool:
    id_, method, path, source, summary, description, effect, word, tags, aliases, text, deprecated, names = row
    return Tool(
        id_,
        source=source,
        summary=summary,
        description=description,
        effect=Effect(effect),
        effect_word=word,
        tags=tuple(tags),
        aliases=tuple(aliases),
        retrieval_text=text,
        deprecated=deprecated,
        key=f"{method} {path}",
        names=tuple(names),
        details=partial(_details, api, method, path, details),
    )


def _details(api: ApiDocument, method: str, path: str, details: Callable[[Operation], Details]) -> Details:
    return details(api.operation(method, path))
