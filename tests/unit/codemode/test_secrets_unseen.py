"""No secret is in anything that leaves: results, output, errors, ledger, logs, files, faces."""

from __future__ import annotations

import base64
import json
import logging
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx2

from codemode.service import CodeMode
from codemode.settings import Settings
from tests.unit.codemode.transports.conftest import recorder
from tests.unit.codemode.transports.echo import echo

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

    from tests.unit.codemode.transports.recorder import Recorder

__all__ = ["recorder"]

OPERATORS = "op3rators/secret+key==x"
PASSWORD = "p4ssword of the operator"
CALLERS = "c4llers-own-token-0123"
QUERY = "qu3ry&secret"
SECRETS = (OPERATORS, PASSWORD, CALLERS, QUERY)
PATHS = ("ok", "refused", "redirect", "elsewhere", "not_json", "text", "cut")

PROGRAM = """
found = []
for call in ({calls}):
    try:
        found.append(call())
    except Exception as error:
        found.append([str(error), repr(error), getattr(error, "body", None), getattr(error, "__dict__", None)])
        print(error)
found
"""


def _document() -> dict[str, Any]:
    answer = {"200": {"description": "", "content": {"application/json": {"schema": {}}}}}
    paths = {f"/{name}": {"get": {"operationId": name, "responses": answer}} for name in PATHS}
    return {"openapi": "3.1.0", "info": {"title": "Echo", "version": "1"}, "paths": paths}


def _settings(folder: Path, url: str) -> Settings:
    (folder / "echo.json").write_text(json.dumps(_document()), encoding="utf-8")
    (folder / "key").write_text(OPERATORS, encoding="utf-8")
    (folder / "password").write_text(PASSWORD, encoding="utf-8")
    (folder / "query").write_text(QUERY, encoding="utf-8")
    key = {"kind": "api_key", "name": "X-Key", "value": {"file": str(folder / "key")}}
    query = {"kind": "api_key", "name": "q", "location": "query", "value": {"file": str(folder / "query")}}
    sources = {
        "basic": [{"kind": "basic", "username": "ann", "password": {"file": str(folder / "password")}}, key, query],
        "own": [{"kind": "bearer", "token": {"caller": "X-Upstream-Token"}}],
    }
    whole = {
        "sources": {
            name: {"location": str(folder / "echo.json"), "base_url": url, "credentials": credentials, "retries": 0}
            for name, credentials in sources.items()
        },
        "state_folder": str(folder / "state"),
        "cache_folder": str(folder / "cache"),
    }
    return Settings.model_validate(whole)


def _forms(secret: str) -> Iterator[str]:
    yield secret
    yield quote(secret, safe="")
    yield quote(quote(secret, safe=""))
    yield from (base64.b64encode(text.encode()).decode().rstrip("=") for text in (secret, f"ann:{secret}"))
    yield base64.b64encode(f"Bearer {secret}".encode()).decode()[12:-4]


def _assert_unseen(text: str, where: str) -> None:
    for secret in SECRETS:
        for form in _forms(secret):
            assert form not in text, f"{where}: {form}"


async def test_no_secret_is_seen_anywhere(
    recorder: Recorder, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    recorder.answer = echo
    program = PROGRAM.format(calls=", ".join(f"{source}.{name}" for source in ("basic", "own") for name in PATHS))
    async with CodeMode.from_settings(_settings(tmp_path, recorder.url)) as service:
        outcome = await service.execute(program, credentials={"x-upstream-token": CALLERS})
        assert outcome.status == "completed", outcome.failure
        assert len(outcome.calls) == 2 * len(PATHS)
        sent = json.dumps([received.headers for received in recorder.received])
        assert all(text in sent for text in (OPERATORS, CALLERS))
        assert any(f"q={quote(QUERY, safe='')}" in received.target for received in recorder.received)
        assert "[redacted]" in json.dumps(outcome.value)
        _assert_unseen(json.dumps(outcome.to_json()) + repr(outcome), "outcome")
        _assert_unseen(str(service.catalog.tools) + repr(vars(service)), "service")
        for call in (service.execute("own.ok()"), service.execute("own.ok()", credentials={"other": "x"})):
            refused = await call
            assert "own needs the caller's own credential" in str(refused.failure)
    _assert_unseen(caplog.text, "log")
    _assert_unseen("".join(capfd.readouterr()), "terminal")
    for file in [*(tmp_path / "state").rglob("*"), *(tmp_path / "cache").rglob("*")]:
        if file.is_file():
            _assert_unseen(file.read_bytes().decode("utf-8", "replace"), str(file))


async def test_a_caller_brings_its_token_over_http(recorder: Recorder, tmp_path: Path) -> None:
    from codemode.serving.application.app import create_app
    from codemode.serving.auth.callers import Callers

    recorder.answer = echo
    settings = _settings(tmp_path, recorder.url)
    async with CodeMode.from_settings(settings) as service:
        transport = httpx2.ASGITransport(create_app(service, Callers.of(settings)))
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", timeout=200) as client:
            headers = {"x-upstream-token": CALLERS}
            answer = await client.post("/v1/execute", json={"code": "own.refused()"}, headers=headers)
            bare = await client.post("/v1/execute", json={"code": "own.ok()"})
    assert answer.json()["status"] == "failed"
    assert recorder.received[0].headers["Authorization"] == f"Bearer {CALLERS}"
    assert len(recorder.received) == 1
    assert "own credential 'X-Upstream-Token', and it is missing" in bare.text
    _assert_unseen(answer.text, "answer")
