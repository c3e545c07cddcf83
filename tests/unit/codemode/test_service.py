"""The service against a real HTTP server on loopback that behaves as badly as real ones do."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from codemode.errors import ConfigurationError, SourceError
from codemode.gateway.caller import Caller
from codemode.service import CodeMode
from codemode.settings import Settings
from tests.unit.codemode.transports.sockets import listening

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

ANSWERS = {
    "ok": (200, "application/json", b'{"n": 1}'),
    "broken": (500, "application/problem+json", b'{"title": "Boom", "detail": "the database is gone"}'),
    "crash": (502, "text/html", b"<html><h1>Bad Gateway</h1></html>"),
    "not_json": (200, "application/json", b"<html>surprise</html>"),
    "huge": (200, "application/json", b"[" + b"1," * 3_000_000 + b"1]"),
    "empty": (204, "", b""),
}


def document() -> dict[str, Any]:
    paths: dict[str, Any] = {
        f"/{name}": {
            "get": {
                "operationId": name,
                "tags": ["things"],
                "responses": {"200": {"description": "", "content": {"application/json": {"schema": {}}}}},
            }
        }
        for name in (*ANSWERS, "slow")
    }
    del paths["/ok"]["get"]["responses"]["200"]["content"]  # what it answers is not documented
    return {"openapi": "3.1.0", "info": {"title": "Bad", "version": "1"}, "paths": paths}


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    name = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode().strip("/")
    if name == "slow":
        await reader.read()  # until the client gives up
    else:
        status, kind, body = ANSWERS[name]
        head = (
            f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        writer.write(head.encode() + body)


@asynccontextmanager
async def bad_service(
    folder: Path, *, timeout_s: float = 60.0, **sections: Any
) -> AsyncIterator[Callable[[str], Awaitable[Any]]]:
    """A function that runs a program against the server."""
    file = folder / "bad.json"
    file.write_text(json.dumps(document()), encoding="utf-8")
    async with listening(answer) as port:
        source = {
            "location": str(file),
            "base_url": f"http://127.0.0.1:{port}",
            "timeout_s": timeout_s,
            "response_limit_bytes": 1_000_000,
        }
        settings = Settings.model_validate({"sources": {"bad": source}, **sections})
        async with CodeMode.from_settings(settings) as service:
            yield service.execute


CATCH = """
try:
    value = bad.things.{name}()
except Exception as error:
    value = [type(error).__name__, getattr(error, "status", None), getattr(error, "kind", None), str(error)]
value
"""


@pytest.mark.parametrize(
    ("name", "status", "kind", "words"),
    [
        ("broken", 500, "upstream_error", "the database is gone"),
        ("crash", 502, "upstream_error", "502"),
        ("not_json", None, None, "JSON"),
        ("huge", None, None, "1,000,000 bytes"),
        ("slow", None, "upstream_timeout", "within 3 s"),
    ],
)
async def test_a_bad_answer_is_an_exception_that_says_what_came(
    tmp_path: Path, name: str, status: int | None, kind: str | None, words: str
) -> None:
    async with bad_service(tmp_path, timeout_s=3 if name == "slow" else 60) as execute:
        outcome = await execute(CATCH.format(name=name))
        assert outcome.status == "completed", outcome.failure
        _, found_status, found_kind, text = outcome.value
        assert words in text
        if status is not None:
            assert found_status == status
        if kind is not None:
            assert found_kind == kind
        (call,) = outcome.calls
        assert call.state == "failed"
        assert (await execute("bad.things.ok()['n']")).value == 1


async def test_an_empty_answer_is_none(tmp_path: Path) -> None:
    async with bad_service(tmp_path) as execute:
        assert (await execute("bad.things.empty() is None")).value is True


async def test_an_uncaught_failure_of_a_call_names_the_line(tmp_path: Path) -> None:
    async with bad_service(tmp_path) as execute:
        outcome = await execute("x = 1\nbad.things.broken()")
        assert outcome.status == "failed"
        assert outcome.failure.line == 2
        assert "500" in outcome.failure.message


async def test_an_unreachable_service_sends_nothing_and_hides_its_address(tmp_path: Path) -> None:
    file = tmp_path / "bad.json"
    file.write_text(json.dumps(document()), encoding="utf-8")
    source = {"location": str(file), "base_url": "http://127.0.0.1:9"}
    async with CodeMode.from_settings(Settings.model_validate({"sources": {"bad": source}})) as service:
        outcome = await service.execute("bad.things.ok()")
        assert outcome.status == "failed"
        assert outcome.failure is not None
        assert "cannot be reached" in outcome.failure.message
        assert "127.0.0.1" not in outcome.failure.message
        assert outcome.calls[0].state == "not started"


async def test_a_time_out_tells_the_call_under_way_apart(tmp_path: Path) -> None:
    async with bad_service(tmp_path, limits={"wall_s": 3}) as execute:
        outcome = await execute("a = bad.things.ok()\nb = bad.things.slow()\n")
        assert outcome.status == "timed_out"
        assert [(call.tool, call.state) for call in outcome.calls] == [
            ("bad.things.ok", "read"),
            ("bad.things.slow", "cancelled"),
        ]


async def test_what_an_undocumented_tool_answers_is_learned_and_shown(tmp_path: Path) -> None:
    async with bad_service(tmp_path, state_folder=str(tmp_path / "state")) as execute:
        service = execute.__self__  # type: ignore[attr-defined]
        assert "-> Any" in (await service.search("bad.things.ok")).text
        await execute("bad.things.ok()")
        assert '-> {"n": int}' in (await service.search("bad.things.ok")).text
    async with bad_service(tmp_path, state_folder=str(tmp_path / "state")) as execute:
        service = execute.__self__  # type: ignore[attr-defined]
        assert '"n": int' in (await service.search("bad.things.ok")).text


async def test_what_one_caller_was_answered_is_shown_to_no_other() -> None:
    def balances():  # type: ignore[no-untyped-def]
        """What each customer has."""
        return {"ann_smith": 7, "bob_jones": 9}

    ann, bob = Caller("key:ann"), Caller("key:bob")
    async with CodeMode.from_functions(bank=[balances]) as service:
        assert (await service.execute("bank.balances()", caller=ann)).ok
        shown = {
            caller.id: [
                (await service.search("balances", detail="full", caller=caller)).text,
                await service.describe("bank.balances", caller=caller),
                (await service.execute("search('balances') + describe('bank.balances')", caller=caller)).value,
            ]
            for caller in (ann, bob)
        }
    assert ["ann_smith" in text for text in shown[ann.id]] == [True] * 3
    assert ["ann_smith" in text for text in shown[bob.id]] == [False] * 3


async def test_a_document_that_cannot_be_read_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("[]", encoding="utf-8")
    settings = Settings.model_validate({"sources": {"bad": {"location": str(tmp_path / "bad.json")}}})
    with pytest.raises(SourceError, match=r"bad\.json"):
        async with CodeMode.from_settings(settings, strict=True):
            pytest.fail("it was entered")


class Gate:
    """A tool that says when it was reached, and answers when it is opened."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()

    async def wait(self) -> None:
        """Wait until it is opened."""
        self.reached.set()
        await self.opened.wait()


def _pets(*operations: str) -> str:
    paths = {f"/{name}": {"get": {"operationId": name, "tags": ["things"], "responses": {}}} for name in operations}
    return json.dumps({"openapi": "3.1.0", "info": {"title": "Bad", "version": "1"}, "paths": paths})


async def test_a_reload_drops_nothing_and_an_execution_keeps_what_it_began_with(tmp_path: Path) -> None:
    file = tmp_path / "bad.json"
    file.write_text(_pets("ok"), encoding="utf-8")
    gate = Gate()
    async with listening(answer) as port:
        source = {"location": str(file), "base_url": f"http://127.0.0.1:{port}"}
        folders = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"}
        settings = Settings.model_validate({"sources": {"bad": source}, **folders})
        async with CodeMode.from_settings(settings, functions={"gate": gate}) as service:
            running = asyncio.create_task(service.execute("gate.wait()\nbad.things.ok()"))
            await gate.reached.wait()
            file.write_text(_pets("empty"), encoding="utf-8")
            await service.reload()
            assert {tool.id for tool in service.catalog.tools} == {"bad.things.empty", "gate.wait"}
            assert (await service.search("empty")).hits[0].tool.id == "bad.things.empty"
            gate.opened.set()
            assert (await running).value == {"n": 1}
            assert (await service.execute("bad.things.ok()")).status == "refused"
            assert (await service.execute("bad.things.empty()")).ok


async def test_a_reload_that_fails_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "bad.json"
    file.write_text(_pets("ok"), encoding="utf-8")
    content = {"sources": {"bad": {"location": str(file)}}, "state_folder": tmp_path, "cache_folder": tmp_path}
    settings = Settings.model_validate(content)
    async with CodeMode.from_settings(settings) as service:
        policy = {"rules": [{"tools": "bad.no_such.tool", "decision": "deny"}]}
        for broken, other in (("{", None), (_pets("ok"), Settings.model_validate({**content, "policy": policy}))):
            file.write_text(broken, encoding="utf-8")
            with pytest.raises((SourceError, ConfigurationError)):
                await service.reload(other)
            assert {tool.id for tool in service.catalog.tools} == {"bad.things.ok"}
            assert service.settings == settings


async def test_a_service_that_was_not_entered_or_was_left_says_so_and_starts_nothing() -> None:
    def add(number: int) -> int:
        """Add one."""
        return number + 1

    service = CodeMode.from_functions(shop=[add])
    for _ in range(2):
        for use in (service.search("add"), service.execute("1"), service.describe("shop"), service.definitions()):
            with pytest.raises(RuntimeError, match=r"the service is not open: .*call `await cm.start"):
                await use
        assert repr(service) == "<CodeMode shop: not open>"
        async with service:
            assert repr(service) == "<CodeMode shop: 1 tools>"
            assert (await service.execute("shop.add(number=1)")).value == 2
