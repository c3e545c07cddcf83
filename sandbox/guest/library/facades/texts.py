"""Facades for text: XML without entities, and parsers that open no files."""

from __future__ import annotations

import configparser
import gzip
import shlex
import xml.etree.ElementTree as ElementTree  # not an alias that programs know
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sandbox.guest.library.scene import Scene


def fromstring(text: str | bytes, parser: None = None) -> Any:
    """Parse XML, in UTF-16 too. Document types are rejected: their entities can grow a small text to any size."""
    text = str.__str__(text) if isinstance(text, str) else bytes(memoryview(text))  # no methods of a subclass
    if "<!DOCTYPE" in text if isinstance(text, str) else b"<!DOCTYPE" in text.replace(b"\0", b""):
        raise ValueError("XML with a document type is not read here: remove <!DOCTYPE ...> from the text")
    return ElementTree.fromstring(text)  # noqa: S314  # entities are refused above


class Document(ElementTree.ElementTree):
    """`ElementTree` that reads and writes only streams."""

    def __init__(self, element: Any = None, file: Any = None) -> None:
        super().__init__(element)
        if file is not None:
            self.parse(file)

    def parse(self, source: Any, parser: Any = None) -> Any:
        """Parse a stream."""
        root = fromstring(_stream(source, "read").read())
        super().__init__(root)
        return root

    def write(self, file_or_filename: Any, *arguments: Any, **options: Any) -> None:
        """Write to `io.BytesIO`, or to `io.StringIO` with `encoding="unicode"`."""
        super().write(_stream(file_or_filename, "write"), *arguments, **options)


Document.__name__ = Document.__qualname__ = "ElementTree"
Document.__module__ = "xml.etree.ElementTree"


def _stream(stream: Any, method: str) -> Any:
    if not hasattr(stream, method):
        raise TypeError("there are no files here: use io.StringIO or io.BytesIO, or fromstring() and tostring()")
    return stream


ELEMENT_TREE: dict[str, Any] = {
    **dict.fromkeys(("fromstring", "XML"), fromstring),
    "fromstringlist": lambda sequence: fromstring("".join(sequence)),
    "parse": lambda source, parser=None: Document(file=source),
    "ElementTree": Document,
}


def escape(data: str, entities: Mapping[str, str] | None = None) -> str:
    """Escape text for XML. The library's module would import an HTTP client."""
    return _replaced(data, {"&": "&amp;", ">": "&gt;", "<": "&lt;", **(entities or {})})


def unescape(data: str, entities: Mapping[str, str] | None = None) -> str:
    """Unescape text of XML."""
    return _replaced(data, {"&lt;": "<", "&gt;": ">", **(entities or {}), "&amp;": "&"})


def quoteattr(data: str, entities: Mapping[str, str] | None = None) -> str:
    """Return an attribute value in quotes."""
    data = escape(data, {**(entities or {}), "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
    if '"' not in data:
        return f'"{data}"'
    return f"'{data}'" if "'" not in data else '"' + data.replace('"', "&quot;") + '"'


def _replaced(text: str, replacements: Mapping[str, str]) -> str:
    for old, new in replacements.items():
        text = text.replace(old, new)
    return text


class ConfigParser(configparser.ConfigParser):
    """A parser without files."""

    def read(self, filenames: Any, encoding: Any = None) -> Any:
        """Raise OSError."""
        raise OSError("there are no files here: use read_string(text) or read_dict(data)")


ConfigParser.__module__ = "configparser"


def split(s: str, comments: bool = False, posix: bool = True) -> list[str]:  # noqa: FBT001, FBT002  # the library's signature
    """Split text. The library would open a file for anything else."""
    if not isinstance(s, str):
        raise TypeError("split() takes text")
    return shlex.split(str.__str__(s), comments, posix)


def gzip_names(scene: Scene) -> dict[str, Any]:
    """Return the names of `gzip`. Headers carry the time of the execution."""

    def compress(data: Any, compresslevel: int = 9, *, mtime: float | None = None) -> bytes:
        return gzip.compress(data, compresslevel, mtime=scene.clock.read() if mtime is None else mtime)

    return {"compress": compress}


FACADES: dict[str, dict[str, Any]] = {
    "configparser": {"ConfigParser": ConfigParser},
    "shlex": {"split": split},
    "xml.etree.ElementTree": ELEMENT_TREE,
    "xml.sax.saxutils": {"escape": escape, "unescape": unescape, "quoteattr": quoteattr},
}
