"""Names of text modules that are ours: where the library's write to a real stream, take files, or walk attributes."""

from __future__ import annotations

import codecs
import gzip
import json
import pprint
import shlex
import xml.etree.ElementTree as ElementTree  # not an alias that programs know
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from sandbox.guest.names.kinds import stand_in
from sandbox.guest.runtime.access import WRITABLE
from sandbox.guest.runtime.classes import BASES
from sandbox.guest.runtime.formatting import formatter_class
from sandbox.guest.runtime.handed_out import handed_out

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sandbox.guest.names.scene import Scene


def _json(scene: Scene) -> dict[str, Any]:
    def load(fp: Any, **options: Any) -> Any:
        return json.loads(fp.read(), **options)

    def dump(value: Any, fp: Any, **options: Any) -> None:
        fp.write(json.dumps(value, **options))

    return {"load": load, "dump": dump}


def _string(scene: Scene) -> dict[str, Any]:
    made = formatter_class(scene.access.get)
    BASES.add(made)
    return {"Formatter": made}


def _pprint(scene: Scene) -> dict[str, Any]:
    def show(
        value: Any,
        stream: Any = None,
        indent: int = 1,
        width: int = 80,
        depth: int | None = None,
        *,
        compact: bool = False,
        sort_dicts: bool = True,
        underscore_numbers: bool = False,
    ) -> None:
        text = pprint.pformat(
            value, indent, width, depth, compact=compact, sort_dicts=sort_dicts, underscore_numbers=underscore_numbers
        )
        if stream is None:
            scene.output.write(text + "\n")
        else:
            stream.write(text + "\n")

    def pp(value: Any, *args: Any, sort_dicts: bool = False, **options: Any) -> None:
        show(value, *args, sort_dicts=sort_dicts, **options)

    class PrettyPrinter(pprint.PrettyPrinter):
        def __init__(
            self, indent: int = 1, width: int = 80, depth: int | None = None, stream: Any = None, **options: Any
        ) -> None:
            super().__init__(indent, width, depth, cast("Any", _Collected(scene, stream)), **options)

    PrettyPrinter.__module__, PrettyPrinter.__qualname__ = "pprint", "PrettyPrinter"
    return {"pprint": show, "pp": pp, "PrettyPrinter": PrettyPrinter}


class _Collected:
    """A stream that ends in the output."""

    __slots__ = ("_scene", "_stream")

    def __init__(self, scene: Scene, stream: Any) -> None:
        self._scene = scene
        self._stream = stream

    def write(self, text: str) -> None:
        if self._stream is None:
            self._scene.output.write(text)
        else:
            self._stream.write(text)


def _shlex(scene: Scene) -> dict[str, Any]:
    def split(s: str, comments: bool = False, posix: bool = True) -> list[str]:  # noqa: FBT001, FBT002  # the library's signature
        if not isinstance(s, str):
            raise TypeError("split() takes text")
        return shlex.split(str.__str__(s), comments, posix)

    return {"split": split}


def _element_tree(scene: Scene) -> dict[str, Any]:
    def fromstring(text: str | bytes, parser: None = None) -> Any:
        return ElementTree.fromstring(_without_entities(text))  # noqa: S314  # entities are refused above

    def fromstringlist(sequence: Any, parser: None = None) -> Any:
        return fromstring("".join(sequence))

    def parse(source: Any, parser: None = None) -> Any:
        return Document(fromstring(source.read()))

    def dump(elem: Any) -> None:
        root = elem.getroot() if isinstance(elem, Document) else elem
        scene.output.write(ElementTree.tostring(root, "unicode").rstrip("\n") + "\n")

    def tree(element: Any = None, file: Any = None) -> Any:
        return Document(element) if file is None else parse(file)

    names = (
        "Comment",
        "Element",
        "ParseError",
        "ProcessingInstruction",
        "QName",
        "SubElement",
        "indent",
        "iselement",
        "tostring",
        "tostringlist",
    )
    WRITABLE.add(ElementTree.Element)
    return {
        **{name: getattr(ElementTree, name) for name in names},
        "fromstring": fromstring,
        "XML": fromstring,
        "fromstringlist": fromstringlist,
        "parse": parse,
        "dump": dump,
        "ElementTree": stand_in("ElementTree", "xml.etree.ElementTree", Document, make=tree),
    }


@handed_out
class Document:
    """What `ElementTree.parse` gives: the tree, which is written to streams alone."""

    __slots__ = ("_root",)

    def __init__(self, root: Any) -> None:
        self._root = root

    def getroot(self) -> Any:
        """Return the root element."""
        return self._root

    def find(self, path: str, namespaces: Any = None) -> Any:
        """Return the first element at a path."""
        return self._root.find(path, namespaces)

    def findall(self, path: str, namespaces: Any = None) -> Any:
        """Return all elements at a path."""
        return self._root.findall(path, namespaces)

    def findtext(self, path: str, default: Any = None, namespaces: Any = None) -> Any:
        """Return the text of the first element at a path."""
        return self._root.findtext(path, default, namespaces)

    def iter(self, tag: Any = None) -> Any:
        """Give all elements, or those of a tag."""
        return self._root.iter(tag)

    def iterfind(self, path: str, namespaces: Any = None) -> Any:
        """Give all elements at a path."""
        return self._root.iterfind(path, namespaces)

    def write(self, file: Any, encoding: str = "us-ascii", xml_declaration: bool | None = None, **options: Any) -> None:  # noqa: FBT001  # the library's signature
        """Write the tree to `io.BytesIO`, or to `io.StringIO` with `encoding="unicode"`."""
        if isinstance(file, str):
            raise TypeError("there are no files here: write to io.BytesIO(), or use ElementTree.tostring(root)")
        file.write(ElementTree.tostring(self._root, encoding, xml_declaration=xml_declaration, **options))


def _saxutils(scene: Scene) -> dict[str, Any]:
    """Three functions over text; the library's module imports an HTTP client."""

    def escape(data: str, entities: Mapping[str, str] = MappingProxyType({})) -> str:
        return _replaced(data, {"&": "&amp;", ">": "&gt;", "<": "&lt;", **entities})

    def unescape(data: str, entities: Mapping[str, str] = MappingProxyType({})) -> str:
        return _replaced(data, {"&lt;": "<", "&gt;": ">", **entities, "&amp;": "&"})

    def quoteattr(data: str, entities: Mapping[str, str] = MappingProxyType({})) -> str:
        data = escape(data, {**entities, "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
        if '"' not in data:
            return f'"{data}"'
        if "'" not in data:
            return f"'{data}'"
        return '"' + data.replace('"', "&quot;") + '"'

    return {"escape": escape, "unescape": unescape, "quoteattr": quoteattr}


def _replaced(text: str, replacements: Mapping[str, str]) -> str:
    for old, new in replacements.items():
        text = text.replace(old, new)
    return text


def _without_entities(text: str | bytes) -> str | bytes:
    """Refuse a document type, in UTF-16 too: its entities can grow a small text to any size."""
    text = str.__str__(text) if isinstance(text, str) else bytes(memoryview(text))  # what a subclass cannot deny
    if "<!DOCTYPE" in text if isinstance(text, str) else b"<!DOCTYPE" in text.replace(b"\0", b""):
        raise ValueError("XML with a document type is not read here: remove <!DOCTYPE ...> from the text")
    return text


def _codecs(scene: Scene) -> dict[str, Any]:
    """What `str.encode` and `bytes.decode` do, under the older names."""

    def encode(obj: Any, encoding: str = "utf-8", errors: str = "strict") -> Any:
        return codecs.encode(obj, encoding, errors)

    def decode(obj: Any, encoding: str = "utf-8", errors: str = "strict") -> Any:
        return codecs.decode(obj, encoding, errors)

    marks = {name: getattr(codecs, name) for name in dir(codecs) if name.startswith("BOM")}
    return {**marks, "encode": encode, "decode": decode}


def _gzip(scene: Scene) -> dict[str, Any]:
    def compress(data: Any, compresslevel: int = 9, *, mtime: float | None = None) -> bytes:
        return gzip.compress(data, compresslevel, mtime=scene.clock.read() if mtime is None else mtime)

    return {"compress": compress, "decompress": lambda data: gzip.decompress(data), "BadGzipFile": gzip.BadGzipFile}


BUILDERS: dict[str, Callable[[Scene], dict[str, Any]]] = {
    "codecs": _codecs,
    "gzip": _gzip,
    "json": _json,
    "string": _string,
    "pprint": _pprint,
    "shlex": _shlex,
    "xml.etree.ElementTree": _element_tree,
    "xml.sax.saxutils": _saxutils,
}
