"""Images and files in the result of `execute` over MCP."""

from __future__ import annotations

import base64
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcp import Client

from codemode import CodeMode
from codemode.serving.mcp.server import McpServer
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

PNG = b"\x89PNG\r\n\x1a\n\xff synthetic"
PDF = b"%PDF-1.7 \xff synthetic"


def photo() -> bytes:
    """Return a photo."""
    return PNG


def report() -> bytes:
    """Return a report."""
    return PDF


def song() -> bytes:
    """Return a song."""
    return b"ID3 \xff synthetic"


def account(*, large: bool = True) -> dict[str, int]:
    """Return an account."""
    return {"id": 1915883588174806058 if large else 7, "members": 3}


@asynccontextmanager
async def face(tmp_path: Path, **content: Any) -> AsyncIterator[Callable[[str], Awaitable[Any]]]:
    """Yield a function that runs a program through a client, and returns the result of the call."""
    given = {"state_folder": tmp_path, "policy": {"default": {"write": "allow"}}, "content": content}
    functions = {"files": [photo, report, song, account]}
    async with (
        CodeMode.from_settings(Settings.model_validate(given), functions=functions) as service,
        Client(McpServer(service).server) as client,
    ):
        yield lambda code: client.call_tool("execute", {"code": code})


async def test_an_image_of_a_result_is_an_image_block_beside_its_reference(tmp_path: Path) -> None:
    async with face(tmp_path) as run:
        ended = await run("{'photo': files.photo(), 'of': 'Ann'}")
    _, image = ended.content
    assert (image.type, image.mime_type, base64.b64decode(image.data)) == ("image", "image/png", PNG)
    reference = ended.structured_content["value"]["photo"]
    assert (reference["media_type"], reference["size_bytes"]) == ("image/png", len(PNG))


async def test_sounds_are_audio_blocks_and_other_files_resources(tmp_path: Path) -> None:
    async with face(tmp_path) as run:
        ended = await run("[files.song(), files.report(), files.report()]")
    _, audio, file = ended.content
    assert (audio.type, audio.mime_type) == ("audio", "audio/mpeg")
    reference = ended.structured_content["value"][1]
    assert file.resource.uri == f"codemode://content/{reference['$content']}"
    assert (file.resource.mime_type, base64.b64decode(file.resource.blob)) == ("application/pdf", PDF)


async def test_what_is_too_large_is_a_reference_only(tmp_path: Path) -> None:
    async with face(tmp_path, inline_bytes=len(PNG) + 1) as run:
        ended = await run("[files.photo(), files.report()]")
    assert [block.type for block in ended.content] == ["text", "image"]
    assert [each["media_type"] for each in ended.structured_content["value"]] == ["image/png", "application/pdf"]


async def test_a_reference_that_a_program_makes_up_shows_nothing(tmp_path: Path) -> None:
    async with face(tmp_path) as run:
        ended = await run("{'$content': 'c_0', 'media_type': 'image/png'}")
    assert [block.type for block in ended.content] == ["text"]


async def test_clients_in_javascript_get_large_integers_as_text_with_a_note(tmp_path: Path) -> None:
    async with face(tmp_path) as run:
        large, small = await run("files.account()"), await run("files.account(large=False)")
    assert large.content[0].text == '{"id": 1915883588174806058, "members": 3}'
    assert large.structured_content["value"] == {"id": "1915883588174806058", "members": 3}
    assert large.structured_content["text"].startswith("note: integers beyond 2**53 are text here")
    assert small.structured_content["value"] == {"id": 7, "members": 3}
    assert "text" not in small.structured_content
