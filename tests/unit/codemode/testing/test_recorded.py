from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx2
import openai
import pytest

from codemode.testing.model_server import ModelServer, Reply
from codemode.testing.recorded import RecordedUpstream

if TYPE_CHECKING:
    from pathlib import Path


async def ask(base_url: str, key: str, text: str) -> str:
    async with openai.AsyncOpenAI(base_url=f"{base_url}/v1", api_key=key, max_retries=0) as client:
        stream = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": text}], stream=True
        )
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])


async def test_a_model_is_recorded_and_replayed_without_it(tmp_path: Path) -> None:
    cassette = tmp_path / "cassette.json"
    async with ModelServer(lambda seen: Reply(f"you said {seen.message}")) as server:
        async with RecordedUpstream(cassette, server.base_url.removesuffix("/v1")) as upstream:
            assert await ask(upstream.base_url, server.key, "one") == "you said one"
            assert await ask(upstream.base_url, server.key, "two") == "you said two"
        key = server.key
    assert key not in cassette.read_text(encoding="utf-8")
    async with RecordedUpstream(cassette) as upstream:
        assert await ask(upstream.base_url, "any key", "two") == "you said two"
        assert await ask(upstream.base_url, "any key", "one") == "you said one"
        with pytest.raises(openai.InternalServerError, match=r"nothing recorded for POST .*three.*; closest"):
            await ask(upstream.base_url, "any key", "three")


async def test_answers_to_the_same_request_come_in_their_order(tmp_path: Path) -> None:
    cassette = tmp_path / "cassette.json"
    exchange = {"method": "GET", "target": "/n?a=1", "request": "", "status": 200, "headers": {}, "binary": False}
    cassette.write_text(json.dumps([{**exchange, "body": "1"}, {**exchange, "body": "2"}]), encoding="utf-8")
    async with RecordedUpstream(cassette) as upstream, httpx2.AsyncClient() as client:
        given = [(await client.get(f"{upstream.base_url}/n?a=1")).text for _ in range(3)]
    assert given == ["1", "2", "2"]
