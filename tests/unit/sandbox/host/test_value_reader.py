from __future__ import annotations

import pytest

from sandbox import JsonText, Limits
from sandbox.errors import GuestProtocolError
from sandbox.host.value_reader import ValueReader
from sandbox.protocol.conversation import Conversation, LimitExceeded, State
from sandbox.protocol.framing import HEADER_BYTES
from sandbox.protocol.guest_messages import encode_final, encode_sites
from sandbox.protocol.large_results import LARGE

#: A list of one long string: it is checked in steps.
TEXT = b'["' + b"x" * LARGE + b'"]'


def reader(*, final: bool = False) -> ValueReader:
    """Return a reader of a running program, or of one that has sent its final message."""
    conversation = Conversation(Limits(), has_preflight=False)
    if final:
        conversation.received(encode_final("completed", value=b"")[HEADER_BYTES:-HEADER_BYTES])
    return ValueReader(Limits(), conversation)


def finish(values: ValueReader) -> int:
    """Check all steps, and return their number."""
    steps = 0
    while values.is_checking:
        values.check_step()
        steps += 1
    return steps


def test_a_small_value_is_complete_at_once() -> None:
    values = reader(final=True)
    values.take_value(b"[1]")
    assert (values.is_complete, values.is_checking, values.value) == (True, False, [1])
    values.clear()
    assert values.value is None


def test_a_large_value_is_checked_in_steps_and_stays_text() -> None:
    values = reader(final=True)
    values.take_value(TEXT)
    assert not values.is_complete
    assert finish(values) == 2  # the text, then the grammar
    assert values.value == JsonText(TEXT)
    assert values.value.value == ["x" * LARGE]


def test_parts_and_the_last_frame_make_one_text() -> None:
    values = reader()
    values.take_part(b"[1]")
    values.take_part(TEXT)
    finish(values)
    values._conversation.state = State.VALUE
    values.take_value(b"[2]")
    assert values.value.value == [1, "x" * LARGE, 2]


@pytest.mark.parametrize("text", [b"[NaN]", TEXT[:-1] + b"]]", TEXT[:-1] + b",1e999]"], ids=lambda text: repr(text[:5]))
@pytest.mark.parametrize("is_part", [True, False])
def test_an_invalid_text_is_a_breach(text: bytes, *, is_part: bool) -> None:
    values = reader(final=not is_part)
    with pytest.raises(GuestProtocolError, match="the guest sent a result that is "):
        values.take_part(text) if is_part else values.take_value(text)
        finish(values)


@pytest.mark.parametrize("part", [b"[1]", TEXT, b"+[", b"-"], ids=lambda part: repr(part[:5]))
def test_a_part_before_the_program_runs_is_a_breach_before_it_is_checked(part: bytes) -> None:
    conversation = Conversation(Limits())
    conversation.received(encode_sites([])[HEADER_BYTES:])
    values = ValueReader(Limits(), conversation)
    with pytest.raises(GuestProtocolError, match="a part of a value when its call sites were being checked"):
        values.take_part(part)
    assert not values.is_checking


def test_a_text_that_weighs_more_than_its_bytes_is_too_large() -> None:
    conversation = Conversation(Limits(result_bytes=200_000), has_preflight=False)
    values = ValueReader(Limits(result_bytes=200_000), conversation)
    values.take_part(b"[" + b"[]," * 30_000 + b"1]")
    with pytest.raises(LimitExceeded, match="the value counts for more than 200000 bytes"):
        finish(values)


@pytest.mark.parametrize("is_large", [True, False])
def test_parts_that_together_would_be_slow_to_parse_are_rejected(*, is_large: bool) -> None:
    """Each part alone would be fast: one holds the exponents, another the integer of 19 digits."""
    exponents = b"[" + b",".join([b"1e100"] * (12_000 if is_large else 2_001)) + b"]"
    values = reader()
    values.take_part(exponents)
    finish(values)
    values._conversation.state = State.VALUE
    with pytest.raises(GuestProtocolError, match="an integer of 19 digits, beside over 2000 numbers"):
        values.take_value(b"[1234567890123456789]")
