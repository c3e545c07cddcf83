"""A server with the content that a team leaves in a day: each page of the console has something to show."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx2

from tests.browser.server import AGENT, CONFIGURATION, Server, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.conftest import Gym

_POLICY = "policy:\n  rules: [{{name: a person looks"
_SOURCES = "sources:\n"

#: A source that does not answer, changes that a person decides on, and every feature.
TEAM = (
    CONFIGURATION.replace(
        _POLICY,
        "policy:\n  rules: [{{name: changes, effects: [write, destructive], decision: ask, reason: money and people}}, "
        "{{name: a person looks",
    ).replace(_SOURCES, "sources:\n  billing: {{location: 'http://127.0.0.1:9/openapi.json'}}\n")
    + """
saved: {{folder: {folder}/programs, roles: [default]}}
observe: {{audit_file: {folder}/audit.jsonl}}
limits: {{wall_s: 600}}
agent: {{model: gpt-5, price: {{input: 1.25, output: 10, cached_input: 0.125}}}}
notify: {{targets: {{ops: {{kind: slack, url: 'http://127.0.0.1:9/hook'}}}}}}
"""
)

#: Programs by what becomes of them.
PROGRAMS = {
    "completed": (
        "# Count the clients by status\nfrom collections import Counter\n"
        "found = gym.clients.get_clients_list(limit=50)\n"
        "Counter(one['status'] for one in found['items'])"
    ),
    "several": (
        "import asyncio\n# Read the visits of many clients\n"
        "found = gym.clients.get_clients_list(limit=50)['items']\n"
        "visits = await asyncio.gather(*[gym.clients.get_client_visits(clientId=one['id']) for one in found])\n"
        "trainers = gym.trainers.get_trainers_list(limit=3)\nprint('read', len(visits))\nlen(visits)"
    ),
    "failed": (
        "trainers = gym.trainers.get_trainers_list(limit=2)\n"
        "free = [one for one in trainers['items'] if one.get('isFree')]\nif not free:\n"
        "    raise ValueError('no trainer is free on Saturday')"
    ),
    "paused": (
        "import asyncio\n# Create three leads for the open day\nnames = ['Ann', 'Mallory', 'Cleo']\n"
        "await asyncio.gather(*[gym.leads.create_lead(branchId=1, name=name, phone='+49 30 1234') for name in names])"
    ),
    "paused alone": (
        "salary = 3\n# Pay the salary of March\ngym.salary.pay_salary(salaryId=salary, paymentMethod='cash')"
    ),
    "running": (
        "import asyncio\n# Watch the attendance\ngym.attendance.get_attendance_today()\nawait asyncio.sleep(500)"
    ),
    "refused": "gym.clients.get_client_list(limit=1)",
}


@dataclass
class Team:
    """The server, and the ids of its executions by their names in `PROGRAMS`."""

    server: Server
    executions: dict[str, str] = field(default_factory=dict)
    plan: str = ""


@asynccontextmanager
async def busy_team(folder: Path, gym: Gym) -> AsyncIterator[Team]:
    """Run a server and the programs of a day."""
    (folder / "programs").mkdir()
    with serving(folder, gym, TEAM) as server:
        team = Team(server)
        headers = {"Authorization": f"Bearer {AGENT}"}
        async with httpx2.AsyncClient(base_url=server.url, headers=headers, timeout=200) as client:
            try:
                await _run_programs(team, client)
                await _use_features(team, client)
                yield team
            finally:  # a server that ends waits for its programs
                await client.post(f"/v1/executions/{team.executions['running']}/cancel")


async def _run_programs(team: Team, client: httpx2.AsyncClient) -> None:
    for name, code in PROGRAMS.items():
        background = name == "running"
        body = {"code": code, "conversation": "open day", **({"wait_s": 0} if background else {})}
        answer = (await client.post("/v1/execute", json=body)).json()
        team.executions[name] = answer["id"]
        assert answer["status"] in (name.split()[0], "completed", "running", "queued"), answer


async def _use_features(team: Team, client: httpx2.AsyncClient) -> None:
    """Leave a plan, a saved program, files, and values of a conversation."""
    code = "# Bill the yearly members\n[gym.salary.pay_salary(salaryId=n, paymentMethod='card') for n in (1, 2, 3)]"
    dry = (await client.post("/v1/execute", json={"code": code, "dry_run": True})).json()
    assert dry.get("plan"), dry
    team.plan = dry["plan"]
    saved = {
        "execution": team.executions["completed"],
        "name": "clients_by_status",
        "description": "Count the clients of the gym by their status.",
    }
    answer = await client.post("/v1/saved", json=saved)
    assert answer.status_code == 200, answer.text
    kinds = {"Content-Type": "text/csv"}
    data, place = b"a,b\n1,2\n" * 40, "/v1/content?name=members of the open day.csv"
    answer = await client.post(place, content=data, headers=kinds)
    assert answer.status_code < 300, answer.text
    for code in ("store('guests', ['Ann', 'Cleo'])\n2", "store('budget', {'total': 1200})\nload('guests')"):
        answer = await client.post("/v1/execute", json={"code": code, "conversation": "open day"})
        assert answer.json()["status"] == "completed", answer.text
