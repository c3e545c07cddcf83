"""Who may call, what is refused, and many calls at once."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from starlette.testclient import TestClient

from api_specs.gym.app import create_app
from api_specs.gym.document import load

if TYPE_CHECKING:
    from pathlib import Path


def test_every_operation_asks_for_the_token(unchanged: Any, subtests: pytest.Subtests) -> None:
    for operation in load().operations.values():
        path = operation.path.replace("{entityType}", "client").format_map(_Fives())
        for header in ({"Authorization": ""}, {"Authorization": "Bearer another"}, {"Authorization": "a-token"}):
            with subtests.test(operation.id, header=header):
                response = unchanged.http.request(operation.method, path, headers=header)
                assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")
                assert response.headers["content-type"] == "application/problem+json"


class _Fives(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "5"


#: Operation, arguments, and the error: where it is, and what its message holds.
_INVALID: list[tuple[str, dict[str, Any], str, str]] = [
    ("get_clients_list", {"limit": 0}, "query limit", "0 is less than the minimum of 1"),
    ("get_clients_list", {"limit": 201}, "query limit", "201 is greater than the maximum of 200"),
    ("get_clients_list", {"limit": "many"}, "query limit", "'many' is not of type 'integer'"),
    ("get_clients_list", {"status": "gone"}, "query status", "'gone' is not one of"),
    ("get_clients_list", {"joinedFrom": "1.3.2026"}, "query joinedFrom", "is not a 'date'"),
    ("get_attendance_by_date", {}, "query date", "is required"),
    ("get_client_details", {"clientId": "john"}, "path clientId", "'john' is not of type 'integer'"),
    ("send_client_message", {"clientId": 5, "channel": "sms"}, "body ", "'text' is a required property"),
    ("update_client", {"clientId": 5}, "body ", "should be non-empty"),
    ("update_client", {"clientId": 5, "age": 3}, "body ", "'age' was unexpected"),
    ("update_client", {"clientId": 5, "email": "nobody"}, "body email", "'nobody' is not a 'email'"),
    ("update_client", {"clientId": 5, "branchId": 99}, "body branchId", "There is no branch 99."),
    ("update_client", {"clientId": 5, "trainerId": 1}, "body trainerId", "There is no trainer 1."),  # a manager
    ("bulk_delete_clients", {"clientIds": [1, 1]}, "body clientIds", "has non-unique elements"),
    (
        "book_appointment",
        {"serviceId": 1, "trainerId": 3, "clientId": 5, "startsAt": "2026-03-03T10:00:00"},
        "body startsAt",
        "is not a 'date-time'",
    ),
]


def test_an_argument_that_is_not_valid_is_named(unchanged: Any, subtests: pytest.Subtests) -> None:
    for name, arguments, where, message in _INVALID:
        with subtests.test(name, arguments=arguments):
            (error,) = unchanged(name, **arguments, expect=422)["errors"]
            assert f"{error['in']} {error['name']}" == where
            assert message in error["message"]


def test_a_parameter_that_does_not_exist_is_refused(unchanged: Any) -> None:
    response = unchanged.http.get("/clients", params={"firstname": "John"})
    assert response.status_code == 422
    assert response.json()["detail"] == "firstname: unknown parameter"


def test_a_body_that_is_not_an_object_is_refused(unchanged: Any) -> None:
    for body in (b"", b"{", b"[]", b'{"theme": NaN}', b"[" * 100_000, b"\xff", b'"dark"'):
        response = unchanged.http.put("/gym/theme", content=body)
        assert (response.status_code, response.headers["content-type"]) == (422, "application/problem+json"), body[:9]


def test_values_that_the_database_cannot_hold_are_refused(unchanged: Any) -> None:
    assert unchanged.http.get(f"/clients/{10**30}").status_code == 422
    surrogate = b'{"code": "\\ud800"}'
    assert unchanged.http.post("/offers/validate", content=surrogate).status_code == 422


def test_a_record_that_does_not_exist_is_a_404(unchanged: Any, subtests: pytest.Subtests) -> None:
    operations = [one for one in load().operations.values() if "{" in one.path.replace("{entityType}", "")]
    for operation in operations:
        path = operation.path.replace("{entityType}", "lead")
        number = path[path.index("{") : path.index("}") + 1]
        arguments = _smallest_body(operation.body) if operation.body else None
        with subtests.test(operation.id):
            response = unchanged.http.request(operation.method, path.replace(number, "99999"), json=arguments)
            assert response.status_code == 404
            assert response.json()["detail"].startswith("There is no ")
            assert response.json()["detail"].endswith(" 99999.")


def _smallest_body(schema: dict[str, Any]) -> dict[str, Any]:
    """The required fields, or else the first one, with their examples or what their type suggests."""
    properties = load().resolved(schema)["properties"]
    needed = load().resolved(schema).get("required") or list(properties)[:1]
    return {name: _example(load().resolved(properties[name])) for name in needed}


def _example(schema: dict[str, Any]) -> Any:
    plain = {"integer": 1, "number": 1}.get(schema.get("type", ""), "2026-03-02")
    return next(iter(schema.get("examples") or schema.get("enum") or [plain]))


def test_an_unknown_path_and_a_wrong_method_are_problems_too(unchanged: Any) -> None:
    for method, path, status in (("GET", "/nowhere", 404), ("DELETE", "/clients", 405)):
        response = unchanged.http.request(method, path)
        assert (response.status_code, response.json()["status"]) == (status, status)
        assert response.headers["content-type"] == "application/problem+json"


async def test_parallel_writes_are_all_there_and_limits_hold(tmp_path: Path, seeded: Path) -> None:
    app = create_app(_copy(seeded, tmp_path), token="t")
    transport = httpx2.ASGITransport(app=app)
    headers = {"Authorization": "Bearer t"}
    async with httpx2.AsyncClient(transport=transport, base_url="http://gym", headers=headers) as client:
        stock = [client.post("/products/1/stock", json={"change": -1}) for _ in range(50)]
        texts = [client.post("/clients/5/notes", json={"text": f"note {n}"}) for n in range(50)]
        reads = [client.get("/clients", params={"limit": 5}) for _ in range(20)]
        answers = await asyncio.gather(*stock, *texts, *reads)
        statuses = [answer.status_code for answer in answers]
        assert statuses[:50].count(200) == 34  # as many as there were in stock
        assert statuses[:50].count(409) == 16
        assert statuses[50:] == [201] * 50 + [200] * 20
        notes = (await client.get("/clients/5/notes", params={"text": "note ", "limit": 200})).json()
        assert {note["text"] for note in notes["items"]} == {f"note {n}" for n in range(50)}


def test_parallel_threads_are_served_one_transaction_at_a_time(gym: Any) -> None:
    gym.http = _client(gym.http.app, dict(gym.http.headers))  # one that runs each call in an event loop of its own
    with ThreadPoolExecutor(8) as pool:
        entries = list(pool.map(lambda _: gym("adjust_loyalty_points", clientId=5, points=1, reason="x"), range(40)))
    assert sorted(entry["balance"] for entry in entries) == list(range(621, 661))


def test_a_file_keeps_what_was_written(tmp_path: Path, seeded: Path) -> None:
    path = _copy(seeded, tmp_path)
    headers = {"Authorization": "Bearer t"}
    for expected in ("light", "dark"):
        client = _client(create_app(path, token="t"), headers)
        assert client.get("/gym").json()["theme"] == expected
        client.put("/gym/theme", json={"theme": "dark"})


@pytest.mark.parametrize("clock", [date(2024, 2, 29), datetime(2027, 12, 31, 23, 30, tzinfo=UTC)])
def test_the_data_are_relative_to_the_clock(clock: date) -> None:
    client = _client(create_app(token="t", clock=clock), {"Authorization": "Bearer t"})
    gym = client.get("/gym").json()
    assert gym["today"] == clock.isoformat()[:10]
    assert gym["activeClients"] > 300
    assert client.get("/attendance/today").json()["total"] > 10
    assert client.get("/clients/5").json()["membershipStatus"] == "active"
    assert client.get("/salaries/pending").json()["total"] > 5


def test_the_same_clock_gives_the_same_data(unchanged: Any) -> None:
    again = _client(create_app(token="t"), {"Authorization": "Bearer t"})
    for path in ("/clients", "/class-sessions", "/salaries/pending", "/leads", "/revenue/stats"):
        assert again.get(path).content == unchanged.http.get(path).content


def test_the_command_says_where_it_is_once_it_serves() -> None:
    command = [sys.executable, "-m", "api_specs.gym", "--port", "0", "--token", "t", "--clock", "2026-05-05T10:00:00Z"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            ready, url = process.stdout.readline().split()
            answer = httpx2.get(f"{url}/gym", headers={"Authorization": "Bearer t"})
            assert (ready, answer.json()["today"]) == ("READY", "2026-05-05")
            assert httpx2.get(f"{url}/openapi.json").json() == load().contents
        finally:
            process.terminate()
            process.wait(10)


def _client(app: Any, headers: dict[str, str]) -> TestClient:
    return TestClient(app, headers=headers)


def _copy(seeded: Path, folder: Path) -> Path:
    path = folder / "gym.sqlite"
    path.write_bytes(seeded.read_bytes())
    return path
