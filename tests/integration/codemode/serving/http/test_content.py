"""Files over HTTP: upload, use in a program, download; per key and within limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2
import pytest

from codemode import CodeMode
from codemode.gateway.caller import Caller
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

PNG = b"\x89PNG\r\n\x1a\n\xff synthetic"
ANN, BOB = {"Authorization": "Bearer ann"}, {"Authorization": "Bearer bob"}


def size(data: bytes) -> int:
    """Return the size of a file."""
    return len(data)


def photo() -> bytes:
    """Return a photo."""
    return PNG


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    settings = Settings.model_validate(
        {
            "state_folder": tmp_path,
            "policy": {"default": {"write": "allow"}},
            "content": {"upload_bytes": 4096},
            "server": {"request_limit_bytes": 1024},
        }
    )
    async with CodeMode.from_settings(settings, functions={"files": [size, photo]}) as service:
        app = create_app(service, Callers({"ann": Caller("ann"), "bob": Caller("bob")}, KeyFile(tmp_path / "keys")))
        transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=ANN) as client:
            yield client


async def test_an_uploaded_file_goes_into_a_program(client: httpx2.AsyncClient) -> None:
    uploaded = await client.post("/v1/content?name=a.png", content=PNG, headers={"Content-Type": "image/png"})
    reference = uploaded.json()
    assert uploaded.status_code == 200
    assert reference == {
        "$content": reference["$content"],
        "media_type": "image/png",
        "name": "a.png",
        "size_bytes": len(PNG),
    }
    program = {"code": "files.size(data=photo)", "inputs": {"photo": reference}}
    assert (await client.post("/v1/execute", json=program)).json()["value"] == len(PNG)
    in_background = await client.post("/v1/execute", json={**program, "wait_s": 30})
    assert in_background.json()["value"] == len(PNG)


async def test_a_file_of_a_tool_is_an_attachment_that_no_browser_runs(client: httpx2.AsyncClient) -> None:
    reference = (await client.post("/v1/execute", json={"code": "files.photo()"})).json()["value"]
    file = await client.get(f"/v1/content/{reference['$content']}")
    assert file.content == PNG
    assert file.headers["content-type"] == "image/png"
    assert file.headers["content-disposition"] == f"attachment; filename*=UTF-8''{reference['$content']}"
    assert file.headers["x-content-type-options"] == "nosniff"
    assert file.headers["content-security-policy"] == "sandbox; default-src 'none'"


async def test_a_name_cannot_break_out_of_the_header(client: httpx2.AsyncClient) -> None:
    name = 'ä"\r\nX: y;.html'
    uploaded = await client.post("/v1/content", params={"name": name}, content=b"x", headers={"Content-Type": "a\tb"})
    file = await client.get(f"/v1/content/{uploaded.json()['$content']}")
    assert file.headers["content-disposition"] == "attachment; filename*=UTF-8''%C3%A4%22%0D%0AX%3A%20y%3B.html"
    assert file.headers["content-type"] == "application/octet-stream"


async def test_a_file_is_unknown_to_other_keys(client: httpx2.AsyncClient) -> None:
    reference = (await client.post("/v1/content", content=PNG)).json()
    assert reference["media_type"] == "image/png"
    refused = await client.get(f"/v1/content/{reference['$content']}", headers=BOB)
    assert (refused.status_code, refused.json()["code"]) == (404, "content_not_found")


async def test_an_upload_over_its_limit_is_rejected(client: httpx2.AsyncClient) -> None:
    assert (await client.post("/v1/content", content=bytes(4096))).status_code == 200
    refused = await client.post("/v1/content", content=bytes(4097))
    assert (refused.status_code, refused.json()["code"]) == (413, "request_too_large")
    assert "at most 4,096 bytes" in refused.json()["detail"]
    assert (await client.post("/v1/execute", content=bytes(4096))).status_code == 413


async def test_inputs_that_are_no_variables_are_rejected(client: httpx2.AsyncClient) -> None:
    refused = await client.post("/v1/execute", json={"code": "1", "inputs": {"my photo": 1}})
    assert refused.status_code == 422
    assert "'my photo' is no name of a variable" in refused.json()["detail"]
