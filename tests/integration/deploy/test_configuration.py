"""`deploy/codemode.yaml` on a real server: its secrets as `deploy/secrets.sh` makes them, its journal in PostgreSQL."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import yaml

from tests.integration.deploy.running import DEPLOY, Servers
from tests.postgres import cluster, programs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Gym


@contextmanager
def configuration(folder: Path, gym: Gym) -> Iterator[dict[str, Any]]:
    """The file with the addresses of this machine in the place of the containers'."""
    secrets = folder / "secrets"
    subprocess.run(["sh", str(DEPLOY / "secrets.sh"), str(secrets)], check=True)
    text = (DEPLOY / "codemode.yaml").read_text(encoding="utf-8").replace("/run/secrets", str(secrets))
    whole: dict[str, Any] = yaml.safe_load(text.replace("http://gym:8137", gym.url))
    whole["sources"]["gym"]["credentials"][0]["token"] = {"file": str(gym.token_file)}
    whole["observe"]["traces"] = False  # nobody takes them here
    with cluster() as url:
        (secrets / "journal_url").unlink()
        (secrets / "journal_url").write_text(url, encoding="utf-8")
        yield whole


async def ask(http: httpx2.AsyncClient, key: str, code: str) -> dict[str, Any]:
    answer = await http.post("/v1/execute", json={"code": code}, headers={"Authorization": f"Bearer {key}"})
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.skipif(programs() is None, reason="install the distribution's package postgresql")
async def test_callers_work_and_prometheus_reads_metrics_alone(tmp_path: Path, gym: Gym) -> None:
    with configuration(tmp_path, gym) as sections:
        servers = Servers(tmp_path, **sections)
        await servers.start(servers.ports[0])
        keys = {name: (tmp_path / "secrets" / name).read_text() for name in ("api_key", "metrics_key")}
        url = f"http://127.0.0.1:{servers.ports[0]}"
        async with httpx2.AsyncClient(base_url=url, timeout=200) as http:
            worked = await ask(http, keys["api_key"], "gym.core.get_gym_info()")
            denied = await ask(http, keys["metrics_key"], "gym.core.get_gym_info()")
            metrics = await http.get("/metrics", headers={"Authorization": f"Bearer {keys['metrics_key']}"})
        await servers.end()
    assert worked["status"] == "completed", worked
    assert (denied["status"], denied["calls"]) == ("failed", []), denied
    assert 'codemode_calls_total{source="gym",state="read"} 1.0' in metrics.text
    assert (await servers.processes[0].wait()) == 0
