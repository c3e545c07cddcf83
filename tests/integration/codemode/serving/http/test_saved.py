"""Saved programs over HTTP: who may save, who sees them, and what is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from codemode import CodeMode, tool
from codemode.gateway.caller import Caller
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.settings import Settings
from tests.integration.codemode.serving.http.described import check

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from fastapi import FastAPI


@tool(effect="read")
def double(n: int) -> int:
    """Return twice a number."""
    return 2 * n


def put(n: int) -> int:
    """Put a number somewhere."""
    return n


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[FastAPI]:
    settings = Settings.model_validate(
        {
            "state_folder": str(tmp_path / "state"),
            "cache_folder": str(tmp_path / "cache"),
            "saved": {"folder": str(tmp_path / "programs"), "roles": ["author"]},
            "policy": {"roles": ["author", "guest"]},
        }
    )
    keys = {role: Caller(role, role) for role in ("author", "guest", "approver")}
    async with CodeMode.from_settings(settings, functions={"math": [double, put]}) as service:
        yield create_app(service, Callers(keys, KeyFile(tmp_path / "keys.json")))


async def send(app: FastAPI, key: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1") as client:
        answer = await client.request(method, path, json=body, headers={"Authorization": f"Bearer {key}"})
    return answer.status_code, answer.json()


async def test_a_program_is_saved_seen_called_and_removed(app: FastAPI) -> None:
    _, ran = await send(app, "author", "POST", "/v1/execute", {"code": "n = 4\nmath.double(n=n) + 1"})
    wanted = {"execution": ran["id"], "name": "odd", "description": "Return an odd number.", "parameters": {"n": {}}}
    status, saved = await send(app, "author", "POST", "/v1/saved", wanted)
    assert (status, saved["id"], saved["version"], saved["tools"]) == (200, "saved.odd", 1, ["math.double"])
    assert saved["parameters"] == {"n": {"type": "integer", "examples": [4]}}
    schemas = "#/components/schemas"
    check(app.openapi(), {"$ref": f"{schemas}/SavedProgram"}, saved)

    _, listed = await send(app, "guest", "GET", "/v1/saved")
    assert [one["id"] for one in listed["saved"]] == ["saved.odd"]
    check(app.openapi(), {"$ref": f"{schemas}/SavedList"}, listed)
    _, file = await send(app, "guest", "GET", "/v1/saved/odd")
    assert file["code"].endswith("math.double(n=n) + 1\n")
    check(app.openapi(), {"$ref": f"{schemas}/SavedFile"}, file)

    _, called = await send(app, "guest", "POST", "/v1/execute", {"code": "saved.odd(n=10)"})
    assert (called["value"], [call["path"] for call in called["calls"]]) == (21, ["1", "1:1"])
    assert (await send(app, "approver", "DELETE", "/v1/saved/odd")) == (200, {"name": "odd"})
    status, gone = await send(app, "guest", "GET", "/v1/saved/odd")
    assert (status, gone["code"]) == (404, "tool_not_found")


async def test_other_roles_may_not_save_or_remove(app: FastAPI) -> None:
    wanted = {"execution": "ex_1", "name": "odd", "description": "x"}
    for method, path, body in (("POST", "/v1/saved", wanted), ("DELETE", "/v1/saved/odd", None)):
        status, refused = await send(app, "guest", method, path, body)
        assert (status, refused["code"]) == (403, "saving_forbidden")
        assert "only the roles author may save and remove programs; this key has the role guest" in refused["detail"]


async def test_a_program_that_the_role_does_not_see_is_neither_replaced_nor_removed(app: FastAPI) -> None:
    _, ran = await send(app, "author", "POST", "/v1/execute", {"code": "1"})
    wanted = {"execution": ran["id"], "name": "one", "description": "x", "roles": ["guest"]}
    assert (await send(app, "author", "POST", "/v1/saved", wanted))[0] == 200
    assert (await send(app, "author", "GET", "/v1/saved/one"))[0] == 404
    assert (await send(app, "guest", "GET", "/v1/saved/one"))[0] == 200
    for method, path, body in (("POST", "/v1/saved", wanted), ("DELETE", "/v1/saved/one", None)):
        status, refused = await send(app, "author", method, path, body)
        assert (status, refused["code"]) == (409, "saving_refused")
        assert "'one' is taken by a program that this role does not see" in refused["detail"]


async def test_an_execution_of_somebody_else_is_not_found(app: FastAPI) -> None:
    _, ran = await send(app, "guest", "POST", "/v1/execute", {"code": "1"})
    wanted = {"execution": ran["id"], "name": "odd", "description": "x"}
    assert (await send(app, "author", "POST", "/v1/saved", wanted))[0] == 404
    assert (await send(app, "author", "DELETE", "/v1/saved/odd"))[1]["code"] == "saving_refused"


async def test_the_name_of_a_file_that_cannot_be_read_is_not_free(app: FastAPI, tmp_path: Path) -> None:
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "report.py").write_text("# /// codemode\n# effect: [\n# ///\n1\n", encoding="utf-8")
    _, ran = await send(app, "author", "POST", "/v1/execute", {"code": "math.put(n=1)"})
    wanted = {"execution": ran["id"], "name": "report", "description": "x"}
    status, refused = await send(app, "author", "POST", "/v1/saved", wanted)
    assert (status, "only an approver may replace a program that cannot be read" in refused["detail"]) == (403, True)
    _, ran = await send(app, "approver", "POST", "/v1/execute", {"code": "math.double(n=1)"})
    assert (await send(app, "approver", "POST", "/v1/saved", {**wanted, "execution": ran["id"]}))[0] == 200


async def test_a_version_that_may_do_more_needs_an_approver_and_so_does_a_free_name(app: FastAPI) -> None:
    _, reading = await send(app, "author", "POST", "/v1/execute", {"code": "math.double(n=1)"})
    _, more = await send(app, "author", "POST", "/v1/execute", {"code": "m = math\nm.put(n=1)\nmath.double(n=1)"})
    wanted = {"execution": reading["id"], "name": "report", "description": "x"}
    wider = {**wanted, "execution": more["id"]}
    assert (await send(app, "author", "POST", "/v1/saved", wanted))[0] == 200
    status, refused = await send(app, "author", "POST", "/v1/saved", wider)
    assert (status, refused["code"]) == (403, "saving_forbidden")
    assert (
        "saved.report version 2 calls math.put, is write, not read, unlike version 1: an approver must save it"
        in refused["detail"]
    )
    assert (await send(app, "author", "POST", "/v1/saved", wanted))[1]["version"] == 2
    status, refused = await send(app, "author", "DELETE", "/v1/saved/report")
    assert (status, refused["code"]) == (403, "saving_forbidden")
    assert "only an approver may remove saved.report" in refused["detail"]
    status, saved = await send(app, "approver", "POST", "/v1/saved", wider)
    assert (status, saved["version"], saved["effect"]) == (200, 3, "write"), saved
    assert (saved["tools"], saved["saved_by"]) == (["math.double", "math.put"], "approver")
    assert (await send(app, "author", "POST", "/v1/saved", wider))[1]["version"] == 4
