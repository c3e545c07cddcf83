"""PowerDNS: Swagger 2.0 as YAML, an API key, bodies that PATCH answers with nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.integration.servers.running import INSTALLED, program, running, value_of
from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.servers.running import Running

KEY = "a-key-for-tests"


@pytest.fixture
def powerdns(tmp_path: Path) -> Iterator[Running]:
    pdns = program("powerdns", "pdns_server")
    share = INSTALLED / "powerdns" / "root" / "usr"
    schema = share / "share/pdns-backend-sqlite3/schema/schema.sqlite3.sql"
    with closing(sqlite3.connect(tmp_path / "zones.db")) as database:
        database.executescript(schema.read_text(encoding="utf-8"))
    libraries = next(share.glob("lib/*-linux-gnu"))
    port = free_port()
    command = [
        pdns, f"--config-dir={tmp_path}", f"--socket-dir={tmp_path}", f"--module-dir={libraries / 'pdns'}",
        "--load-modules=libgsqlite3backend.so", "--launch=gsqlite3", "--gsqlite3-database=zones.db",
        "--local-address=127.0.0.1", f"--local-port={free_port()}", "--daemon=no", "--guardian=no",
        "--webserver=yes", "--webserver-address=127.0.0.1", f"--webserver-port={port}", "--api=yes", f"--api-key={KEY}",
    ]  # fmt: skip
    environment = {"LD_LIBRARY_PATH": str(libraries)}
    headers = {"X-API-Key": KEY}
    url = f"http://127.0.0.1:{port}"
    with running(command, url, tmp_path, ready="/api", headers=headers, environment=environment) as server:
        yield server


async def test_zones_are_made_changed_listed_and_refused(powerdns: Running, tmp_path: Path) -> None:
    secret = tmp_path / "key"
    secret.write_text(KEY, encoding="utf-8")
    credential = {"kind": "api_key", "name": "X-API-Key", "value": {"file": str(secret)}}
    async with powerdns.codemode(
        "dns", "/api/docs", base_url=f"{powerdns.url}/api/v1", credentials=[credential]
    ) as service:
        made = """
name = "example.org."
zone = dns.zones.create_zone(server_id="localhost", name=name, kind="Native", nameservers=["ns1.example.org."])
records = [{"content": "192.0.2.7", "disabled": False}]
rrset = {"name": "www.example.org.", "type": "A", "ttl": 300, "changetype": "REPLACE", "records": records}
dns.zones.patch_zone(server_id="localhost", zone_id=zone["id"], rrsets=[rrset])
found = dns.zones.list_zone(server_id="localhost", zone_id="example.org.")
(zone["name"], [r["records"][0]["content"] for r in found["rrsets"] if r["type"] == "A"])
"""
        assert await value_of(service, made) == ["example.org.", ["192.0.2.7"]]
        failed = """
try:
    dns.zones.create_zone(server_id="localhost", name="example.org.", kind="Native", nameservers=[])
except Exception as error:
    result = (type(error).__name__, error.status)
dns.zones.delete_zone(server_id="localhost", zone_id="example.org.")
(result, dns.zones.list_zones(server_id="localhost"))
"""
        (_, status), zones = await value_of(service, failed)
        assert status == 409
        assert zones == []
