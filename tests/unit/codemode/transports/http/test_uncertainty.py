"""Errors of calls that were sent more than once."""

from __future__ import annotations

import pytest

from codemode.errors import AnswerInvalid, EndUnknown, UpstreamError, UpstreamTimeout, UpstreamUnreachable
from codemode.transports.http.request import HttpRequest
from codemode.transports.http.uncertainty import in_doubt, is_in_progress

KEYED = HttpRequest("POST", "http://x/", is_keyed=True)


def test_a_service_that_cannot_be_reached_again_may_have_done_the_work() -> None:
    error = in_doubt(UpstreamUnreachable("api at http://10.0.0.1:1 cannot be reached; nothing was sent", source="api"))
    assert isinstance(error, UpstreamTimeout)
    assert error.for_model() == (
        "the service behind api cannot be reached; an earlier attempt was sent, and it is unknown whether it did the "
        "work"
    )


def test_status_and_body_of_the_last_answer_are_kept() -> None:
    error = in_doubt(UpstreamError("api answered 500", status=500, body={"a": 1}, retry_after_s=3))
    assert isinstance(error, EndUnknown)
    assert (error.status, error.body, error.retry_after_s) == (500, {"a": 1}, 3)


def test_what_says_so_already_stays() -> None:
    for error in (UpstreamTimeout("late"), AnswerInvalid("no JSON", status=200)):
        assert in_doubt(error) is error


@pytest.mark.parametrize(
    "said",
    [
        "A request is outstanding for this Idempotency-Key",
        "There is currently another in-progress request using this Stripe-Idempotent-Request",
        "idempotency_key_in_use",
        "the request is still being processed",
        {"code": "CONCURRENT_REQUEST"},
    ],
)
def test_a_key_in_progress_is_recognized(said: object) -> None:
    assert is_in_progress(UpstreamError("409", status=409, body=said), KEYED)
    assert not is_in_progress(UpstreamError("409", status=409, body=said), HttpRequest("POST", "http://x/"))
    assert not is_in_progress(UpstreamError("422", status=422, body=said), KEYED)


@pytest.mark.parametrize("said", ["there is such a client already", "the key was used with other arguments", ""])
def test_another_conflict_is_not(said: str) -> None:
    assert not is_in_progress(UpstreamError("409", status=409, body=said), KEYED)
