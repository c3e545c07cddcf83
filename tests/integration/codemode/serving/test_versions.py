"""A server of a later version beside one of this version, on one journal: each continues what the other left."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from codemode.executions.run.replay.dependencies import REPLAYS_FROM
from tests.integration.codemode.executions.journal.conftest import new_database, postgres
from tests.integration.codemode.serving.several_servers import has_line, servers, until
from tests.integration.codemode.serving.versions import LATER, later_version

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.codemode.serving.several_servers import Server

__all__ = ["postgres"]

ASKS = "import random\nfirst = random.random()\nbox.put(n=1)\nbox.drop(n=2)\n(first, random.random())"


@pytest.fixture(params=["sqlite", "postgres"])
async def url(request: pytest.FixtureRequest) -> str | None:
    """The database of both servers, None for a file."""
    return None if request.param == "sqlite" else await new_database(request.getfixturevalue("postgres"))


@pytest.fixture
def keys(tmp_path: Path) -> dict[str, Any]:
    """The keys of an agent and of a person who approves, as a setting of the server."""
    for name in ("agent", "boss"):
        (tmp_path / name).write_text(f"the-key-of-{name}")
    return {"keys": [{"file": str(tmp_path / "agent")}, {"file": str(tmp_path / "boss"), "role": "approver"}]}


def client(name: str = "agent") -> httpx2.AsyncClient:
    return httpx2.AsyncClient(timeout=200, headers={"Authorization": f"Bearer the-key-of-{name}"})


@pytest.mark.parametrize("is_upgrade", [True, False])
async def test_an_execution_continues_on_a_server_of_another_version(
    tmp_path: Path, url: str | None, is_upgrade: bool, keys: dict[str, Any]
) -> None:
    release = tmp_path / "release"
    in_the_middle = f"box.put(n=1)\nbox.get_when_released(n=2, release={str(release)!r})\nbox.put(n=3)"
    async with servers(tmp_path, url, journal={"lease_s": 1}, server=keys) as (early, late):
        late.tree = later_version(tmp_path / "later")
        await early.start()
        await late.start()
        one, other = (early, late) if is_upgrade else (late, early)
        async with client() as http:
            paused = (await http.post(f"{one.url}/v1/execute", json={"code": ASKS})).json()
            running = await http.post(f"{one.url}/v1/execute", json={"code": in_the_middle, "wait_s": 0})
            await until(partial(has_line, tmp_path / "got", "2"))
            await one.kill()
            release.touch()
            assert (await approved(http, other, paused["id"])) == "completed"
            assert (await ended(http, other, running.headers["Location"])) == "completed"
            assert sorted((tmp_path / "put").read_text().split()) == ["1", "1", "2", "3"]
            await one.start()  # the earlier version starts again, on a journal that the later one has migrated
            again = (await http.post(f"{one.url}/v1/execute", json={"code": "box.get(n=4)"})).json()
            assert (again["status"], again["value"]) == ("completed", 4)


async def test_an_execution_that_would_replay_differently_is_paused_with_the_reason(
    tmp_path: Path, url: str | None
) -> None:
    release = tmp_path / "release"
    in_the_middle = f"box.put(n=1)\nbox.get_when_released(n=2, release={str(release)!r})\nbox.put(n=3)"
    async with servers(tmp_path, url, journal={"lease_s": 1}) as (early, late):
        late.tree = later_version(tmp_path / "later", replays_alike=False)
        await early.start()
        async with httpx2.AsyncClient(timeout=200) as http:
            running = await http.post(f"{early.url}/v1/execute", json={"code": in_the_middle, "wait_s": 0})
            await until(partial(has_line, tmp_path / "got", "2"))
            await early.kill()
            release.touch()
            await late.start()
            where = running.headers["Location"]
            assert (await ended(http, late, where)) == "paused"
            (note,) = (await http.get(f"{late.url}{where}")).json()["outcome"]["notes"]
            assert f"the version of codemode was {REPLAYS_FROM} and is now {LATER}" in note
            refused = await http.post(f"{late.url}{where}/resume")
            assert (refused.status_code, refused.json()["code"]) == (409, "execution_changed")
            await early.start()  # its own version continues it
            assert (await http.post(f"{early.url}{where}/resume")).json()["status"] == "completed"
            assert (tmp_path / "put").read_text().split() == ["1", "3"]


async def approved(http: httpx2.AsyncClient, server: Server, execution: str) -> str:
    """Approve what an execution waits for, as another person, and return how it ended."""
    async with client("boss") as boss:
        waiting = (await boss.get(f"{server.url}/v1/approvals")).json()["approvals"]
        verdicts = [{"id": each["id"], "digest": each["digest"], "verdict": "approved"} for each in waiting]
        answer = await boss.post(f"{server.url}/v1/approvals", json={"decisions": verdicts})
        assert answer.status_code == 200, answer.text
    return await ended(http, server, f"/v1/executions/{execution}")


async def ended(http: httpx2.AsyncClient, server: Server, where: str) -> str:
    """Return the status of an execution once it no longer runs."""
    status = "running"

    async def is_over() -> bool:
        nonlocal status
        status = (await http.get(f"{server.url}{where}")).json()["status"]
        return status not in ("queued", "running")

    await until(is_over)
    return status
