from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.protocol.framing import FrameBuffer, FrameTooLarge, frame


def test_a_frame_is_its_length_in_four_bytes_and_its_body() -> None:
    assert frame(b"abc") == b"\0\0\0\3abc"


def test_a_frame_comes_out_once_its_last_piece_is_there() -> None:
    buffer = FrameBuffer()
    buffer.feed(frame(b"one") + frame(b"second")[:2])
    assert buffer.next_frame(budget=50) == b"one"
    assert buffer.next_frame(budget=50) is None
    buffer.feed(frame(b"second")[2:6])
    assert buffer.next_frame(budget=50) is None
    buffer.feed(frame(b"second")[6:])
    assert buffer.next_frame(budget=50) == b"second"
    assert buffer.next_frame(budget=50) is None


@given(bodies=st.lists(st.binary(max_size=50), max_size=6), cuts=st.lists(st.integers(1, 20), min_size=1, max_size=40))
def test_frames_come_out_as_they_went_in_however_the_stream_is_cut(bodies: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(frame(body) for body in bodies)
    buffer = FrameBuffer()
    seen = []
    while stream:
        size = cuts.pop(0) if cuts else 7
        buffer.feed(stream[:size])
        stream = stream[size:]
        while (body := buffer.next_frame(budget=50)) is not None:
            seen.append(body)
    assert seen == bodies
    assert buffer.next_frame(budget=50) is None


def test_a_frame_over_budget_is_refused_before_its_body_arrives() -> None:
    buffer = FrameBuffer()
    buffer.feed(b"\x7f\xff\xff\xff")
    with pytest.raises(FrameTooLarge, match="a frame of 2147483647 bytes was announced, 100 are allowed"):
        buffer.next_frame(budget=100)
