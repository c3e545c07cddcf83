"""The outbox over its own HTTP face, and its document."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from openapi_spec_validator import validate
from starlette.testclient import TestClient

from api_specs.outbox.app import create_app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOKEN = "a-token"


@pytest.fixture
def outbox() -> Iterator[TestClient]:
    with TestClient(create_app(token=TOKEN), headers={"Authorization": f"Bearer {TOKEN}"}) as client:
        yield client


@pytest.fixture
def template(outbox: TestClient) -> dict[str, Any]:
    content = {"name": "ending", "channel": "email", "subject": "Until $endDate", "text": "Dear $name, $$5 off."}
    return outbox.post("/templates", json=content).raise_for_status().json()  # type: ignore[no-any-return]


def detail(response: Any, status: int) -> str:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    return str(response.json()["detail"])


def test_the_document_is_valid_and_is_what_the_service_serves(outbox: TestClient) -> None:
    written = yaml.safe_load((files("api_specs.outbox") / "openapi.yaml").read_text(encoding="utf-8"))
    validate(written)
    served = outbox.get("/openapi.json").json()
    assert _operations(written) == _operations(served)
    assert written["components"]["schemas"].keys() == served["components"]["schemas"].keys()


def _operations(document: dict[str, Any]) -> dict[str, Any]:
    return {
        operation["operationId"]: (
            path,
            method,
            operation["description"],
            [(p["in"], p["name"], p["required"]) for p in operation.get("parameters", ())],
            operation.get("requestBody"),
        )
        for path, item in document["paths"].items()
        for method, operation in item.items()
    }


def test_it_announces_where_it_listens_and_ends_on_a_signal(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "api_specs.outbox", "--port", "0", "--token", TOKEN]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stdout is not None
        word, _, url = process.stdout.readline().strip().partition(" ")
        assert (word, url.startswith("http://127.0.0.1:")) == ("READY", True)
        os.kill(process.pid, signal.SIGTERM)
        process.wait()


def test_every_operation_asks_for_the_token(outbox: TestClient) -> None:
    for path, item in outbox.get("/openapi.json").json()["paths"].items():
        for method in item:
            refused = outbox.request(
                method, path.format(name="x", messageId=1, recipient="x"), headers={"Authorization": ""}
            )
            assert "bearer token" in detail(refused, 401)


def test_a_template_says_which_values_it_takes(template: dict[str, Any]) -> None:
    assert template["placeholders"] == ["endDate", "name"]


def test_a_preview_fills_in_the_values_and_sends_nothing(outbox: TestClient, template: dict[str, Any]) -> None:
    values = {"name": "Ann", "endDate": "2026-03-31"}
    shown = outbox.post("/templates/ending/preview", json={"values": values}).json()
    assert shown == {"subject": "Until 2026-03-31", "text": "Dear Ann, $5 off."}
    assert outbox.get("/messages").json()["total"] == 0


@pytest.mark.parametrize(
    ("values", "said"),
    [({"name": "Ann"}, "missing: endDate"), ({"nam": "", "name": "", "endDate": ""}, "unknown: nam")],
)
def test_values_that_do_not_fit_are_named(
    outbox: TestClient, template: dict[str, Any], values: dict[str, str], said: str
) -> None:
    refused = outbox.post("/emails", json={"to": ["a@example.org"], "template": "ending", "values": values})
    assert said in detail(refused, 422)
    assert outbox.get("/messages").json()["total"] == 0


def test_an_email_reaches_those_who_can_be_reached(outbox: TestClient) -> None:
    outbox.post("/suppressions", json={"recipient": "no@example.org", "reason": "complaint"}).raise_for_status()
    to = ["ann@example.org", "no@example.org", "who@bounce.example"]
    sent = outbox.post("/emails", json={"to": to, "subject": "Hello", "text": "Hi"}).raise_for_status().json()
    log = outbox.get("/deliveries", params={"messageId": sent["id"]}).json()["items"]
    assert sent["status"] == "sent"
    assert {entry["recipient"]: entry["status"] for entry in log} == dict(
        zip(to, ["delivered", "suppressed", "bounced"], strict=True)
    )


def test_a_failed_text_can_be_sent_again_once_its_recipient_is_allowed(outbox: TestClient) -> None:
    outbox.post("/suppressions", json={"recipient": "+4930123456"}).raise_for_status()
    failed = outbox.post("/texts", json={"to": "+4930123456", "text": "Hi"}).json()
    assert failed["status"] == "failed"
    outbox.delete("/suppressions/+4930123456").raise_for_status()
    assert outbox.post(f"/messages/{failed['id']}/retry").json()["status"] == "sent"
    assert "only a failed one can be sent again" in detail(outbox.post(f"/messages/{failed['id']}/retry"), 409)


def test_a_scheduled_message_can_be_cancelled_until_its_time_comes(outbox: TestClient) -> None:
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    scheduled = outbox.post("/texts", json={"to": "+4930123456", "text": "Hi", "sendAt": later}).json()
    assert (scheduled["status"], outbox.get("/deliveries").json()["total"]) == ("scheduled", 0)
    assert outbox.post(f"/messages/{scheduled['id']}/cancel").json()["status"] == "cancelled"
    past = outbox.post("/texts", json={"to": "+4930123456", "text": "Hi", "sendAt": "2020-01-01T00:00:00Z"}).json()
    assert past["status"] == "sent"


def test_pages_join_to_the_whole_list(outbox: TestClient) -> None:
    for number in range(7):
        outbox.post("/texts", json={"to": f"+49301234{number:03}", "text": "Hi"}).raise_for_status()
    seen: list[int] = []
    cursor = None
    while True:
        page = outbox.get("/messages", params={"limit": 3, **({"cursor": cursor} if cursor else {})}).json()
        seen += [item["id"] for item in page["items"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert seen == [7, 6, 5, 4, 3, 2, 1]


def test_messages_are_found_by_recipient_status_and_channel(outbox: TestClient) -> None:
    outbox.post("/texts", json={"to": "+99912345678", "text": "Hi"}).raise_for_status()
    outbox.post("/emails", json={"to": ["a@example.org"], "subject": "S", "text": "Hi"}).raise_for_status()
    for query in ({"recipient": "+99912345678"}, {"status": "failed"}, {"channel": "text"}):
        assert [item["id"] for item in outbox.get("/messages", params=query).json()["items"]] == [1]


def test_templates_change_and_go_while_messages_stay(outbox: TestClient, template: dict[str, Any]) -> None:
    changed = outbox.patch("/templates/ending", json={"text": "Bye $name"}).json()
    assert (changed["subject"], changed["text"], changed["placeholders"]) == (
        "Until $endDate",
        "Bye $name",
        ["endDate", "name"],
    )
    assert [found["name"] for found in outbox.get("/templates", params={"channel": "email"}).json()] == ["ending"]
    assert outbox.get("/templates", params={"channel": "text"}).json() == []
    assert "already" in detail(outbox.post("/templates", json={**_new(template), "text": "x"}), 409)
    outbox.delete("/templates/ending").raise_for_status()
    assert "list_templates" in detail(outbox.get("/templates/ending"), 404)


def _new(template: dict[str, Any]) -> dict[str, Any]:
    return {name: template[name] for name in ("name", "channel", "subject", "text")}


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/emails", {"to": ["a@example.org"], "text": "no subject"}),
        ("/emails", {"to": ["a@example.org\r\nBcc: b@example.org"], "subject": "s", "text": "t"}),
        ("/emails", {"to": ["a@example.org"], "subject": "s", "text": "t", "template": "ending"}),
        ("/emails", {"to": ["a@example.org"], "subject": "s", "template": "no-such"}),
        ("/texts", {"to": "0301234", "text": "t"}),
        ("/texts", {"to": "+4930123456", "text": "t", "colour": "red"}),
        ("/templates", {"name": "x1", "channel": "email", "subject": "s", "text": "costs $ 5"}),
        ("/suppressions", {"recipient": "nobody"}),
    ],
)
def test_what_cannot_be_done_is_refused_and_leaves_nothing(
    outbox: TestClient, path: str, content: dict[str, Any]
) -> None:
    assert detail(outbox.post(path, json=content), 422)
    kept = [outbox.get(path).json() for path in ("/templates", "/suppressions")]
    assert (kept, outbox.get("/messages").json()["total"]) == ([[], []], 0)
