"""Modules that few programs import: the worker that imports one executes its code.

What the fork server imports decides the price of each fork, since its objects fill pages. No file can be opened after
the lockdown, so the code of these modules is read before it. The import takes milliseconds in the worker: a module that
one program of a hundred imports is better imported here.
"""

from __future__ import annotations

import marshal  # noqa: TID251  # code of modules, as the import system keeps it
import sys
from contextlib import suppress
from importlib import import_module
from importlib.machinery import ExtensionFileLoader, PathFinder, SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source
from struct import Struct
from typing import TYPE_CHECKING

from sandbox.guest.library.archive import Archive

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

#: Modules of the allowlist that few programs import, with all that they import in any version of Python.
_LIBRARY = """
    _compression _elementtree _markupbase _pylong colorsys compression compression._common
    compression._common._streams configparser email email._encoded_words email._parseaddr email.base64mime
    email.charset email.encoders email.errors email.quoprimime email.utils graphlib gzip hmac html html.entities
    html.parser http pprint pyexpat quopri secrets shlex stringprep tomllib tomllib._parser tomllib._re
    tomllib._types xml xml.etree xml.etree.ElementPath xml.etree.ElementTree
"""
#: Codecs: `encodings` imports one when it is named.
_CODECS = """
    ascii base64_codec cp1250 cp1251 cp1252 cp437 cp850 hex_codec idna iso8859_1 iso8859_15 iso8859_2 koi8_r
    latin_1 mac_roman punycode raw_unicode_escape rot_13 unicode_escape utf_16 utf_16_be utf_16_le utf_32
    utf_32_be utf_32_le utf_7 utf_8_sig
"""
DEFERRED = (
    *_LIBRARY.split(),
    *map("encodings.{}".format, _CODECS.split()),
    *map("sandbox.guest.library.facades.{}".format, ("formats", "logs", "texts")),
)

#: Header of a compiled module: magic number, flags, time and size of its source.
_HEADER, _MASK = Struct("<4sIII"), 0xFFFF_FFFF


class DeferredModules:
    """Finder and loader of modules whose code was read in advance.

    `names` has each package before its modules. A module is left out that was imported already, or that this version
    of Python lacks. Extension modules among them are imported at once.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._specs: dict[str, ModuleSpec] = {}
        self._libraries: list[str] = []
        self._code = Archive(self._read(names))

    def install(self) -> None:
        """Answer imports from now on."""
        sys.meta_path.insert(0, self)
        for name in self._libraries:
            import_module(name)

    def __contains__(self, name: str) -> bool:
        return name in self._specs

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the spec of a module that was read: see `importlib.abc.MetaPathFinder`."""
        return self._specs.get(name)

    def create_module(self, spec: ModuleSpec) -> None:
        """Return None: the import system makes the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Execute the code of a module."""
        exec(marshal.loads(self._code[module.__name__]), vars(module))  # noqa: S102, S302  # as the fork server read it

    def _read(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        for name in names:
            spec = None if name in sys.modules else PathFinder.find_spec(name, self._folders(name))
            if spec is None:
                continue
            if isinstance(spec.loader, ExtensionFileLoader):
                self._libraries.append(name)
            elif isinstance(spec.loader, SourceFileLoader):
                yield name, marshalled(spec.loader, name)
                spec.loader = self  # type: ignore[assignment]  # a loader by its methods
                self._specs[name] = spec

    def _folders(self, name: str) -> Sequence[str] | None:
        """Return where a module is looked for: in the folders of its package, or on `sys.path` (None)."""
        package = name.rpartition(".")[0]
        if package in self._specs:
            return self._specs[package].submodule_search_locations
        return list(getattr(sys.modules.get(package), "__path__", ())) if package else None


def marshalled(loader: SourceFileLoader, name: str) -> bytes:
    """Return the marshalled code of a module, without making the code: its names would stay in memory.

    The compiled file is used if it belongs to this source: see PEP 552.
    """
    source = loader.get_filename(name)
    found = loader.path_stats(source)
    with suppress(OSError, NotImplementedError):
        cached = loader.get_data(cache_from_source(source))
        header = cached[: _HEADER.size].ljust(_HEADER.size)
        if _HEADER.unpack(header) == (MAGIC_NUMBER, 0, int(found["mtime"]) & _MASK, found["size"] & _MASK):
            return cached[_HEADER.size :]
    return marshal.dumps(loader.get_code(name))
