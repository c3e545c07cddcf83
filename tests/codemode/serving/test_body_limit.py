from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2
import pytest
from fastapi import FastAPI

from codemode.serving.body_limit import BodyLimit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

app = FastAPI()
app.add_middleware(BodyLimit, limit_bytes=100)


@app.post("/")
async def echo(body: dict[str, str]) -> dict[str, str]:
    return body


async def post(content: bytes | AsyncIterator[bytes]) -> httpx2.Response:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://testserver") as client:
        return await client.post("/", content=content, headers={"content-type": "application/json"})


async def in_pieces(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), 10):
        yield content[start : start + 10]


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_within_the_limit_passes(chunked: bool) -> None:
    content = b'{"a": "b"}'
    assert (await post(in_pieces(content) if chunked else content)).status_code == 200


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_longer_body_is_refused_whether_it_says_its_length_or_not(chunked: bool) -> None:
    content = b'{"a": "' + b"b" * 200 + b'"}'
    assert (await post(in_pieces(content) if chunked else content)).status_code == 413
