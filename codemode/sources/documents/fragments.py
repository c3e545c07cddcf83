"""Store documents as JSON fragments in one file, and parse each fragment on first use.

    codemode-catalog 2\\n | length of header, 8 bytes | header, JSON | fragments, JSON

The large tables of the entry document (`/paths`, `/components/schemas`, `/definitions` …) have one fragment for each
entry. Referenced documents have one fragment each. The header holds the offset and length of each fragment, and the
facts that are read on opening.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_MAGIC = b"codemode-catalog 2\n"

#: Tables that are large in large documents.
_TABLES = ("paths", "webhooks", "definitions", "parameters", "responses", "components")


class FragmentError(ValueError):
    """The file has another format or version, or is truncated."""


class Fragments:
    """The fragments of a file. They stay readable after the file is replaced or removed."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        start = len(_MAGIC) + 8
        if self._data[: len(_MAGIC)] != _MAGIC:
            message = "the file has another format or version"
            raise FragmentError(message)
        self._base = start + int.from_bytes(self._data[len(_MAGIC) : start], "little")
        header = json.loads(self._data[start : self._base])
        if len(self._data) != self._base + header["size"]:
            message = "the file is truncated"
            raise FragmentError(message)
        self.facts: dict[str, Any] = header["facts"]
        self._layouts: dict[str, Any] = header["documents"]

    def document(self, uri: str) -> Any:
        """Return a document by its URI, or None. Its large tables are parsed on demand."""
        layout = self._layouts.get(uri)
        if layout is None:
            return None
        if "whole" in layout:
            return self.load(*layout["whole"])
        root = dict(layout["rest"])
        for name, entries in layout["tables"].items():
            first, _, second = name.partition("/")
            if second:
                root[first] = {**root.get(first, {}), second: Table(self, entries)}
            else:
                root[first] = Table(self, entries)
        return root

    def load(self, offset: int, length: int) -> Any:
        """Parse one fragment."""
        start = self._base + offset
        return json.loads(self._data[start : start + length])


class Table(Mapping[str, Any]):
    """A mapping that parses each value on first use and keeps it."""

    __slots__ = ("_entries", "_fragments", "_loaded")

    def __init__(self, fragments: Fragments, entries: dict[str, list[int]]) -> None:
        self._fragments = fragments
        self._entries = entries
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = self._fragments.load(*self._entries[name])
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries


def write_fragments(file: IO[bytes], documents: Mapping[str, Any], entry: str, facts: Mapping[str, Any]) -> None:
    """Write documents by URI, and facts for the header. `entry` is the URI of the document with large tables."""
    blob = bytearray()
    layouts = {
        uri: _layout(data, blob) if uri == entry else {"whole": _put(data, blob)} for uri, data in documents.items()
    }
    header = _dump({"size": len(blob), "documents": layouts, "facts": facts})
    file.write(_MAGIC + len(header).to_bytes(8, "little") + header)
    file.write(blob)


def _layout(document: Mapping[str, Any], blob: bytearray) -> dict[str, Any]:
    rest = dict(document)
    tables: dict[str, dict[str, list[int]]] = {}
    for name in _TABLES:
        table = rest.get(name)
        if not isinstance(table, Mapping):
            continue
        if name == "components":
            inner = {key: value for key, value in table.items() if isinstance(value, Mapping)}
            rest[name] = {key: value for key, value in table.items() if key not in inner}
            tables |= {f"{name}/{key}": _entries(value, blob) for key, value in inner.items()}
        else:
            del rest[name]
            tables[name] = _entries(table, blob)
    return {"rest": rest, "tables": tables}


def _entries(table: Mapping[str, Any], blob: bytearray) -> dict[str, list[int]]:
    return {name: _put(value, blob) for name, value in table.items()}


def _put(value: Any, blob: bytearray) -> list[int]:
    data = _dump(value)
    blob += data
    return [len(blob) - len(data), len(data)]


def _dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
