"""jupyter_server: Swagger 2.0 without operationIds, a token in a header, files as content."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.servers.running import program, running, value_of
from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.servers.running import Running

TOKEN = "a-token-for-tests"


@pytest.fixture
def jupyter(tmp_path: Path) -> Iterator[Running]:
    port = free_port()
    files = tmp_path / "files"
    files.mkdir()
    command = [
        program("small", "jupyter-server"), "--ip", "127.0.0.1", "--port", str(port), "--allow-root", "--no-browser",
        f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={files}",
    ]  # fmt: skip
    headers = {"Authorization": f"token {TOKEN}"}
    with running(command, f"http://127.0.0.1:{port}", tmp_path, ready="/api", headers=headers) as server:
        yield server


async def test_files_are_made_listed_changed_and_missing(jupyter: Running, tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text(TOKEN, encoding="utf-8")
    credential = {"kind": "api_key", "name": "Authorization", "prefix": "token ", "value": {"file": str(secret)}}
    async with jupyter.codemode("jupyter", "/api/spec.yaml", base_url=jupyter.url, credentials=[credential]) as service:
        ids = {tool.key: tool.id for tool in service.catalog}
        put, get = ids["PUT /api/contents/{path}"], ids["GET /api/contents/{path}"]
        made = f"""
{put}(path="notes.txt", body={{"type": "file", "format": "text", "content": "first"}})
{put}(path="notes.txt", body={{"type": "file", "format": "text", "content": "second"}})
{get}(path="notes.txt", type="file")["content"]
"""
        assert await value_of(service, made) == "second"
        failed = f"""
try:
    {get}(path="nowhere.txt")
except Exception as error:
    result = (error.status, "nowhere.txt" in str(error))
result
"""
        assert await value_of(service, failed) == [404, True]
        assert "started" in await value_of(service, ids["GET /api/status"] + "()")
