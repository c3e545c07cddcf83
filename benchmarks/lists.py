"""Lists in API documents: the share of list operations that `.items()` reads whole, and what leads to their next pages.

    python -m benchmarks.lists [--missing] FILE_OR_FOLDER …

Files are JSON or YAML, and may be compressed (`.xz`). A list operation has an array in its answer, and a sign of pages
in its parameters or beside the array. The signs are patterns of words that the product does not use, so that they also
count what it does not recognise.
"""

from __future__ import annotations

import argparse
import lzma
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from codemode.catalog.paging import paging_of, walked
from codemode.catalog.tool import Effect, Location
from codemode.sources.documents.parse import parse_document
from codemode.sources.openapi.document import load_openapi

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Tool

SUFFIXES = (".json", ".yaml", ".yml", ".json.xz", ".yaml.xz", ".yml.xz")

#: Parameters that say where a page begins.
POSITION = re.compile(
    r"(?i)(^|[^a-z])(page|pg|offset|skip|cursor|marker|bookmark|start(ing)?[_-]?(at|index|row|after|key|from)"
    r"|(max|since|min|last)_?id|(next|page|continuation|skip|pagination)_?-?tokens?|from|after|before|scroll(_?id)?)"
    r"($|[^a-z])|page(number|token|index|num|no)|(start|next)(index|at|token)"
)
#: Parameters with such a name that are no position in a list, because a point in time or a range is meant.
NO_POSITION = re.compile(r"(?i)date|time|created|updated|modified|period|timestamp|size|per[_-]?page|limit")
#: Fields beside a list that lead to its next page.
NEXT = re.compile(r"(?i)^@?(odata\.)?(next.*|.*next(_?(cursor|token|page|link|url))?|has_?more|cursor|.*page_?token)$")

_DEPTH = 2

#: Arrays that are no lists.
BESIDE = ("errors", "warnings", "messages")


@dataclass
class Figures:
    """The list operations of one document. `missing` are those without `.items()` in their signatures."""

    operations: int = 0
    lists: int = 0
    forms: Counter[str] = field(default_factory=Counter)
    missing: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def arrays_of(schema: Schema | None, depth: int = _DEPTH) -> bool:
    """Return whether an answer has an array of objects or texts, also in an envelope. One object with an id has not."""
    if schema is None or "id" in schema.resolved().properties():
        return False
    return any("array" in part.types() for name, part in _parts(schema, depth) if name not in BESIDE)


def leads_on(schema: Schema | None, depth: int = _DEPTH) -> bool:
    """Return whether an answer has a field that leads to the next page."""
    return schema is not None and any(NEXT.match(name) for name, _ in _parts(schema, depth))


def _parts(schema: Schema, depth: int) -> Iterator[tuple[str, Schema]]:
    """Yield the parts of an answer outside of its arrays, with their names."""
    resolved = schema.resolved()
    for part in (resolved, *(variant.resolved() for variant in resolved.variants())):
        yield "", part
        for name, value in part.properties().items() if depth else ():
            inner = value.resolved()
            yield name, inner
            if "array" not in inner.types():
                yield from ((own, each) for own, each in _parts(inner, depth - 1) if own)


def is_position(tool: Tool) -> bool:
    """Return whether a parameter says where a page begins."""
    places = (Location.QUERY, Location.BODY_FIELD)
    names = [p.wire_name for p in tool.parameters if p.location in places]
    return any(POSITION.search(name) and not NO_POSITION.search(name) for name in names)


def is_list(tool: Tool) -> bool:
    """Return whether a tool answers with one page of a list, by the document alone."""
    return arrays_of(tool.returns) and (is_position(tool) or (tool.effect is Effect.READ and leads_on(tool.returns)))


def figures_of(path: Path) -> Figures:
    """Read a document and count its list operations."""
    text = lzma.decompress(path.read_bytes()).decode() if path.suffix == ".xz" else path.read_text(encoding="utf-8")
    figures = Figures()
    for tool in load_openapi(parse_document(text, location=path.name), name="api").tools:
        figures.operations += 1
        if not is_list(tool):
            continue
        figures.lists += 1
        paging = paging_of(tool)
        figures.forms[paging.kind if paging else "none"] += 1
        line = f"{tool.id}({', '.join(p.wire_name for p in tool.parameters)})"
        if paging is None:
            figures.missing.append(line)
        if walked(tool) is None:
            figures.unread.append(line)
    return figures


def files_of(places: list[Path]) -> Iterator[Path]:
    """Yield the files, and those in the folders."""
    for place in places:
        found = sorted(place.rglob("*")) if place.is_dir() else [place]
        yield from (path for path in found if path.name.endswith(SUFFIXES))


def main() -> None:
    """Print a line for each document, and the sum."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="+", type=Path, metavar="FILE_OR_FOLDER")
    parser.add_argument("--missing", action="store_true", help="print the operations without .items()")
    options = parser.parse_args()
    total = Figures()
    print(f"{'document':32} {'operations':>10} {'lists':>6} {'.items()':>8} {'read':>5}  forms")
    for path in files_of(options.places):
        figures = figures_of(path)
        _print(path.name, figures)
        for line in figures.missing if options.missing else ():
            print(f"    {line}{'  (not read)' if line in figures.unread else ''}")
        total.operations += figures.operations
        total.lists += figures.lists
        total.forms += figures.forms
        total.missing += figures.missing
        total.unread += figures.unread
    _print("all", total)


def _print(name: str, figures: Figures) -> None:
    forms = ", ".join(f"{form} {count}" for form, count in figures.forms.most_common() if form != "none")
    signed, read = figures.lists - len(figures.missing), figures.lists - len(figures.unread)
    print(f"{name[:32]:32} {figures.operations:10,} {figures.lists:6,} {signed:8,} {read:5,}  {forms}", flush=True)


if __name__ == "__main__":
    main()
