"""The dashboard and the alerts use metrics that servers and HAProxy report."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

import httpx2

from tests.integration.deploy.running import BEARER, DEPLOY, Servers, balancer

if TYPE_CHECKING:
    from pathlib import Path

FILES = (DEPLOY / "alerts.yaml", DEPLOY / "grafana" / "dashboards" / "codemode.json")
#: Two places in all, so that requests are rejected.
LOAD = {"running": 1, "waiting": 1, "wait_s": 30}
PROGRAMS = ("box.server()", "1 +", "box.fail()")


def used() -> dict[str, set[str]]:
    """Return the metrics of all queries, with the labels that each selects by."""
    found: dict[str, set[str]] = {}
    for file in FILES:
        text = file.read_text(encoding="utf-8").replace('\\"', '"')
        for name, selectors in re.findall(r"\b((?:codemode|haproxy)_\w+)(?:\{([^}]*)\})?", text):
            found.setdefault(name, set()).update(re.findall(r"(\w+)=", selectors))
    return found


def reported(text: str) -> dict[str, set[str]]:
    """Return the metrics of an answer in Prometheus format, with the labels of each."""
    found: dict[str, set[str]] = {}
    for name, labels in re.findall(r"^(\w+)(?:\{(.*)\})? \S+$", text, re.MULTILINE):
        found.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    return found


async def worked(url: str) -> str:
    """Run programs of several endings, more than there are places for, and return the metrics of the server."""
    async with httpx2.AsyncClient(base_url=url, headers=BEARER, timeout=200) as http:
        for code in PROGRAMS:
            await http.post("/v1/execute", json={"code": code})
        answers = await asyncio.gather(
            *(http.post("/v1/execute", json={"code": "import time; time.sleep(1)"}) for _ in range(4))
        )
        assert 429 in {answer.status_code for answer in answers}
        return (await http.get("/metrics")).text


async def test_the_metrics_of_the_dashboard_and_the_alerts_are_reported(tmp_path: Path) -> None:
    servers = Servers(tmp_path, load=LOAD, observe={"metrics": True})
    try:
        for port in servers.ports:
            await servers.start(port)
        text = await worked(f"http://127.0.0.1:{servers.ports[0]}")
        async with balancer(tmp_path, servers.ports) as running, httpx2.AsyncClient() as http:
            text += (await http.get(running.metrics)).text
    finally:
        await servers.end()
    found = reported(text)
    assert {name: labels - found.get(name, {"not reported"}) for name, labels in used().items()} == {
        name: set() for name in used()
    }
    assert used().keys() <= found.keys()
    assert len(used()) >= 10
    assert "codemode_executions_limit 1.0" in text
    assert "codemode_journal_writable 1.0" in text
    assert re.search(r"^codemode_requests_rejected_total [1-9]", text, re.MULTILINE)
