"""Images in results, shown to a model that can see."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest

from codemode import CodeMode
from codemode.serving.agent import Agent
from codemode.settings import AgentSettings, Settings
from codemode.testing.model_server import ModelRequest, ModelServer, Reply

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

PNG = b"\x89PNG\r\n\x1a\n\xff synthetic"
URL = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
PROGRAM = ("execute", {"code": "[files.photo(), files.report()]"})


def photo() -> bytes:
    """Return a photo."""
    return PNG


def report() -> bytes:
    """Return a report."""
    return b"%PDF-1.7 \xff"


def looks(seen: ModelRequest) -> Reply:
    """Ask for a photo, then describe it."""
    has_called = any(message["role"] == "tool" for message in seen.messages)
    return Reply("A photo.") if has_called else Reply(calls=[PROGRAM])


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[CodeMode]:
    settings = Settings.model_validate({"state_folder": tmp_path, "policy": {"default": {"write": "allow"}}})
    async with CodeMode.from_settings(settings, functions={"files": [photo, report]}) as service:
        yield service


async def requests(service: CodeMode, tmp_path: Path, **settings: Any) -> list[ModelRequest]:
    """Return the requests of a turn that looks at a photo."""
    async with ModelServer(looks) as server:
        key = tmp_path / "model-key"
        key.write_text(server.key, encoding="utf-8")
        given = {"model": "scripted", "base_url": server.base_url, "api_key": {"file": str(key)}, **settings}
        agent = Agent(service, AgentSettings.model_validate(given))
        async for _ in agent.run("What is in the photo?"):
            pass
        await agent.aclose()
        return list(server.seen)


async def test_a_model_that_can_see_gets_the_images_after_the_results(service: CodeMode, tmp_path: Path) -> None:
    _, last = await requests(service, tmp_path, images=True)
    told, shown = last.body["messages"][-2:]
    assert told["role"] == "tool"
    assert '"$content": "c_' in told["content"]
    assert shown == {
        "role": "user",
        "content": [
            {"type": "text", "text": "These are the images in the results of your calls, in order."},
            {"type": "image_url", "image_url": {"url": URL}},
        ],
    }


async def test_images_in_the_responses_api(service: CodeMode, tmp_path: Path) -> None:
    _, last = await requests(service, tmp_path, images=True, api="responses")
    text, image = last.body["input"][-1]["content"]
    assert text["type"] == "input_text"
    assert (image["type"], image["image_url"]) == ("input_image", URL)


async def test_other_models_get_the_references_only(service: CodeMode, tmp_path: Path) -> None:
    _, last = await requests(service, tmp_path)
    assert last.body["messages"][-1]["role"] == "tool"
    assert URL not in str(last.body)
