"""Retries, rate limits and token renewal."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import pytest

from codemode.errors import ConfigurationError, UpstreamError, UpstreamTimeout
from codemode.sources.openapi.document import load_openapi
from codemode.transports.allowances import Allowance, LocalSlots, Rate
from codemode.transports.auth.grant import OAuthGrant
from codemode.transports.auth.requirements import Authentication, Configured, SchemeKind
from codemode.transports.base import CallContext
from codemode.transports.http.rate_limit import MOST_WAITS, Pace, wait_before_retry
from codemode.transports.http.request import HttpRequest
from codemode.transports.http.transport import HttpTransport, Reach
from codemode.transports.http.uncertainty import Interrupted
from codemode.transports.oauth.tokens import TokenSource
from tests.unit.codemode.transports.recorder import Answered, Received

if TYPE_CHECKING:
    from codemode.catalog.tool import Tool
    from tests.unit.codemode.transports.recorder import Recorder


def _by(grant: OAuthGrant) -> Authentication:
    return Authentication("api", [Configured(SchemeKind.OAUTH2, grant)])


def _tool(method: str) -> Tool:
    return load_openapi({"openapi": "3.1.0", "paths": {"/x": {method: {"operationId": "op"}}}}, name="api").tools[0]


async def _call_waiting(recorder: Recorder, method: str, waits: list[float], *, most: int) -> Any:
    """Call with a context that waits out `most` limits."""

    async def wait_out(wait_s: float) -> bool:
        waits.append(wait_s)
        return len(waits) <= most

    transport = HttpTransport(Reach("api", recorder.url, timeout_s=10))
    try:
        return await transport.call(_tool(method), {}, CallContext(wait_out=wait_out))
    finally:
        await transport.aclose()


async def _call(recorder: Recorder, method: str, waits: list[float], **reach: Any) -> Any:
    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    transport = HttpTransport(Reach("api", recorder.url, **reach), sleep=sleep)
    try:
        return await transport.call(_tool(method), {}, CallContext())
    finally:
        await transport.aclose()


def _in_turn(*answers: Answered) -> Any:
    left = list(answers)
    return lambda _: left.pop(0)


async def test_a_read_is_tried_again_after_the_wait_that_the_service_asks_for(recorder: Recorder) -> None:
    recorder.answer = _in_turn(Answered(503, {"Retry-After": "3"}, b""), Answered(502, {}, b""), Answered(body=b"[1]"))
    waits: list[float] = []
    assert await _call(recorder, "get", waits) == [1]
    assert waits == [3.0, 0.5]


async def test_attempts_end(recorder: Recorder) -> None:
    recorder.answer = lambda _: Answered(503, {}, b"")
    waits: list[float] = []
    with pytest.raises(UpstreamError, match="503"):
        await _call(recorder, "get", waits, retries=2)
    assert (len(recorder.received), waits) == (3, [0.25, 0.5])


async def test_no_attempt_starts_after_the_time_of_the_call(recorder: Recorder) -> None:
    recorder.answer = lambda _: Answered(429, {"Retry-After": "60"}, b"")
    waits: list[float] = []
    with pytest.raises(UpstreamError) as caught:
        await _call(recorder, "get", waits, timeout_s=10)
    assert (caught.value.retry_after_s, waits, len(recorder.received)) == (60, [], 1)


@pytest.mark.parametrize("method", ["get", "post"])
async def test_the_limit_of_a_service_is_waited_out_beyond_the_time_of_the_call(
    recorder: Recorder, method: str
) -> None:
    refused = Answered(429, {"Retry-After": "60"}, b"")
    recorder.answer = _in_turn(refused, refused, refused, Answered(body=b"[1]"))
    waits: list[float] = []
    assert await _call_waiting(recorder, method, waits, most=3) == [1]
    assert waits == [60.0, 60.0, 60.0]


async def test_a_limit_that_is_not_waited_out_is_the_error_of_the_call(recorder: Recorder) -> None:
    recorder.answer = lambda _: Answered(429, {"Retry-After": "60"}, b"")
    waits: list[float] = []
    with pytest.raises(UpstreamError, match="429"):
        await _call_waiting(recorder, "post", waits, most=1)
    assert (waits, len(recorder.received)) == ([60.0, 60.0], 2)


async def test_a_service_that_always_asks_to_wait_is_not_asked_for_ever(recorder: Recorder) -> None:
    recorder.answer = lambda _: Answered(429, {"Retry-After": "20"}, b"")
    waits: list[float] = []
    with pytest.raises(UpstreamError, match="429"):
        await _call_waiting(recorder, "post", waits, most=1000)
    assert len(recorder.received) == MOST_WAITS + 1


@pytest.mark.parametrize(
    ("error", "method", "expected"),
    [
        (UpstreamError("", status=429), "POST", None),
        (UpstreamError("", status=429), "PATCH", None),
        (UpstreamError("", status=429, retry_after_s=7), "DELETE", 7),
        (UpstreamError("", status=429, retry_after_s=7), "POST", 7),
        (UpstreamError("", status=503, retry_after_s=7), "POST", None),
        (UpstreamError("", status=429), "PUT", 0.25),
        (UpstreamError("", status=503), "GET", 0.25),
        (UpstreamError("", status=503), "PUT", 0.25),
        (UpstreamError("", status=503), "DELETE", None),
        (UpstreamError("", status=503), "POST", None),
        (UpstreamError("", status=500), "GET", None),
        (UpstreamError("", status=404), "GET", None),
        (Interrupted(""), "GET", 0.25),
        (Interrupted("", is_stale=True), "GET", 0.0),
        (Interrupted("", is_stale=True), "POST", None),
        (Interrupted(""), "POST", None),
        (Interrupted(""), "DELETE", None),
        (UpstreamTimeout(""), "GET", None),
    ],
)
def test_only_what_can_do_no_harm_is_repeated(error: Exception, method: str, expected: float | None) -> None:
    assert wait_before_retry(error, HttpRequest(method, "http://x/"), 0) == expected


@pytest.mark.parametrize(("name", "keyed"), [("Idempotency-Key", False), ("X-Idempotency-Key", False), ("Own", True)])
def test_a_write_with_an_idempotency_key_is_repeated(name: str, *, keyed: bool) -> None:
    request = HttpRequest("POST", "http://x/", ((name, "k1"),), is_keyed=keyed)
    for error in (UpstreamError("", status=429), UpstreamError("", status=503), Interrupted("")):
        assert wait_before_retry(error, request, 0) == 0.25


async def test_a_write_whose_connection_breaks_is_sent_once(recorder: Recorder) -> None:
    recorder.answer = lambda _: Answered(body=b"{", cut=True)
    with pytest.raises(UpstreamTimeout):
        await _call(recorder, "post", [])
    assert len(recorder.received) == 1


async def test_no_more_calls_run_at_once_than_allowed() -> None:
    pace = Pace(2)
    running: list[int] = []
    most = 0
    release = asyncio.Event()

    async def work(number: int) -> None:
        nonlocal most
        async with pace:
            running.append(number)
            most = max(most, len(running))
            await release.wait()
            running.remove(number)

    tasks = [asyncio.ensure_future(work(number)) for number in range(5)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert running == [0, 1]
    release.set()
    await asyncio.gather(*tasks)
    assert most == 2


async def test_calls_start_no_faster_than_the_rate() -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    slots = LocalSlots(lambda: 100.0)
    pace = Pace(10, Allowance(Rate("api", 4.0), lambda: slots, lambda: 100.0), sleep=sleep)
    for _ in range(3):
        async with pace:
            pass
    assert waits == [0.25, 0.5]


async def test_an_access_token_is_got_kept_and_replaced_when_it_is_refused(recorder: Recorder) -> None:
    issued: list[str] = []

    def answer(received: Received) -> Answered:
        if received.target == "/token":
            issued.append(f"token-{len(issued)}")
            return Answered(body=json.dumps({"access_token": issued[-1], "expires_in": 3600}).encode())
        is_old = (
            received.headers["Authorization"] == "Bearer token-0" and len(issued) == 1 and len(recorder.received) > 3
        )
        return Answered(401, {}, b"") if is_old else Answered(body=b"[1]")

    recorder.answer = answer
    grant = OAuthGrant(f"{recorder.url}/token", "me", "s3cr3t", scopes=("read", "write"))
    transport = HttpTransport(Reach("api", recorder.url), authentication=_by(grant), open_tokens=TokenSource)
    for _ in range(3):
        assert await transport.call(_tool("get"), {}, CallContext()) == [1]
    await transport.aclose()
    assert [received.target for received in recorder.received] == ["/token", "/x", "/x", "/x", "/token", "/x"]
    first = recorder.received[0]
    assert first.headers["Authorization"] == "Basic bWU6czNjcjN0"
    fields = {"grant_type": ["client_credentials"], "scope": ["read write"], "client_id": ["me"]}
    assert parse_qs(first.body.decode()) == fields
    assert recorder.received[-1].headers["Authorization"] == "Bearer token-1"


async def test_with_a_new_token_a_call_is_sent_again_by_who_may_still_make_it(recorder: Recorder) -> None:
    def answer(received: Received) -> Answered:
        is_token = received.target == "/token"
        return Answered(body=json.dumps({"access_token": "a-token"}).encode()) if is_token else Answered(401)

    allowed = iter([True, False])

    async def before_send() -> None:
        if not next(allowed):
            message = "another has it"
            raise PermissionError(message)

    recorder.answer = answer
    grant = OAuthGrant(f"{recorder.url}/token", "me", "s3cr3t")
    transport = HttpTransport(Reach("api", recorder.url), authentication=_by(grant), open_tokens=TokenSource)
    with pytest.raises(PermissionError, match="another has it"):
        await transport.call(_tool("post"), {}, CallContext(before_send=before_send))
    await transport.aclose()
    assert [received.target for received in recorder.received] == ["/token", "/x", "/token"]


async def test_a_refresh_token_is_used_and_replaced(recorder: Recorder) -> None:
    def answer(received: Received) -> Answered:
        if received.target != "/token":
            return Answered(401, {"Content-Type": "text/plain"}, received.headers["Authorization"].encode())
        number = sum(1 for one in recorder.received if one.target == "/token")
        return Answered(
            body=json.dumps({"access_token": f"access-{number}", "refresh_token": f"next-{number}"}).encode()
        )

    recorder.answer = answer
    grant = OAuthGrant(f"{recorder.url}/token", "me", refresh_token="first-one")
    transport = HttpTransport(Reach("api", recorder.url), authentication=_by(grant), open_tokens=TokenSource)
    with pytest.raises(UpstreamError) as caught:
        await transport.call(_tool("get"), {}, CallContext())
    await transport.aclose()
    assert str(caught.value) == "api answered 401 Unauthorized: Bearer [redacted]"
    sent = [parse_qs(one.body.decode()) for one in recorder.received if one.target == "/token"]
    assert [fields["refresh_token"] for fields in sent] == [["first-one"], ["next-1"]]
    assert sent[0]["client_id"] == ["me"]


async def test_a_token_endpoint_that_refuses_is_an_error_without_secrets(recorder: Recorder) -> None:
    body = json.dumps({"error": "invalid_client", "error_description": "wrong s3cr3t"}).encode()
    recorder.answer = lambda _: Answered(401, body=body)
    grant = OAuthGrant(f"{recorder.url}/token", "me", "s3cr3t")
    transport = HttpTransport(Reach("api", recorder.url), authentication=_by(grant), open_tokens=TokenSource)
    with pytest.raises(UpstreamError) as caught:
        await transport.call(_tool("get"), {}, CallContext())
    await transport.aclose()
    assert str(caught.value) == "no access token: the token endpoint answered 401 (invalid_client: wrong [redacted])"


def test_certificate_files_that_are_not_there_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="the TLS certificate files cannot be used"):
        HttpTransport(Reach("api", "https://x.test", certificate=("/nowhere/cert.pem", "/nowhere/key.pem")))
