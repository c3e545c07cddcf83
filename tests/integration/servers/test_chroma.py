"""Chroma: OpenAPI 3.1 with type lists, nested paths, lists of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.servers.running import program, running, value_of
from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.servers.running import Running


@pytest.fixture
def chroma(tmp_path: Path) -> Iterator[Running]:
    port = free_port()
    command = [program("chroma", "chroma"), "run", "--host", "127.0.0.1", "--port", str(port), "--path", "data"]
    with running(command, f"http://127.0.0.1:{port}", tmp_path, ready="/openapi.json") as server:
        yield server


async def test_collections_are_made_filled_paged_changed_and_missing(chroma: Running, tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("its document asks for one", encoding="utf-8")
    credential = {"kind": "api_key", "name": "x-chroma-token", "value": {"file": str(secret)}}
    async with chroma.codemode("chroma", "/openapi.json", base_url=chroma.url, credentials=[credential]) as service:
        base = "/api/v2/tenants/{tenant}/databases/{database}/collections"
        ids = {tool.key: tool.id for tool in service.catalog}
        made = f"""
home = {{"tenant": "default_tenant", "database": "default_database"}}
for name in ("fruit", "trees", "stones"):
    kept = {ids["POST " + base]}(**home, name=name)
where = {{**home, "collection_id": kept["id"]}}
{ids["POST " + base + "/{collection_id}/add"]}(**where, ids=["a", "b"], embeddings=[[1.0, 2.0], [3.0, 4.0]])
pages = [{ids["GET " + base]}(**home, limit=2, offset=offset) for offset in (0, 2)]
{ids["POST " + base + "/{collection_id}/delete"]}(**where, ids=["a"])
([len(page) for page in pages], {ids["GET " + base + "/{collection_id}/count"]}(**where))
"""
        assert await value_of(service, made) == [[2, 1], 1]
        failed = f"""
try:
    {ids["GET " + base + "/{collection_id}"]}(tenant="default_tenant", database="default_database", collection_id="no")
except Exception as error:
    result = error.status
result
"""
        assert await value_of(service, failed) == 404
