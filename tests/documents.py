"""Published API documents, and what holds for each. The small ones are read in every run, the large at night."""

from __future__ import annotations

import ast
import lzma
from typing import TYPE_CHECKING

from codemode.catalog import stubs
from codemode.catalog.catalog import Catalog
from codemode.catalog.shapes import Shapes
from codemode.catalog.tokens import estimate
from codemode.sources.documents.parse import parse_document
from codemode.sources.openapi.document import load_openapi
from tests.nightly.callable.measure import measure

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: The operations of each document.
SMALL = {
    "discord.json": 242,
    "docker-engine.yaml": 106,
    "notion.json": 24,
    "prefect-3.8.8.json": 187,
    "slack.json": 174,
}
LARGE = {
    "cloudflare.json": 1533,
    "digitalocean.json": 659,
    "github.json": 1223,
    "kubernetes.json": 1063,
    "openai.yaml": 288,
    "stripe.yaml": 468,
}

#: Parameters, as a share, whose type may be unknown.
UNTYPED = 0.05


def published(shared_data: Callable[[str], Path], name: str) -> str:
    """Return the text of a published document."""
    return lzma.decompress((shared_data("specs") / f"{name}.xz").read_bytes()).decode()


def check_loads_whole(text: str, name: str, operations: int) -> None:
    """Check that each operation of a document becomes a tool, with types, and without a warning."""
    surface = load_openapi(parse_document(text, location=name), name="api")
    catalog = Catalog(surface.tools)
    assert len(catalog) == operations
    assert surface.warnings == ()
    assert max(len(tool.id) for tool in catalog) <= 64
    parameters = [parameter for tool in catalog for parameter in tool.parameters]
    untyped = [parameter for parameter in parameters if Shapes(naming=False).text(parameter.schema) == "Any"]
    assert len(untyped) <= len(parameters) * UNTYPED


async def check_is_callable(text: str, name: str, *, most: int) -> None:
    """Check that generated arguments of up to `most` operations are sent as the document says."""
    report = await measure(parse_document(text), most=most, seed=name)
    assert report.failures == []
    assert report.callable == report.tried
    assert report.untyped <= report.parameters * UNTYPED


def check_stubs(text: str, name: str, *, most: int = 50) -> None:
    """Check that the stubs of about `most` tools are Python, and no longer than their budget."""
    tools = load_openapi(parse_document(text, location=name), name="api").tools
    for tool in tools[:: max(1, len(tools) // most)]:
        for stub, budget in ((stubs.stub, stubs.STUB_TOKENS), (stubs.full, stubs.FULL_TOKENS)):
            written = stub(tool)
            ast.parse(as_definition(tool.id, written))
            assert estimate(written) <= budget


def as_definition(name: str, text: str) -> str:
    """Return a stub as Python that can be parsed: `def` before it, and a body before its comment."""
    first, *others = (line for line in text.splitlines() if not line.startswith(("#", "  ")))
    assert first.startswith(f"{name}(")
    head, mark, comment = first.removeprefix(name).partition("  # ")
    return "\n".join([f"def f{head}: ...{mark}{comment}", *others])
