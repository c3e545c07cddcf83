"""Images and files through programs: from a tool, to a tool, from the caller, and across restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from codemode import CodeMode
from codemode.errors import RequestConflict, RequestRepeated, WrongArgument
from codemode.executions.types.records import Decision
from codemode.gateway.caller import Caller
from codemode.settings import Settings
from codemode.transports.content import ContentNotFound

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PNG = b"\x89PNG\r\n\x1a\n\xff\xfe synthetic"


def photo(number: int) -> bytes:
    """Return the photo of a client."""
    return PNG + bytes([number])


def album() -> dict[str, Any]:
    """Return all photos with their names."""
    return {"photos": [{"name": "a", "data": PNG}, {"name": "b", "data": PNG}]}


def size(data: bytes) -> int:
    """Return the size of a file."""
    return len(data)


def service(folder: Path) -> CodeMode:
    settings = Settings.model_validate({"state_folder": folder, "policy": {"default": {"write": "allow"}}})
    return CodeMode.from_settings(settings, functions={"files": [photo, album, size]})


@pytest.fixture
def make(tmp_path: Path) -> Callable[[], CodeMode]:
    return lambda: service(tmp_path / "state")


async def test_bytes_of_a_function_are_a_reference_that_another_function_takes(make: Callable[[], CodeMode]) -> None:
    async with make() as cm:
        outcome = await cm.execute("image = files.photo(number=7)\n[image, files.size(data=image)]")
        reference, length = outcome.value
        content = await cm.content(reference)
    assert reference == {"$content": content.id, "media_type": "image/png", "size_bytes": len(PNG) + 1}
    assert (content.data, length) == (PNG + b"\7", len(PNG) + 1)


async def test_bytes_inside_a_result_are_references(make: Callable[[], CodeMode]) -> None:
    async with make() as cm:
        outcome = await cm.execute("[each.data.media_type for each in files.album().photos]")
    assert outcome.value == ["image/png", "image/png"]


async def test_a_program_reads_the_bytes_only_if_it_asks(make: Callable[[], CodeMode]) -> None:
    async with make() as cm:
        text = await cm.keep_content(b"a,b\n1,2\n", "text/csv", "table.csv")
        outcome = await cm.execute("load(table['$content']).splitlines()", inputs={"table": text})
        image = await cm.keep_content(b"\xff\0")
        encoded = await cm.execute("load(image['$content'])", inputs={"image": image})
    assert outcome.value == ["a,b", "1,2"]
    assert encoded.value == {"$base64": "/wA="}


async def test_an_uploaded_file_survives_a_restart(make: Callable[[], CodeMode]) -> None:
    async with make() as cm:
        reference = await cm.keep_content(PNG, name="photo.png")
    async with make() as cm:
        outcome = await cm.execute("files.size(data=photo)", inputs={"photo": reference})
        assert (await cm.content(reference)).name == "photo.png"
    assert outcome.value == len(PNG)


async def test_a_downloaded_file_survives_a_restart(make: Callable[[], CodeMode]) -> None:
    async with make() as cm:
        reference = (await cm.execute("files.photo(number=1)")).value
    async with make() as cm:
        assert (await cm.content(reference)).data == PNG + b"\1"


async def test_references_are_unknown_to_other_callers(make: Callable[[], CodeMode]) -> None:
    async with make() as cm:
        reference = await cm.keep_content(PNG, caller=Caller("ann"))
        outcome = await cm.execute("files.size(data=photo)", inputs={"photo": reference}, caller=Caller("bob"))
        with pytest.raises(ContentNotFound):
            await cm.content(reference, caller=Caller("bob"))
    assert outcome.failure is not None
    assert "this content is no longer stored, or never was" in outcome.failure.message


async def test_inputs_are_part_of_a_request(make: Callable[[], CodeMode]) -> None:
    async with make() as cm:
        await cm.execute("n + 1", inputs={"n": 1}, idempotency_key="once")
        with pytest.raises(RequestRepeated):
            await cm.execute("n + 1", inputs={"n": 1}, idempotency_key="once")
        with pytest.raises(RequestConflict):
            await cm.execute("n + 1", inputs={"n": 2}, idempotency_key="once")


async def test_inputs_that_are_no_variables_or_no_json_are_rejected(make: Callable[[], CodeMode]) -> None:
    async with make() as cm:
        with pytest.raises(WrongArgument, match=r"^inputs: 'my photo' is no name of a variable"):
            await cm.execute("1", inputs={"my photo": 1})
        with pytest.raises(WrongArgument, match=r"^inputs: the values must be JSON data: .* keep_content$"):
            await cm.execute("1", inputs={"photo": PNG})


async def test_inputs_are_there_again_when_an_execution_continues_on_another_server(tmp_path: Path) -> None:
    ann, lead = Caller("ann"), Caller("lead", "approver")

    def server() -> CodeMode:
        settings = Settings.model_validate({"state_folder": tmp_path, "policy": {"default": {"write": "ask"}}})
        return CodeMode.from_settings(settings, functions={"files": [size]})

    async with server() as cm:
        reference = await cm.keep_content(PNG, caller=ann)
        paused = await cm.execute("files.size(data=photo)", inputs={"photo": reference}, caller=ann)
        assert paused.status == "paused"
    async with server() as cm:
        (asked,) = await cm.executions.approvals(lead)
        await cm.executions.decide([Decision(asked.id, asked.digest, "approved", by="lead")], lead)
        await cm.executions.resume(paused.id, ann)
        ended = await cm.executions.wait(paused.id, ann, 30)
    assert (ended.status, ended.outcome["value"]) == ("completed", len(PNG))
