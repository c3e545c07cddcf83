"""Kinto: Swagger 2.0 from the server, basic authentication, ETags, JSON Patch, pages by a token in a header."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.servers.running import program, running, value_of
from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.servers.running import Running

SETTINGS = """
[server:main]
use = egg:waitress#main
host = 127.0.0.1
port = {port}
[app:main]
use = egg:kinto
kinto.storage_backend = kinto.core.storage.memory
kinto.cache_backend = kinto.core.cache.memory
kinto.permission_backend = kinto.core.permission.memory
multiauth.policies = basicauth
kinto.bucket_create_principals = system.Authenticated
kinto.userid_hmac_secret = for-tests
kinto.paginate_by = 2
[loggers]
keys = root
[handlers]
keys = console
[formatters]
keys = plain
[logger_root]
level = WARN
handlers = console
[handler_console]
class = StreamHandler
args = (sys.stderr,)
formatter = plain
[formatter_plain]
format = %(message)s
"""


@pytest.fixture
def kinto(tmp_path: Path) -> Iterator[Running]:
    command = program("small", "kinto")
    port = free_port()
    (tmp_path / "kinto.ini").write_text(SETTINGS.format(port=port), encoding="utf-8")
    line = [command, "start", "--ini", "kinto.ini", "--port", str(port)]
    with running(line, f"http://127.0.0.1:{port}", tmp_path, ready="/v1/__heartbeat__") as server:
        yield server


async def test_records_are_made_listed_patched_paged_and_refused(kinto: Running, tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text("for-tests", encoding="utf-8")
    credential = {"kind": "basic", "username": "me", "password": {"file": str(secret)}}
    async with kinto.codemode("kinto", "/v1/__api__", base_url=f"{kinto.url}/v1", credentials=[credential]) as service:
        made = """
kinto.buckets.update_bucket(id="home")
kinto.collections.update_collection(bucket_id="home", id="tasks")
where = {"bucket_id": "home", "collection_id": "tasks"}
for title in ("eggs", "milk", "bread"):
    kinto.records.create_record(**where, data={"title": title, "done": False})
first = kinto.records.get_records(**where, _sort=["title"])["data"]
kinto.records.patch_record(**where, id=first[0]["id"], data={"done": True})
again = kinto.records.get_record(**where, id=first[0]["id"])["data"]
pages = [page["data"] for page in kinto.records.get_records.pages(**where, _sort=["title"])]
([r["title"] for r in first], again["done"], [[r["title"] for r in page] for page in pages])
"""
        assert await value_of(service, made) == [["bread", "eggs"], True, [["bread", "eggs"], ["milk"]]]
        failed = """
try:
    kinto.records.update_record(**{"bucket_id": "home", "collection_id": "tasks"}, id=ID, data={}, If_Match='"1"')
except Exception as error:
    result = error.status
result
""".replace("ID", repr("11111111-1111-4111-8111-111111111111"))
        assert await value_of(service, failed) in (404, 412)
