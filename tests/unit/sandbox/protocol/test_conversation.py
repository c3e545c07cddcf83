from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from sandbox.errors import GuestProtocolError
from sandbox.limits import Limits
from sandbox.protocol.conversation import Conversation, LimitExceeded, State
from sandbox.protocol.framing import HEADER_BYTES
from sandbox.protocol.guest_messages import (
    encode_call,
    encode_calls,
    encode_cancel,
    encode_compiled,
    encode_final,
    encode_idle,
    encode_live,
    encode_output,
    encode_sites,
)
from sandbox.protocol.strict_json import encode

if TYPE_CHECKING:
    from sandbox.protocol.strict_json import JsonValue

FAILURE: dict[str, Any] = {**dict.fromkeys(("type", "message", "excerpt", "hint", "traceback"), ""), "refusals": []}
FAILURE |= {"line": None, "column": None}
SITES = encode_sites([])
COMPILED = encode_compiled("AAAA")


def calls(*made: tuple[int, str], arguments: bytes = b"{}") -> bytes:
    return encode_calls([encode_call(number, path, "a", arguments) for number, path in made])


CALL = calls((1, "1"))
OUTPUT = encode_output("x")
CANCEL = encode_cancel(1)
IDLE = encode_idle()
LIVE = encode_live()
FAILED = encode_final("failed", failure=FAILURE)
COMPLETED = encode_final("completed")


def said(conversation: Conversation, *frames: bytes) -> Conversation:
    for frame in frames:
        conversation.received(frame[HEADER_BYTES:])
    return conversation


def running(limits: Limits | None = None) -> Conversation:
    conversation = said(Conversation(limits or Limits()), SITES)
    conversation.went()
    return conversation


def test_a_whole_conversation() -> None:
    conversation = said(running(), CALL, OUTPUT, CANCEL, COMPLETED)
    assert conversation.state is State.ENDED


@pytest.mark.parametrize("has_preflight", [True, False])
def test_a_worker_that_is_to_run_a_program_does_not_say_what_it_compiled(*, has_preflight: bool) -> None:
    with pytest.raises(GuestProtocolError, match="a message of an unknown type"):
        said(Conversation(Limits(), has_preflight=has_preflight), COMPILED)


def test_after_an_end_with_a_value_comes_the_value() -> None:
    conversation = running(Limits(frame_bytes=1_000, result_bytes=5_000))
    assert conversation.budget == 1_000
    end = encode_final("completed", value=b"1")[: -HEADER_BYTES - 1]
    said(conversation, end)
    assert (conversation.state, conversation.budget) == (State.VALUE, 5_000)
    conversation.received_value(1)
    assert conversation.state is State.ENDED


@pytest.mark.parametrize(
    "frame", [CALL, OUTPUT, CANCEL, IDLE, LIVE, COMPLETED, encode_final("completed", value=b"1")[:-5]]
)
def test_nothing_happens_before_the_call_sites_are_sent(frame: bytes) -> None:
    with pytest.raises(GuestProtocolError, match="when the program was sent"):
        said(Conversation(Limits()), frame)


@pytest.mark.parametrize("frame", [SITES, CALL, OUTPUT, CANCEL, IDLE, COMPLETED, FAILED])
def test_nothing_may_be_said_while_the_call_sites_are_looked_at(frame: bytes) -> None:
    with pytest.raises(GuestProtocolError, match="when its call sites were being checked"):
        said(Conversation(Limits()), SITES, frame)


@pytest.mark.parametrize("frame", [SITES, CALL, OUTPUT, CANCEL, IDLE, COMPLETED, FAILED])
def test_nothing_may_be_said_after_the_end(frame: bytes) -> None:
    with pytest.raises(GuestProtocolError, match="when the program had ended"):
        said(running(), COMPLETED, frame)


def test_call_sites_are_sent_once() -> None:
    with pytest.raises(GuestProtocolError, match="the guest sent sites when the program was running"):
        said(running(), SITES)


def test_ids_grow_and_paths_are_new() -> None:
    with pytest.raises(GuestProtocolError, match="id does not grow"):
        said(running(), CALL, calls((1, "2")))
    with pytest.raises(GuestProtocolError, match="path was used before"):
        said(running(), CALL, calls((2, "1")))
    with pytest.raises(GuestProtocolError, match="id does not grow"):
        said(running(), calls((0, "0")))


def test_only_calls_that_were_made_can_be_cancelled() -> None:
    with pytest.raises(GuestProtocolError, match="cancelled a call that it never made"):
        said(running(), CALL, encode_cancel(2))


def test_calls_and_output_have_an_end() -> None:
    with pytest.raises(LimitExceeded, match="the program made more than 2 calls"):
        said(running(Limits(calls=2)), calls((1, "1"), (2, "2"), (3, "3")))
    with pytest.raises(LimitExceeded, match="the program printed more than 3 bytes"):
        said(running(Limits(output_bytes=3)), encode_output("ab"), encode_output("€"))


def test_parts_of_a_value_may_come_while_the_program_runs_and_only_then() -> None:
    running().received_part(100)
    for conversation in (Conversation(Limits()), said(Conversation(Limits()), SITES), said(running(), COMPLETED)):
        with pytest.raises(GuestProtocolError, match="a part of a value when"):
            conversation.received_part(100)


def test_a_value_and_its_parts_are_no_larger_than_a_value_may_be() -> None:
    end = encode_final("completed", value=b"1")[: -HEADER_BYTES - 1]
    for kept, last in ((90_000, 10_000), (90_000, 10_001)):
        conversation = running(Limits(result_bytes=100_000))
        conversation.received_part(kept)
        said(conversation, end)
        if kept + last > 100_000:
            with pytest.raises(LimitExceeded, match="more than 100000 bytes"):
                conversation.received_value(last)
        else:
            conversation.received_value(last)
    conversation = running(Limits(result_bytes=100_000))
    conversation.received_part(100_000)
    conversation.received_part(2, takes_back=True)
    said(conversation, end).received_value(100_000)
    assert conversation.state is State.ENDED


@pytest.mark.parametrize("size", [2, 1_000_000])
def test_parts_together_are_no_larger_than_a_value_may_be(size: int) -> None:
    conversation = running(Limits(result_bytes=4_000_000))
    with pytest.raises(LimitExceeded, match="more than 4000000 bytes"):
        for _ in range(1_000):
            conversation.received_part(size)


def test_many_small_messages_count_for_more_than_their_bytes() -> None:
    conversation = running(Limits(traffic_bytes=512 * 10))
    with pytest.raises(LimitExceeded, match="exceed 5120 bytes"):
        said(conversation, *[calls() for _ in range(20)])


def test_a_message_of_many_lists_counts_for_more_than_its_bytes() -> None:
    arguments: JsonValue = {"x": [[] for _ in range(10_000)]}  # 30 kB of text
    with pytest.raises(LimitExceeded):
        said(running(Limits(traffic_bytes=70_000)), calls((1, "1"), arguments=encode(arguments)))
    said(running(Limits(traffic_bytes=90_000)), calls((1, "1"), arguments=encode(arguments)))


def test_a_call_is_cancelled_once() -> None:
    conversation = said(running(), CALL, CANCEL)
    with pytest.raises(GuestProtocolError, match="cancelled a call twice"):
        said(conversation, CANCEL)


def test_the_marker_is_acknowledged_once_and_only_by_who_was_sent_it() -> None:
    replaying = Conversation(Limits(), has_preflight=False, replays=True)
    said(replaying, CALL, LIVE)
    for conversation in (replaying, running()):
        with pytest.raises(GuestProtocolError, match="acknowledged a marker that it was not sent, or twice"):
            said(conversation, LIVE)


def test_nothing_is_acknowledged_before_the_program_runs_or_after_it() -> None:
    for frames in ((), (SITES,), (SITES, COMPLETED)):
        with pytest.raises(GuestProtocolError, match="the guest sent"):
            said(Conversation(Limits(), replays=True), *frames, LIVE)
