from __future__ import annotations

import asyncio
import inspect
import re
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from fastapi.routing import APIRoute

from codemode.gateway.caller import Caller
from codemode.service import CodeMode
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.serving.http.request_mistakes import unread_body
from tests.integration.codemode.serving.http.described import DescribedTransport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.conftest import Gym

KEY = {"Authorization": "Bearer a-key"}
TIMEOUT_S = 200


@pytest.fixture
async def service(gym: Gym) -> AsyncIterator[CodeMode]:
    limits = {"wall_s": 40, "cpu_s": 1}
    async with CodeMode.from_settings(gym.settings(limits=limits, server={"request_limit_bytes": 10_000})) as service:
        yield service


@pytest.fixture
async def client(service: CodeMode, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    callers = Callers({key: Caller(key) for key in ("a-key", "another")}, KeyFile(tmp_path / "keys.json"))
    transport = DescribedTransport(create_app(service, callers))
    async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", timeout=TIMEOUT_S) as client:
        yield client


async def execute(client: httpx2.AsyncClient, code: str) -> Any:
    answer = await client.post("/v1/execute", json={"code": code}, headers=KEY)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_health_is_open_and_counts_the_tools_for_who_may_see_them(client: httpx2.AsyncClient) -> None:
    assert (await client.get("/healthz")).json() == {"status": "ok"}
    assert (await client.get("/healthz", headers=KEY)).json() == {"status": "ok", "tools": 137}
    assert (await client.get("/livez")).json() == {"status": "ok"}


async def test_the_service_is_ready_when_programs_can_run(client: httpx2.AsyncClient, service: CodeMode) -> None:
    answer = await client.get("/readyz")
    assert (answer.status_code, answer.json()["code"], answer.headers["retry-after"]) == (503, "not_ready", "5")
    await service.start_sandbox()
    assert (await client.get("/readyz")).status_code == 200


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic YTpi"}])
@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/v1/search"), ("POST", "/v1/execute"), ("GET", "/v1/tools"), ("GET", "/v1/tools/gym.core.get_gym_info")],
)
async def test_without_a_key_nothing_is_answered(
    client: httpx2.AsyncClient, method: str, path: str, headers: dict[str, str]
) -> None:
    answer = await client.request(method, path, headers=headers, json={} if method == "POST" else None)
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "unauthorized"
    assert "Bearer" in answer.headers["www-authenticate"]


async def test_a_wrong_body_without_a_key_is_not_looked_at(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/v1/execute", content=b"{", headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")


async def test_search_answers_text_and_hits(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/v1/search", json={"queries": ["freeze a membership"]}, headers=KEY)
    found = answer.json()
    assert found["hits"][0]["id"] == "gym.memberships.freeze_membership"
    assert "gym.memberships.freeze_membership(" in found["text"]


async def test_search_is_filtered_and_paged(client: httpx2.AsyncClient) -> None:
    async def found(**wish: Any) -> Any:
        return (await client.post("/v1/search", json={"queries": ["membership"], **wish}, headers=KEY)).json()

    everything, reads = await found(limit=100), await found(limit=100, effect="read", tag="memberships")
    assert 0 < reads["total"] < everything["total"]
    assert {hit["effect"] for hit in reads["hits"]} == {"read"}
    assert all(hit["id"].startswith("gym.memberships.") for hit in reads["hits"])
    second = await found(limit=2, offset=2)
    assert [hit["id"] for hit in second["hits"]] == [hit["id"] for hit in everything["hits"][2:4]]


async def test_a_program_runs_and_its_calls_are_in_the_ledger(client: httpx2.AsyncClient) -> None:
    outcome = await execute(client, "print('hello')\ngym.core.get_gym_info()['name']")
    assert (outcome["status"], outcome["output"]) == ("completed", "hello\n")
    assert isinstance(outcome["value"], str)
    (call,) = outcome["calls"]
    assert (call["tool"], call["state"]) == ("gym.core.get_gym_info", "read")


async def test_a_whole_list_is_one_call_of_the_program_and_a_call_for_each_page(client: httpx2.AsyncClient) -> None:
    outcome = await execute(client, "len(gym.clients.get_clients_list.items(status='active', page_size=100))")
    total = (await execute(client, "gym.clients.get_clients_list(status='active')['total']"))["value"]
    assert outcome["value"] == total > 100
    assert {call["tool"] for call in outcome["calls"]} == {"gym.clients.get_clients_list"}
    assert len(outcome["calls"]) == -(-total // 100)


async def test_a_tool_without_pages_is_refused_as_a_list(client: httpx2.AsyncClient) -> None:
    outcome = await execute(client, "gym.core.get_gym_info.items()")
    assert (outcome["status"], outcome["calls"]) == ("refused", [])
    assert "has no pages" in outcome["failure"]["refusals"][0]["message"]


async def test_a_refused_program_makes_no_call(client: httpx2.AsyncClient) -> None:
    outcome = await execute(client, "gym.core.get_gym_info()\ngym.clients.get_client_list(nam='x')")
    assert (outcome["status"], outcome["calls"]) == ("refused", [])
    (refusal,) = outcome["failure"]["refusals"]
    assert refusal["line"] == 2
    assert "gym.clients.get_clients_list" in refusal["hint"]


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("1 +", "refused"),
        ("while True: pass", "timed_out"),
        ("x = bytearray(2 * 1024 ** 3)", "out_of_memory"),
        ("'x' * 50_000_000", "failed"),
        ("1 / 0", "failed"),
    ],
)
async def test_a_program_that_goes_wrong_ends_in_a_typed_outcome_and_the_next_is_served(
    client: httpx2.AsyncClient, code: str, status: str
) -> None:
    outcome = await execute(client, code)
    assert outcome["status"] == status
    assert outcome["failure"]["message"]
    assert (await execute(client, "1 + 1"))["value"] == 2


async def test_programs_run_side_by_side(client: httpx2.AsyncClient) -> None:
    outcomes = await asyncio.gather(*[execute(client, f"gym.core.get_gym_info() and {n}") for n in range(8)])
    assert [outcome["value"] for outcome in outcomes] == list(range(8))


async def test_tools_are_listed_a_page_at_a_time(client: httpx2.AsyncClient) -> None:
    first = (await client.get("/v1/tools", params={"limit": 100}, headers=KEY)).json()
    rest = (await client.get("/v1/tools", params={"limit": 100, "offset": 100}, headers=KEY)).json()
    ids = [tool["id"] for tool in (*first["tools"], *rest["tools"])]
    assert (first["total"], len(set(ids))) == (137, 137)
    assert ids == sorted(ids)


async def test_a_tool_is_shown_by_id_and_by_operation_id(client: httpx2.AsyncClient) -> None:
    by_id = (await client.get("/v1/tools/gym.memberships.freeze_membership", headers=KEY)).json()
    by_alias = (await client.get("/v1/tools/freeze_membership", headers=KEY)).json()
    assert by_id == by_alias
    assert "clientId" in by_id["documentation"]


async def test_an_unknown_tool_is_a_problem_with_the_nearest_names(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/v1/tools/gym.memberships.freeze_memberships", headers=KEY)
    assert answer.status_code == 404
    assert answer.json()["code"] == "tool_not_found"
    assert answer.json()["nearest"][0] == "gym.memberships.freeze_membership"


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"{", 422, "request_invalid"),
        (b'{"cod": "1"}', 422, "request_invalid"),
        (b'{"code": "' + b"1" * 20_000 + b'"}', 413, "request_too_large"),
    ],
)
async def test_a_bad_request_is_a_problem(client: httpx2.AsyncClient, content: bytes, status: int, code: str) -> None:
    headers = KEY | {"Content-Type": "application/json"}
    answer = await client.post("/v1/execute", content=content, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"


async def test_without_keys_only_loopback_names_are_served(service: CodeMode, tmp_path: Path) -> None:
    transport = DescribedTransport(create_app(service, Callers({}, KeyFile(tmp_path / "keys.json"))))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        for host in ("localhost", "127.0.0.1:8130", "[::1]:8130", "[::1]"):
            assert (await client.get("/v1/tools", headers={"Host": host})).status_code == 200, host
        for host in ("attacker.example", "testserver", "localhost.attacker.example", "localhost@attacker.example", "["):
            assert (await client.get("/v1/tools", headers={"Host": host})).status_code == 400, host


FOREIGN = [
    {"Origin": "https://attacker.example"},
    {"Origin": "null"},
    {"Origin": "http://localhost:3000"},
    {"Origin": "file://"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
]


@pytest.mark.parametrize("headers", FOREIGN)
async def test_without_keys_a_page_of_another_site_changes_nothing(
    service: CodeMode, tmp_path: Path, headers: dict[str, str]
) -> None:
    app = create_app(service, Callers({}, KeyFile(tmp_path / "keys.json")))
    routes = [
        (method, route.path) for route in app.routes if isinstance(route, APIRoute) for method in route.methods or ()
    ]
    changing = [(method, path) for method, path in routes if method not in ("GET", "HEAD")]
    assert {"/v1/execute", "/v1/executions/{execution}/cancel", "/v1/executions/{execution}/rollback"} <= {
        re.sub(r"\{\w+\}", "{execution}", path) for _, path in changing
    }
    transport = DescribedTransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost:8130") as client:
        for method, path in [*changing, ("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp")]:
            answer = await client.request(method, re.sub(r"\{\w+\}", "one", path), headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (403, "cross_site"), path
        assert (await client.get("/livez", headers={"Sec-Fetch-Site": "cross-site"})).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [{}, {"Origin": "http://localhost:8130"}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}],
)
async def test_without_keys_the_own_page_and_programs_are_served(
    service: CodeMode, tmp_path: Path, headers: dict[str, str]
) -> None:
    transport = DescribedTransport(create_app(service, Callers({}, KeyFile(tmp_path / "keys.json"))))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost:8130") as client:
        assert (await client.post("/v1/search", json={"queries": ["x"]}, headers=headers)).status_code == 200


async def test_mcp_refuses_a_foreign_origin_with_keys_too(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/mcp", json={}, headers={"Origin": "https://attacker.example"})
    assert (answer.status_code, answer.json()["code"]) == (403, "cross_site")
    searched = await client.post("/v1/search", json={"queries": ["x"]}, headers=KEY | {"Origin": "https://a.example"})
    assert searched.status_code == 200


async def test_the_interface_describes_itself(client: httpx2.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()
    assert {"/v1/search", "/v1/execute", "/v1/tools", "/v1/tools/{name}", "/healthz"} <= set(document["paths"])


@pytest.mark.parametrize(
    ("content", "media_type", "said"),
    [
        (b'{"code":', "application/json", "body: not JSON: Expecting value at character 8"),
        (b'{"code": "1"}', "application/x-www-form-urlencoded", "with it 'Content-Type: application/json'"),
        (b'{"cod": "1"}', "application/json", "body.cod: unknown name; did you mean 'code'?"),
        (b"{}", "application/json", "give code, a Python program"),
    ],
)
async def test_a_wrong_body_is_told_what_is_wrong_with_it(
    client: httpx2.AsyncClient, content: bytes, media_type: str, said: str
) -> None:
    answer = await client.post("/v1/execute", content=content, headers=KEY | {"Content-Type": media_type})
    assert answer.status_code == 422
    assert said in answer.json()["detail"]


@pytest.mark.parametrize(
    ("method", "target", "at", "says"),
    [
        ("GET", "/v1/tools?limt=1", "query.limt", "did you mean 'limit'? Valid: namespace, limit, offset"),
        ("GET", "/v1/tools?limit=1&Offset=2&x=", "query.x", "unknown name. Valid: namespace, limit, offset"),
        ("GET", "/v1/tools/gym.core.login?detail=full", "query.detail", "Valid: nothing"),
        ("GET", "/v1/executions?state=paused", "query.state", "did you mean 'status'? Valid: status, limit, before"),
        ("POST", "/v1/execute?wait_s=1", "query.wait_s", "Valid: nothing"),
        (
            "POST",
            "/v1/execute",
            "body.wiat_s",
            "did you mean 'wait_s'? Valid: code, resume_from, fresh_reads, inputs, dry_run, conversation, plan, wait_s",
        ),
    ],
)
async def test_a_name_that_is_not_there_is_said_with_the_nearest_one(
    client: httpx2.AsyncClient, method: str, target: str, at: str, says: str
) -> None:
    body = None if method == "GET" else {"code": "1", **({"wiat_s": 1} if at == "body.wiat_s" else {})}
    answer = await client.request(method, target, json=body, headers=KEY)
    assert (answer.status_code, answer.json()["code"]) == (422, "request_invalid")
    (mistake,) = [one for one in answer.json()["errors"] if one["at"] == at]
    assert says in mistake["message"]


async def test_probes_may_ask_with_anything(client: httpx2.AsyncClient) -> None:
    assert (await client.get("/livez?cache=no")).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status", "said"),
    [
        (
            "GET",
            "/v1/tool",
            404,
            "unknown path /v1/tool; did you mean '/v1/tools'? /openapi.json lists all paths",
        ),
        ("GET", "/metrics", 404, "metrics are off; turn them on with `observe: {metrics: true}` in the configuration"),
        ("GET", "/zzzz", 404, "unknown path /zzzz; /openapi.json lists all paths"),
        ("PUT", "/v1/search", 405, "/v1/search accepts POST, not PUT"),
        ("GET", "/v1/tools?namespace=gmy", 422, "no tool has the namespace 'gmy'; nearest: gym"),
    ],
)
async def test_a_place_that_is_none_is_said_with_the_nearest(
    client: httpx2.AsyncClient, method: str, path: str, status: int, said: str
) -> None:
    answer = await client.request(method, path, headers=KEY)
    assert (answer.status_code, answer.json()["detail"]) == (status, said)
    assert (answer.headers.get("allow") == "POST") is (status == 405)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"queries": ["\xff"]}', "body: not UTF-8 text: invalid start byte at byte 14"),
        (b'{"queries": ["x"], "limit": ' + b"1" * 5_000 + b"}", "body: it contains a number with too many digits"),
        (
            b"",
            "body: send a JSON object; valid: queries, namespace, detail, source, effect, tag, limit, offset, "
            "introduce",
        ),
        (
            b"[]",
            "body: send a JSON object; valid: queries, namespace, detail, source, effect, tag, limit, offset, "
            "introduce",
        ),
    ],
)
async def test_a_body_that_is_none_is_told_what_it_should_be(
    client: httpx2.AsyncClient, body: bytes, said: str
) -> None:
    headers = {**KEY, "Content-Type": "application/json"}
    answer = await client.post("/v1/search", content=body, headers=headers)
    assert (answer.status_code, answer.json()["code"], answer.json()["detail"]) == (422, "request_invalid", said)
    assert unread_body(RecursionError()) == "body: nested too deeply"


def test_no_request_runs_in_a_thread(service: CodeMode, tmp_path: Path) -> None:
    """FastAPI hands plain functions over to a thread, which takes longer than they do."""
    routes = create_app(service, Callers({}, KeyFile(tmp_path / "keys.json"))).routes
    dependants = [route.dependant for route in routes if isinstance(route, APIRoute) and route.path.startswith("/v1")]
    assert len(dependants) > 10
    for each in (each for dependant in dependants for each in (dependant, *dependant.dependencies)):
        call = each.call if inspect.isroutine(each.call) else type(each.call).__call__
        assert inspect.iscoroutinefunction(call), call
