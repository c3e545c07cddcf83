"""The largest published documents: each operation becomes a tool, and is called as the document says."""

from __future__ import annotations

import tarfile
from typing import TYPE_CHECKING

import pytest

from codemode.catalog.catalog import Catalog
from codemode.sources.documents.parse import parse_document
from codemode.sources.openapi.document import load_openapi
from codemode.sources.openapi.load import read_surface
from tests.documents import LARGE, check_is_callable, check_loads_whole, check_stubs, published

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize("name", LARGE)
def test_a_large_document_loads_whole(name: str, shared_data: Callable[[str], Path]) -> None:
    check_loads_whole(published(shared_data, name), name, LARGE[name])


@pytest.mark.parametrize("name", [*LARGE, "msgraph-v1.json"])
async def test_operations_of_a_large_document_are_callable(name: str, shared_data: Callable[[str], Path]) -> None:
    await check_is_callable(published(shared_data, name), name, most=100)


@pytest.mark.parametrize("name", LARGE)
def test_stubs_of_a_large_document_are_python_within_their_budget(
    name: str, shared_data: Callable[[str], Path]
) -> None:
    check_stubs(published(shared_data, name), name)


async def test_a_published_tree_of_2907_files_gives_what_its_bundle_gives(
    tmp_path: Path, shared_data: Callable[[str], Path]
) -> None:
    with tarfile.open(shared_data("specs") / "digitalocean-multifile.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    entry = tmp_path / "digitalocean" / "specification" / "DigitalOcean-public.v2.yaml"
    tree = Catalog((await read_surface("do", str(entry))).tools)
    bundle = Catalog(load_openapi(parse_document(published(shared_data, "digitalocean.json")), name="do").tools)
    assert [(tool.id, tool.parameter_names) for tool in tree] == [(t.id, t.parameter_names) for t in bundle]
