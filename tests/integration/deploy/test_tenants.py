"""`deploy/haproxy-tenants.cfg` in front of the servers of two tenants: nobody reaches the server of another."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx2

from tests.integration.deploy.running import BEARER, DEPLOY, Servers, end, haproxy
from tests.ports import free_port

if TYPE_CHECKING:
    from pathlib import Path

TENANTS = ("acme", "globex")


async def ask(http: httpx2.AsyncClient, host: str) -> httpx2.Response:
    return await http.post("/v1/execute", json={"code": "box.server()"}, headers={"Host": host})


async def until_connected(http: httpx2.AsyncClient) -> None:
    while True:
        try:
            await http.get("/")
        except httpx2.ConnectError:
            await asyncio.sleep(0.05)
        else:
            return


async def test_a_host_name_leads_to_its_tenant_and_to_nobody_else(tmp_path: Path) -> None:
    text = (DEPLOY / "haproxy-tenants.cfg").read_text(encoding="utf-8")
    servers = []
    for tenant, port in zip(TENANTS, ("8101", "8102"), strict=True):
        (tmp_path / tenant).mkdir()
        servers.append(Servers(tmp_path / tenant, name=tenant))
        text = text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{servers[-1].ports[0]}")
    configuration = tmp_path / "haproxy.cfg"
    configuration.write_text(text, encoding="utf-8")
    bound = free_port()
    variables = {"CODEMODE_BIND": f"127.0.0.1:{bound}", "CODEMODE_TENANTS": str(DEPLOY / "tenants.map")}
    try:
        acme, globex = [await each.start(each.ports[0]) for each in servers]
        async with (
            haproxy(tmp_path, configuration, **variables),
            httpx2.AsyncClient(base_url=f"http://127.0.0.1:{bound}", headers=BEARER, timeout=200) as http,
        ):
            await until_connected(http)
            hosts = [f"{tenant}.example.com" for tenant in TENANTS]
            values = [(await ask(http, host)).json()["value"] for host in (*hosts, "ACME.example.com:8080")]
            assert values == [acme.pid, globex.pid, acme.pid]
            assert [(await ask(http, host)).status_code for host in ("other.example.com", "acme")] == [404, 404]
            await end(acme)
            assert (await ask(http, hosts[0])).status_code == 503
            assert (await ask(http, hosts[1])).json()["value"] == globex.pid
    finally:
        for each in servers:
            await each.end()
