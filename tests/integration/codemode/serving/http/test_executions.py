"""Executions over HTTP: begun, waited for, followed, cancelled, decided on, taken back."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from codemode import CodeMode, Settings
from codemode.features.cards.desk import Cards
from codemode.gateway.caller import Caller
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from tests.integration.codemode.serving.http.bank import AGENT, ASK, BOSS, OTHER, PAYS, Bank
from tests.integration.codemode.serving.http.described import DescribedTransport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
def bank() -> Bank:
    return Bank()


def settings(folder: Path, **sections: Any) -> Settings:
    given = {"policy": ASK, "journal": {"enabled": True}, "limits": {"wall_s": 100}, **sections}
    return Settings.model_validate({"state_folder": folder / "state", "cache_folder": folder / "cache", **given})


@pytest.fixture
async def service(bank: Bank, tmp_path: Path) -> AsyncIterator[CodeMode]:
    functions = {"bank": [bank.pay, bank.take_back, bank.lend, bank.wait]}
    async with CodeMode.from_settings(settings(tmp_path), functions=functions) as service:
        yield service


@pytest.fixture
async def client(service: CodeMode, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    known = {"agent": Caller("agent"), "other": Caller("other"), "boss": Caller("boss", "approver")}
    app = create_app(service, Callers(known, KeyFile(tmp_path / "keys.json")))
    async with httpx2.AsyncClient(
        transport=DescribedTransport(app), base_url="http://testserver", timeout=200, headers=AGENT
    ) as client:
        yield client


async def execute(client: httpx2.AsyncClient, code: str, headers: dict[str, str] | None = None, **given: Any) -> Any:
    answer = await client.post("/v1/execute", json={"code": code, **given}, headers=headers or {})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def approvals(client: httpx2.AsyncClient, headers: dict[str, str] = BOSS) -> list[dict[str, Any]]:
    return (await client.get("/v1/approvals", headers=headers)).json()["approvals"]  # type: ignore[no-any-return]


async def test_a_call_that_is_asked_for_is_approved_by_another_key_and_the_program_goes_on(
    client: httpx2.AsyncClient, bank: Bank
) -> None:
    paused = await execute(client, PAYS)
    assert paused["status"] == "paused"
    (pending,) = paused["pending"]
    assert (pending["tool"], pending["arguments"]) == ("bank.pay", {"to": "ann", "amount": 10})
    assert "money leaves" in pending["reason"]
    assert bank.sent == []

    for amount, name in ((10, "ann"), (20, "bob")):
        (call,) = await approvals(client)
        assert call["arguments"] == {"to": name, "amount": amount}
        decided = await client.post(
            f"/v1/approvals/{call['id']}", json={"digest": call["digest"], "verdict": "approved"}, headers=BOSS
        )
        assert decided.status_code == 200, decided.text
        stored = await client.get(f"/v1/executions/{paused['id']}")
        while stored.json()["status"] == "running":
            await asyncio.sleep(0.01)
            stored = await client.get(f"/v1/executions/{paused['id']}")
    assert stored.json()["status"] == "completed"
    assert stored.json()["outcome"]["value"] == 30
    assert bank.sent == [("ann", 10), ("bob", 20)]


async def test_a_card_is_shown_and_one_decision_covers_all_calls_of_the_tool(
    client: httpx2.AsyncClient, bank: Bank, service: CodeMode
) -> None:
    paused = await execute(client, PAYS)
    (listed,) = await approvals(client)
    assert listed["requester"] == {"id": "agent", "label": "", "role": "default"}
    assert (listed["summary"], listed["effect"]) == ("Send money.", "write")
    answer = await client.get(f"/v1/approvals/{listed['id']}", headers=BOSS)
    card = answer.json()
    assert {name: card[name] for name in listed} == listed
    assert [one["name"] for one in card["details"]] == ["to", "amount"]
    assert card["text"].startswith("Approve bank.pay?")
    assert card["twins"] == []
    assert card["answers"]["console"] == f"/console/approvals/{listed['id']}"
    body = {"digest": listed["digest"], "verdict": "approved", "up_to": 2}
    decided = await client.post(f"/v1/approvals/{listed['id']}", json=body, headers=BOSS)
    assert decided.json()["approvals"][0]["up_to"] == 2
    stored = await service.executions.wait(paused["id"], Caller("agent"), 30)
    assert (stored.status, bank.sent) == ("completed", [("ann", 10), ("bob", 20)])
    shown = (await client.get(f"/v1/approvals/{listed['id']}", headers=BOSS)).json()
    assert (shown["verdict"], shown["by"], shown["via"], shown["expires"]) == (
        "approved",
        "boss",
        "http 127.0.0.1",
        None,
    )
    own = (await client.get(f"/v1/approvals/{listed['id']}")).json()
    assert own["via"] == "", "its owner does not learn the address of the person"
    events = (await client.get(f"/v1/executions/{paused['id']}/events")).text
    assert "decided" in events
    assert "127.0.0.1" not in events
    foreign = await client.get(f"/v1/approvals/{listed['id']}", headers=OTHER)
    assert (foreign.status_code, foreign.json()["code"]) == (404, "approval_not_found")


async def test_the_links_of_a_card_lead_to_the_public_address(bank: Bank, tmp_path: Path) -> None:
    given = settings(tmp_path, server={"public_url": "https://desk.example/"})
    async with CodeMode.from_settings(given, functions={"bank": [bank.pay]}) as service:
        await service.execute(PAYS, caller=Caller("agent"))
        (card,) = await service.part(Cards).waiting(Caller("boss", "approver"))
        assert card.answers["console"] == f"https://desk.example/console/approvals/{card.call.id}"
        assert card.answers["http"] == f"POST https://desk.example/v1/approvals/{card.call.id}"


async def test_who_may_not_decide_decides_nothing(client: httpx2.AsyncClient, bank: Bank) -> None:
    paused = await execute(client, PAYS)
    (call,) = await approvals(client)
    right = {"digest": call["digest"], "verdict": "approved"}

    async def decide(headers: dict[str, str], body: dict[str, Any]) -> tuple[int, str]:
        answer = await client.post(f"/v1/approvals/{call['id']}", json=body, headers=headers)
        return answer.status_code, answer.json().get("code", "")

    assert await decide(AGENT, right) == (403, "approval_forbidden")
    assert await decide(OTHER, right) == (403, "approval_forbidden")
    assert await decide(BOSS, {**right, "digest": "0" * 64}) == (409, "approval_refused")
    assert await decide(BOSS, {**right, "verdict": "committed"}) == (409, "approval_refused")
    assert bank.sent == []
    assert await approvals(client, OTHER) == []
    foreign = await client.get(f"/v1/executions/{paused['id']}", headers=OTHER)
    nobodys = await client.get("/v1/executions/ex_0", headers=OTHER)
    assert foreign.status_code == nobodys.status_code == 404
    assert foreign.text.replace(paused["id"], "ex_0") == nobodys.text  # not even that it exists is told
    assert (await decide(BOSS, right))[0] == 200
    assert await decide(BOSS, right) == (409, "approval_refused"), "an answer is given once"


async def test_an_approver_does_not_approve_what_its_own_key_has_started(
    client: httpx2.AsyncClient, bank: Bank
) -> None:
    await execute(client, PAYS, BOSS)
    (call,) = await approvals(client)
    answer = await client.post(
        f"/v1/approvals/{call['id']}", json={"digest": call["digest"], "verdict": "approved"}, headers=BOSS
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "approval_forbidden")
    assert bank.sent == []


async def test_a_rollback_is_waited_for_or_accepted(client: httpx2.AsyncClient, bank: Bank) -> None:
    lent = await execute(client, "bank.lend(to='ann')")
    begun = await client.post(f"/v1/executions/{lent['id']}/rollback", json={"wait_s": 0})
    assert (begun.status_code, begun.json()["status"]) == (202, "running")
    async with client.stream("GET", f"{begun.headers['location']}/events") as events:
        await events.aread()
    assert bank.taken_back == ["ann"]
    again = (await client.post(f"/v1/executions/{lent['id']}/rollback")).json()
    assert (again["execution"], again["status"]) == (begun.json()["id"], "completed")
    assert [step["tool"] for step in again["steps"]] == ["bank.take_back"]
    none = (await client.post(f"/v1/executions/{(await execute(client, '1'))['id']}/rollback")).json()
    assert (none["status"], none["execution"], none["outcome"]) == ("nothing_to_undo", "", None)
    assert bank.taken_back == ["ann"]


async def test_a_request_beyond_the_rate_of_a_key_is_described(bank: Bank, tmp_path: Path) -> None:
    load = {"load": {"per_key_rate_per_s": 0.01}}
    async with CodeMode.from_settings(settings(tmp_path, server=load), functions={"bank": [bank.pay]}) as service:
        app = create_app(service, Callers({"agent": Caller("agent")}, KeyFile(tmp_path / "keys.json")))
        transport = DescribedTransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", headers=AGENT) as client:
            first, second = [await client.post("/v1/search", json={"queries": ["pay"]}) for _ in range(2)]
            assert (first.status_code, second.status_code) == (200, 429)
            assert second.json()["retry_after_s"] == int(second.headers["retry-after"])


async def test_what_a_key_started_that_was_revoked_meanwhile_does_not_go_on(
    service: CodeMode, bank: Bank, tmp_path: Path
) -> None:
    keys = KeyFile(tmp_path / "keys.json")
    stored, text = keys.create(role="default")
    app = create_app(service, Callers({"boss": Caller("boss", "approver")}, keys))
    async with httpx2.AsyncClient(
        transport=DescribedTransport(app), base_url="http://testserver", timeout=200, headers=BOSS
    ) as client:
        paused = await execute(client, PAYS, {"Authorization": f"Bearer {text}"})
        keys.revoke(stored.id)
        (call,) = await approvals(client)
        answer = await client.post(
            f"/v1/approvals/{call['id']}", json={"digest": call["digest"], "verdict": "approved"}
        )
        told = answer.json()["executions"][paused["id"]]
        assert told["status"] == "paused"
        assert f"key:{stored.id} no longer has access" in told["reason"]
        resumed = await client.post(f"/v1/executions/{paused['id']}/resume")
        assert (resumed.status_code, resumed.json()["code"]) == (409, "execution_changed")
        assert (await client.post(f"/v1/executions/{paused['id']}/cancel")).json()["status"] == "cancelled"
    assert bank.sent == []


@pytest.mark.parametrize("who", [AGENT, BOSS])
async def test_what_a_key_started_under_another_role_does_not_go_on(
    client: httpx2.AsyncClient, service: CodeMode, bank: Bank, tmp_path: Path, who: dict[str, str]
) -> None:
    paused = await execute(client, PAYS)
    (call,) = await approvals(client)
    known = {"agent": Caller("agent", "support"), "boss": Caller("boss", "approver")}
    app = create_app(service, Callers(known, KeyFile(tmp_path / "keys.json")))
    async with httpx2.AsyncClient(
        transport=DescribedTransport(app), base_url="http://testserver", timeout=200, headers=who
    ) as later:
        decision = {"digest": call["digest"], "verdict": "approved"}
        await later.post(f"/v1/approvals/{call['id']}", json=decision, headers=BOSS)
        answer = await later.post(f"/v1/executions/{paused['id']}/resume")
    assert answer.status_code == 409
    assert "the role of agent was default and is now support" in answer.json()["detail"]
    assert bank.sent == []


async def test_a_rejection_reaches_the_program(client: httpx2.AsyncClient, bank: Bank) -> None:
    code = "try:\n    bank.pay(to='eve', amount=1000)\nexcept Exception as error:\n    said = str(error)\nsaid"
    paused = await execute(client, code)
    (call,) = await approvals(client)
    body = {"decisions": [{"id": call["id"], "digest": call["digest"], "verdict": "rejected", "note": "not to Eve"}]}
    assert (await client.post("/v1/approvals", json=body, headers=BOSS)).status_code == 200
    stored = await client.get(f"/v1/executions/{paused['id']}")
    while stored.json()["status"] == "running":
        await asyncio.sleep(0.01)
        stored = await client.get(f"/v1/executions/{paused['id']}")
    assert "not to Eve" in stored.json()["outcome"]["value"]
    assert bank.sent == []


async def test_a_request_may_be_repeated_under_its_key(client: httpx2.AsyncClient, bank: Bank) -> None:
    key = {"Idempotency-Key": "order-1"}
    code = "bank.take_back(to='ann')"
    first = await client.post("/v1/execute", json={"code": code}, headers=key)
    again = await client.post("/v1/execute", json={"code": code, "wait_s": 9}, headers=key)
    assert first.json()["status"] == "completed"
    assert again.json()["id"] == first.json()["id"]
    assert again.headers["Idempotent-Replayed"] == "true"
    assert bank.taken_back == ["ann"]
    other = await client.post("/v1/execute", json={"code": "1"}, headers=key)
    assert (other.status_code, other.json()["code"]) == (422, "request_conflict")
    foreign = await client.post("/v1/execute", json={"code": code}, headers={**key, **OTHER})
    assert foreign.json()["id"] != first.json()["id"]


async def test_a_repeated_request_that_waits_keeps_no_other_program_from_starting(tmp_path: Path, bank: Bank) -> None:
    one_processor = {"processes": 64}
    async with CodeMode.from_settings(
        settings(tmp_path, server=one_processor, policy={}), functions={"bank": [bank.wait]}
    ) as service:
        app = create_app(service, Callers({"agent": Caller("agent")}, KeyFile(tmp_path / "keys.json")))
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://testserver", timeout=200, headers=AGENT
        ) as client:
            request = partial(client.post, "/v1/execute", headers={"Idempotency-Key": "order-1"})
            first = asyncio.create_task(request(json={"code": "bank.wait()"}))
            await bank.waiting.wait()
            repeated = asyncio.create_task(request(json={"code": "bank.wait()", "wait_s": 60}))
            await asyncio.sleep(0)
            assert (await execute(client, "1 + 1"))["value"] == 2
            assert not repeated.done()
            bank.gate.set()
            assert (await first).json() == (await repeated).json()


async def test_what_takes_longer_is_accepted_and_can_be_followed(client: httpx2.AsyncClient, bank: Bank) -> None:
    code = "bank.take_back(to='ann')\nbank.wait()\nbank.take_back(to='bob')"
    answer = await client.post("/v1/execute", json={"code": code, "wait_s": 0})
    assert answer.status_code == 202
    assert answer.headers["Location"] == f"/v1/executions/{answer.json()['id']}"
    place = answer.headers["Location"]
    await bank.waiting.wait()
    assert (await client.get(place)).json()["status"] == "running"
    bank.gate.set()
    events = await told(client, place)
    assert [event["type"] for event in events] == ["call_started", "call_ended"] * 3 + ["status"]
    assert [event["tool"] for event in events if event["type"] == "call_ended"] == [
        *("bank.take_back", "bank.wait", "bank.take_back")
    ]
    assert events[-1]["status"] == "completed"
    middle = str(events[3]["sequence"])
    assert await told(client, place, {"Last-Event-ID": middle}) == events[4:]
    assert (await client.get(f"{place}/events", headers={"Last-Event-ID": "x"})).status_code == 422


async def told(client: httpx2.AsyncClient, place: str, headers: dict[str, str] | None = None) -> list[dict[str, Any]]:
    answer = await client.get(f"{place}/events", headers=headers or {})
    assert answer.headers["content-type"].startswith("text/event-stream")
    return [json.loads(line.removeprefix("data: ")) for line in answer.text.splitlines() if line.startswith("data: ")]


@pytest.mark.parametrize("expires", [False, True])
async def test_a_stream_of_events_ends_with_the_rights_of_its_caller(
    service: CodeMode, tmp_path: Path, *, expires: bool
) -> None:
    execution = (await service.execute("bank.take_back(to='ann')", caller=Caller("agent"))).id
    still = iter([True, False])
    caller = Caller("agent", good_until=1.0) if expires else Caller("agent", is_authorized=lambda: next(still))
    app = create_app(service, Callers({"agent": caller}, KeyFile(tmp_path / "keys.json")))
    transport = DescribedTransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", headers=AGENT) as client:
        events = await told(client, f"/v1/executions/{execution}")
    assert [event["type"] for event in events] == ([] if expires else ["call_started", "call_ended"]) + ["closed"]
    assert events[-1]["code"] == "credentials_revoked"


async def test_a_number_that_no_event_has_is_refused_before_the_stream_begins(client: httpx2.AsyncClient) -> None:
    place = f"/v1/executions/{(await execute(client, '1'))['id']}/events"
    for number in ("-1", "x", str(2**63), "9" * 30):
        for asked in ({"params": {"after": number}}, {"headers": {"Last-Event-ID": number}}):
            answer = await client.get(place, **asked)  # type: ignore[arg-type]
            assert (answer.status_code, answer.json()["code"]) == (422, "request_invalid"), asked
    assert "event: status" in (await client.get(place, params={"after": "1000"})).text


async def test_cancelling_tells_what_was_done_from_reads_that_were_cancelled(
    client: httpx2.AsyncClient, bank: Bank
) -> None:
    code = "bank.take_back(to='ann')\nbank.wait()\nbank.take_back(to='bob')"
    place = (await client.post("/v1/execute", json={"code": code, "wait_s": 0})).headers["Location"]
    await bank.waiting.wait()
    assert (await client.post(f"{place}/cancel", headers=OTHER)).status_code == 404
    cancelled = (await client.post(f"{place}/cancel")).json()
    assert cancelled["status"] == cancelled["outcome"]["status"] == "cancelled"
    assert [(call["tool"], call["state"]) for call in cancelled["outcome"]["calls"]] == [
        ("bank.take_back", "committed"),
        ("bank.wait", "cancelled"),
    ]
    again = await client.post(f"{place}/cancel")
    assert (again.status_code, again.json()["code"]) == (409, "execution_ended")


async def test_a_corrected_program_does_not_repeat_what_was_done(client: httpx2.AsyncClient, bank: Bank) -> None:
    wrong = "for name in ('ann', 'bob', 'cid'):\n    bank.take_back(to=name)\nnothing_like_it"
    failed = await execute(client, wrong)
    assert failed["status"] == "failed"
    right = "for name in ('ann', 'bob', 'cid', 'dan'):\n    bank.take_back(to=name)\n'done'"
    repaired = await execute(client, right, resume_from=failed["id"])
    assert repaired["value"] == "done"
    assert bank.taken_back == ["ann", "bob", "cid", "dan"]
    assert [bool(call["reused"]) for call in repaired["calls"]] == [True, True, True, False]
    foreign = await client.post("/v1/execute", json={"code": right, "resume_from": failed["id"]}, headers=OTHER)
    assert (foreign.status_code, foreign.json()["code"]) == (404, "execution_not_found")


async def test_executions_are_listed_to_their_owner_and_to_approvers(client: httpx2.AsyncClient) -> None:
    ids = [(await execute(client, str(number)))["id"] for number in range(3)]
    mine = (await client.get("/v1/executions", params={"limit": 2})).json()["executions"]
    assert [one["id"] for one in mine] == ids[:0:-1]
    rest = (await client.get("/v1/executions", params={"before": mine[-1]["id"]})).json()["executions"]
    assert [one["id"] for one in rest] == ids[:1]
    assert (await client.get("/v1/executions", headers=OTHER)).json() == {"executions": []}
    assert len((await client.get("/v1/executions", headers=BOSS)).json()["executions"]) == 3
    shown = json.dumps((await client.get(f"/v1/executions/{ids[0]}")).json())
    assert "seed" not in shown


async def test_what_waits_for_a_person_does_not_go_on_by_itself(client: httpx2.AsyncClient) -> None:
    paused = await execute(client, PAYS)
    answer = await client.post(f"/v1/executions/{paused['id']}/resume")
    assert (answer.status_code, answer.json()["code"]) == (409, "execution_waiting")


async def test_a_program_that_runs_in_the_background_keeps_its_place(bank: Bank, tmp_path: Path) -> None:
    load = {"load": {"running": 1, "waiting": 0}}
    functions = {"bank": [bank.pay, bank.take_back, bank.lend, bank.wait]}
    async with CodeMode.from_settings(settings(tmp_path, server=load), functions=functions) as service:
        app = create_app(service, Callers({"agent": Caller("agent")}, KeyFile(tmp_path / "keys.json")))
        transport = DescribedTransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", headers=AGENT) as client:
            begun = await client.post("/v1/execute", json={"code": "bank.wait()", "wait_s": 0})
            assert begun.status_code == 202
            refused = await client.post("/v1/execute", json={"code": "1"})
            assert refused.status_code == 429
            bank.gate.set()
            await service.executions.wait(begun.json()["id"], Caller("agent"), 20)
            await asyncio.sleep(0)
            assert (await client.post("/v1/execute", json={"code": "1"})).status_code == 200


async def test_a_full_journal_refuses_new_executions_and_says_whose_limit_it_is(bank: Bank, tmp_path: Path) -> None:
    functions = {"bank": [bank.pay, bank.take_back]}
    small = settings(tmp_path, journal={"enabled": True, "keep_bytes_per_key": 1024**2})
    async with CodeMode.from_settings(small, functions=functions) as service:
        known = {"agent": Caller("agent"), "other": Caller("other")}
        app = create_app(service, Callers(known, KeyFile(tmp_path / "keys.json")))
        transport = DescribedTransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", headers=AGENT) as client:
            paused = await execute(client, "bank.take_back(to='x' * 1_200_000)\nbank.pay(to='ann', amount=1)")
            assert paused["status"] == "paused", paused
            full = await client.post("/v1/execute", json={"code": "1"})
            assert (full.status_code, full.json()["code"]) == (507, "journal_full")
            for said in (
                "key 'agent'",
                "journal.keep_bytes_per_key allows 1048576",
                "nothing was run",
                "approvals list",
            ):
                assert said in full.json()["detail"]
            assert (await execute(client, "1 + 1", OTHER))["value"] == 2
            assert (await client.post(f"/v1/executions/{paused['id']}/cancel")).status_code == 200
            assert (await execute(client, "1 + 1"))["value"] == 2


async def test_without_a_journal_the_message_says_how_to_have_one(bank: Bank, tmp_path: Path) -> None:
    functions = {"bank": [bank.pay]}
    without = settings(tmp_path, journal={"enabled": False})
    async with CodeMode.from_settings(without, functions=functions) as service:
        app = create_app(service, Callers({"agent": Caller("agent")}, KeyFile(tmp_path / "keys.json")))
        transport = DescribedTransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver", headers=AGENT) as client:
            assert (await execute(client, "1 + 1"))["value"] == 2
            answer = await client.post("/v1/execute", json={"code": "1", "wait_s": 1})
            assert answer.status_code == 409
            assert "journal.enabled: true" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/v1/execute", '{"code": "1", "resume_from": "\\ud800"}'),
        ("/v1/approvals/ap_1", '{"digest": "\\ud800", "verdict": "approved"}'),
        ("/v1/approvals/ap_1", '{"digest": "0", "verdict": "committed", "value": NaN}'),
        ("/v1/approvals/ap_1", '{"digest": "0", "verdict": "committed", "value": ["\\ud800"]}'),
        ("/v1/approvals", '{"decisions": [{"id": "\\ud800", "digest": "0", "verdict": "approved"}]}'),
    ],
)
async def test_what_json_cannot_carry_is_a_mistake_of_the_request(
    client: httpx2.AsyncClient, path: str, text: str
) -> None:
    answer = await client.post(path, content=text, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (422, "request_invalid")


async def test_a_program_does_not_outlive_the_key_that_started_it(
    client: httpx2.AsyncClient, bank: Bank, tmp_path: Path
) -> None:
    keys = KeyFile(tmp_path / "keys.json")
    key, text = keys.create(role="default")
    mine = {"Authorization": f"Bearer {text}"}
    code = "bank.wait()\ntry:\n    bank.take_back(to='ann')\nexcept ToolError as e:\n    said = e.kind, e.message\nsaid"
    running = asyncio.create_task(client.post("/v1/execute", json={"code": code}, headers=mine))
    await bank.waiting.wait()
    keys.revoke(key.id)
    bank.gate.set()
    outcome = (await running).json()
    assert bank.taken_back == []
    assert outcome["value"][0] == "credentials_revoked"
    assert "the key that started this program was revoked or expired while it ran" in outcome["value"][1]
    assert [(call["state"], call["rule"]) for call in outcome["calls"]] == [
        ("read", "default for read"),
        ("denied", "the key of the program is no longer valid"),
    ]
    assert (await client.get("/v1/executions", headers=mine)).status_code == 401


async def test_who_waits_for_an_end_is_told_nothing_once_his_key_is_revoked(
    client: httpx2.AsyncClient, bank: Bank, tmp_path: Path
) -> None:
    keys = KeyFile(tmp_path / "keys.json")
    key, text = keys.create(role="default")
    mine = {"Authorization": f"Bearer {text}"}
    asked = {"code": "bank.wait()", "wait_s": 30}
    running = asyncio.create_task(client.post("/v1/execute", json=asked, headers=mine))
    await bank.waiting.wait()
    keys.revoke(key.id)
    bank.gate.set()
    answer = await running
    assert (answer.status_code, answer.json()["code"]) == (401, "credentials_revoked")
    assert answer.json()["detail"] == "the key or token was revoked or has expired"
    (stored,) = (await client.get("/v1/executions", headers=BOSS)).json()["executions"]
    assert (stored["owner"], stored["status"]) == (f"key:{key.id}", "completed")
