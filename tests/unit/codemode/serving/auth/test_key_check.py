"""Requests while the shared keys cannot be checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2
import pytest
from starlette.responses import PlainTextResponse

from codemode.errors import JournalUnavailable
from codemode.gateway.caller import Caller
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.key_check import KeyCheck
from codemode.serving.auth.keys import Keys
from codemode.serving.console.session import SessionCheck, Sessions
from codemode.shared.files import FileValue

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from codemode.shared.values import Latest


class AbsentValue:
    """Keys in a database that does not answer."""

    title = "the keys in postgresql://db"

    def read(self) -> bytes | None:
        raise JournalUnavailable(self.title)

    def latest(self) -> Latest:
        raise JournalUnavailable(self.title)

    def change(self, function: Callable[[bytes | None], bytes | None]) -> None:
        raise JournalUnavailable(self.title)


@pytest.mark.parametrize(
    ("path", "key", "status"),
    [
        ("/v1/search", "cm_unknown", 503),
        ("/v1/search", "configured", 200),
        ("/mcp", "cm_unknown", 503),
        ("/v1/search", "", 503),
        ("/livez", "", 200),
        ("/console", "", 503),
    ],
)
async def test_keys_that_cannot_be_checked_are_answered_with_503_and_nobody_comes_in(
    tmp_path: Path, path: str, key: str, status: int
) -> None:
    configured = {"configured": Caller("c")} if key == "configured" else {}
    callers = Callers(configured, Keys(AbsentValue()))
    sessions = Sessions(FileValue(tmp_path / "sessions.json"))
    app = SessionCheck(PlainTextResponse("in"), callers=callers, sessions=sessions)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(KeyCheck(app, callers=callers)), base_url="http://127.0.0.1"
    ) as http:
        answer = await http.get(path, headers=headers)
    assert answer.status_code == status
    if status == 503:
        assert answer.json()["code"] == "journal_unavailable"
        assert "retry-after" in answer.headers
        assert "postgresql" not in answer.text
