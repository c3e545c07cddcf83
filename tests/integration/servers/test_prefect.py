"""Prefect: OpenAPI 3.1 as FastAPI writes it, lists by POST with filters and offsets, validation errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.servers.running import program, running, value_of
from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.servers.running import Running


@pytest.fixture
def prefect(tmp_path: Path) -> Iterator[Running]:
    port = free_port()
    command = [program("prefect", "prefect"), "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    environment = {"PREFECT_HOME": str(tmp_path / "home"), "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
    url = f"http://127.0.0.1:{port}"
    with running(command, url, tmp_path, ready="/api/health", environment=environment, within_s=300) as server:
        yield server


@pytest.mark.timeout(420)
async def test_flows_are_made_filtered_paged_and_refused(prefect: Running) -> None:
    async with prefect.codemode("prefect", "/openapi.json", base_url=f"{prefect.url}/api") as service:
        ids = {tool.key.replace("/api/", "/"): tool.id for tool in service.catalog}
        create, found, delete = ids["POST /flows/"], ids["POST /flows/filter"], ids["DELETE /flows/{id}"]
        made = f"""
flows = [{create}(name=name, tags=["test"]) for name in ("one", "two", "three")]
wanted = {{"tags": {{"all_": ["test"]}}}}
first = {found}(flows=wanted, sort="NAME_ASC", limit=2)
rest = {found}(flows=wanted, sort="NAME_ASC", limit=2, offset=2)
{delete}(id=flows[0]["id"])
count = {ids["POST /flows/count"]}(flows=wanted)
([flow["name"] for flow in first], [flow["name"] for flow in rest], count)
"""
        assert await value_of(service, made) == [["one", "three"], ["two"], 2]
        failed = f"""
try:
    {ids["GET /flows/{id}"]}(id="11111111-1111-4111-8111-111111111111")
except Exception as error:
    result = error.status
result
"""
        assert await value_of(service, failed) == 404
