"""Unknown ids, on every face and each database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from codemode.errors import ExecutionNotFound
from codemode.features.rollback.rollback import Rollbacks
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from tests.integration.codemode.executions.journal.conftest import new_database
from tests.integration.codemode.executions.upstream import OWNER, place

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.service import CodeMode

#: Ids that PostgreSQL cannot store, that UTF-8 cannot encode, and that are merely unknown.
NONE = ["ex_\0", "\0", "\ud800", "ex_none", "ex_" + "0" * 32]


@pytest.fixture(params=["sqlite", "postgres"])
async def service(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[CodeMode]:
    sections: dict[str, Any] = {}
    if request.param == "postgres":
        (tmp_path / "key").write_text("the key of all", encoding="utf-8")
        url = await new_database(request.getfixturevalue("postgres"))
        sections["journal"] = {"url": url, "key": {"file": str(tmp_path / "key")}}
    async with place(tmp_path) as here, here.service(**sections) as service:
        yield service


@pytest.mark.parametrize("id_", NONE)
async def test_what_is_no_id_is_not_found(service: CodeMode, id_: str) -> None:
    executions = service.executions
    for asked in (
        executions.get(id_, OWNER),
        executions.record(id_, OWNER),
        executions.wait(id_, OWNER, 1),
        anext(executions.events(id_, OWNER)),
        executions.resume(id_, OWNER),
        executions.cancel(id_, OWNER),
        service.part(Rollbacks).start(id_, OWNER),
        executions.list(OWNER, before=id_),
        executions.approvals(OWNER, id_),
        service.execute("1", caller=OWNER, resume_from=id_),
    ):
        with pytest.raises(ExecutionNotFound):
            await asked


@pytest.mark.parametrize("id_", ["ex_%00", "ex_none"])
async def test_what_is_no_id_is_404_over_http(service: CodeMode, tmp_path: Path, id_: str) -> None:
    app = create_app(service, Callers({}, KeyFile(tmp_path / "keys.json")))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as client:
        for path in (f"/{id_}", f"/{id_}/events", f"?before={id_}"):
            answer = await client.get(f"/v1/executions{path}")
            assert (answer.status_code, answer.json()["code"]) == (404, "execution_not_found")
        for action in ("cancel", "resume", "rollback"):
            assert (await client.post(f"/v1/executions/{id_}/{action}")).status_code == 404
        assert (await client.get(f"/v1/approvals?execution={id_}")).status_code == 404
