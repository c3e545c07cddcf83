"""Documents from files, trees of files, and the cache."""

from __future__ import annotations

import json
import lzma
from typing import TYPE_CHECKING, Any

import pytest

from codemode.catalog import stubs
from codemode.errors import SourceError
from codemode.shared.files import FolderStore
from codemode.sources.documents.references import fetch_tree
from codemode.sources.openapi.cache import CatalogCache
from codemode.sources.openapi.load import read_surface
from codemode.sources.stable_ids import StableIds

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ENTRY = """
openapi: 3.0.3
info: {title: Pets, version: "1"}
paths:
  /pets:
    $ref: resources/pets.yml
  /owners/{id}:
    get:
      $ref: 'resources/owner.yml#/get'
  /evil:
    get:
      operationId: evil
      responses: {200: {$ref: ../../secret.yml}}
"""

PETS = """
get:
  operationId: pets_list
  tags: [Pets]
  parameters:
    - $ref: 'parameters.yml#/limit'
  responses:
    200:
      content: {application/json: {schema: {type: array, items: {$ref: '../models/pet.yml'}}}}
"""

PET = """
title: Pet
type: object
properties:
  name: {type: string}
  tags: {type: array, items: {type: string}}
  friends: {type: array, items: {$ref: pet.yml}}
  age: {type: integer}
"""

OWNER = """
get:
  operationId: owners_get
  tags: [Owners]
  responses: {200: {content: {application/json: {schema: {$ref: '../models/missing.yml'}}}}}
"""


def _tree(folder: Path) -> Path:
    for name in ("resources", "models"):
        (folder / "api" / name).mkdir(parents=True)
    (folder / "secret.yml").write_text("description: secret", encoding="utf-8")
    files = {"api.yml": ENTRY, "resources/pets.yml": PETS, "models/pet.yml": PET, "resources/owner.yml": OWNER}
    files["resources/parameters.yml"] = "limit: {name: limit, in: query, schema: {type: integer, default: 20}}"
    for name, text in files.items():
        (folder / "api" / name).write_text(text, encoding="utf-8")
    return folder / "api" / "api.yml"


async def test_a_tree_of_files_is_read_as_one_document(tmp_path: Path) -> None:
    surface = await read_surface("api", str(_tree(tmp_path)))
    assert [stubs.stub(tool) for tool in surface.tools] == [
        "api.pets.list(*, limit: int = 20) -> list[Pet]\n"
        "# Pet = {name: str; tags: list[str]; friends: list[Pet]; age: int}",
        "api.owners.get(*, id: str) -> Any",
        "api.evil.evil() -> Any",
    ]


async def test_no_reference_leaves_the_folder_of_the_entry(tmp_path: Path) -> None:
    surface = await read_surface("api", str(_tree(tmp_path)), cache=CatalogCache(tmp_path / "cache"))
    reasons = {warning.pointer.rpartition("/")[2]: warning.reason for warning in surface.warnings}
    assert reasons == {
        "secret.yml": "is outside the entry document's folder: not read",
        "missing.yml": "cannot be read: No such file or directory",
        "get": "{id} in the path is not declared: it is used as a string",
    }


async def test_documents_of_the_same_origin_are_fetched_and_others_are_not() -> None:
    texts = {
        "https://x.test/api/a.yml": "$ref: b.yml#/x",
        "https://x.test/api/b.yml": "x: {$ref: 'https://evil.test/c.yml'}",
    }

    async def fetch(url: str) -> str:
        return texts[url]

    entry = {"paths": {"/a": {"$ref": "a.yml"}}}
    tree = await fetch_tree("https://x.test/api/openapi.yml", entry, fetch=fetch)
    assert tree("https://x.test/api/b.yml") == {"x": {"$ref": "https://evil.test/c.yml"}}
    assert tree("https://evil.test/c.yml") is None
    assert [warning.pointer for warning in tree.warnings] == ["https://evil.test/c.yml"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe\x00", "is not UTF-8 text"),
        (b"{}", "has neither `openapi: 3.x` nor `swagger: 2.0` at the top level"),
        (b'{"openapi": "3.1.0", "paths": {}}', "has no callable operations"),
    ],
)
async def test_a_file_that_is_no_api_document_is_refused_by_name(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "api.json"
    file.write_bytes(content)
    with pytest.raises(SourceError) as caught:
        await read_surface("api", str(file))
    assert said in str(caught.value)
    assert str(file) in str(caught.value)


async def test_a_file_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"api\.json: cannot be read: No such file or directory"):
        await read_surface("api", str(tmp_path / "api.json"))


def _facts(tools: Any) -> list[Any]:
    return [
        (t.id, t.key, t.summary, t.tags, t.aliases, t.effect, t.parameter_names, t.retrieval_text, stubs.full(t))
        for t in tools
    ]


@pytest.mark.parametrize("name", ["notion.json", "slack.json"])
async def test_a_cached_catalog_is_the_same_catalog(
    name: str, tmp_path: Path, shared_data: Callable[[str], Path]
) -> None:
    file = tmp_path / name
    file.write_bytes(lzma.decompress((shared_data("specs") / f"{name}.xz").read_bytes()))
    cache = CatalogCache(tmp_path / "cache")
    first = await read_surface("api", str(file), cache=cache)
    assert len(list((tmp_path / "cache").iterdir())) == 1
    second = await read_surface("api", str(file), cache=cache)
    assert second.tools[0] is not first.tools[0]
    assert _facts(second.tools) == _facts(first.tools)
    assert (second.servers, second.title, second.warnings) == (first.servers, first.title, first.warnings)
    assert [tool.invocation.servers for tool in second.tools] == [tool.invocation.servers for tool in first.tools]


async def test_a_change_in_any_file_of_a_tree_is_seen(tmp_path: Path) -> None:
    entry = _tree(tmp_path)
    cache = CatalogCache(tmp_path / "cache")
    await read_surface("api", str(entry), cache=cache)
    same = await read_surface("api", str(entry), cache=cache)
    assert "friends" in stubs.stub(same.tools[0])
    (tmp_path / "api" / "models" / "pet.yml").write_text("type: object", encoding="utf-8")
    changed = await read_surface("api", str(entry), cache=cache)
    assert stubs.stub(changed.tools[0]) == "api.pets.list(*, limit: int = 20) -> list[dict]"


async def test_a_broken_cache_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    file = tmp_path / "api.json"
    document = {"openapi": "3.1.0", "paths": {"/x": {"get": {"operationId": "x"}}}}
    file.write_text(json.dumps(document), encoding="utf-8")
    cache = CatalogCache(tmp_path / "cache")
    await read_surface("api", str(file), cache=cache)
    (kept,) = (tmp_path / "cache").iterdir()
    for data in (b"", b"nonsense", kept.read_bytes()[:-3], kept.read_bytes().replace(b'"tools"', b'"other"')):
        kept.write_bytes(data)
        surface = await read_surface("api", str(file), cache=cache)
        assert [tool.id for tool in surface.tools] == ["api.x.x"]


async def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    surface = await read_surface("api", str(_tree(tmp_path)), cache=CatalogCache(blocked / "cache"))
    assert len(surface.tools) == 3


async def test_an_id_that_was_given_is_kept_when_the_document_grows(tmp_path: Path) -> None:
    def operation(operation_id: str) -> dict[str, Any]:
        return {"get": {"operationId": operation_id, "tags": ["users"]}}

    file = tmp_path / "api.json"
    given, cache = StableIds(FolderStore(tmp_path)), CatalogCache(tmp_path / "cache")

    async def ids(paths: dict[str, Any]) -> dict[str, str]:
        file.write_text(json.dumps({"openapi": "3.1.0", "paths": paths}), encoding="utf-8")
        surface = await read_surface("api", str(file), cache=cache, known_ids=given)
        return {tool.key: tool.id for tool in surface.tools}

    before = {"/users": operation("list")}
    grown = {"/people": operation("list"), **before}
    assert await ids(before) == {"GET /users": "api.users.list"}
    assert await ids(grown) == {"GET /users": "api.users.list", "GET /people": "api.users.get_people"}
    assert await ids(grown) == {"GET /users": "api.users.list", "GET /people": "api.users.get_people"}
    assert await ids({"/people": operation("list")}) == {"GET /people": "api.users.get_people"}
    (tmp_path / "ids" / "api.ids.json").write_text("nonsense", encoding="utf-8")
    assert await ids(before) == {"GET /users": "api.users.list"}
