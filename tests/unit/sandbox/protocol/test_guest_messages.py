from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.errors import GuestProtocolError
from sandbox.outcome import Call, CallSite, Failure, Refusal
from sandbox.protocol import guest_decoder as decoder
from sandbox.protocol import guest_messages as messages
from sandbox.protocol.framing import HEADER_BYTES
from sandbox.protocol.strict_json import encode

FAILURE: dict[str, Any] = {
    "type": "KeyError", "message": "'a'", "line": 3, "column": None, "excerpt": "x", "hint": "", "traceback": "",
    "refusals": [["import", "no", 1, 0, "drop it"]],
}  # fmt: skip


def body(frame: bytes) -> bytes:
    return frame[HEADER_BYTES:]


def test_call_sites_cross_unchanged() -> None:
    site = CallSite("github.issues.create", ("title", "body"), 1, open_ended=True, line=4, column=8)
    assert decoder.decode_guest_message(body(messages.encode_sites([site]))) == decoder.Sites((site,))


@pytest.mark.parametrize("code", [None, "AA==", "A+/z09AA"])
def test_compiled_programs_cross_unchanged(code: str | None) -> None:
    assert decoder.decode_compiled(body(messages.encode_compiled(code))) == code


@pytest.mark.parametrize(
    "code", ["", 'A"A', "A A", "A\n", "AA=A", "ü", 1, ["A"], "A" * (messages.COMPILED_CHARACTERS + 1)]
)
def test_a_compiled_program_that_is_none_is_a_breach(code: Any) -> None:
    with pytest.raises(GuestProtocolError, match="a compiled program"):
        decoder.decode_compiled(body(messages.encode_compiled(code)))


def test_calls_cross_unchanged() -> None:
    frame = messages.encode_calls([messages.encode_call(7, "3.1", "a.b", b'{"x":[1]}')], wake=10, delay=20)
    assert decoder.decode_guest_message(body(frame)) == decoder.Calls((Call(7, "3.1", "a.b", {"x": [1]}),), 10, 20)


@pytest.mark.parametrize("arguments", [{}, {"x": 1}, {"x": [{"y": "]],["}], "ü": '"}'}], ids=repr)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_calls_without_timers_cross_unchanged(arguments: dict[str, Any], count: int) -> None:
    calls = [Call(n, f"3.{n}", "a.b", arguments) for n in range(1, count + 1)]
    frame = messages.encode_calls(
        [messages.encode_call(call.id, call.path, call.tool, encode(call.arguments)) for call in calls]
    )
    assert decoder.decode_guest_message(body(frame)) == decoder.Calls(tuple(calls), None, None)


@pytest.mark.parametrize(
    "arguments", [b'{"x":1},{}', b'{"x":1,"x":2}', b'{"x":NaN}', b'{"x":1}}', b"{" * 80 + b"}" * 80, b'{"x":"\xff"}']
)
def test_one_call_with_arguments_that_are_none_is_a_breach(arguments: bytes) -> None:
    message = b'{"t":"calls","calls":[[1,"1","a",%s]],"wake":null,"delay":null}' % arguments
    with pytest.raises(GuestProtocolError):
        decoder.decode_guest_message(message)


def test_output_crosses_with_halves_of_surrogates_replaced() -> None:
    frame = messages.encode_output("a\ud800b", cut=True)
    assert decoder.decode_guest_message(body(frame)) == decoder.Output("a?b", cut=True)


def test_an_end_without_a_value_is_one_frame() -> None:
    frame = messages.encode_final("failed", failure=FAILURE, notes=["n"])
    failure = Failure("KeyError", "'a'", 3, None, "x", refusals=(Refusal("import", "no", 1, 0, "drop it"),))
    expected = decoder.Final("failed", has_value=False, failure=failure, notes=("n",))
    assert decoder.decode_guest_message(body(frame)) == expected


def test_a_value_follows_in_a_frame_of_its_own() -> None:
    frames = messages.encode_final("completed", value=b"[1,2]")
    assert frames.endswith(b"\0\0\0\5[1,2]")


GOOD: dict[str, dict[str, Any]] = {
    "sites": {"t": "sites", "sites": [["a", ["k"], 0, False, 1, 0]]},
    "calls": {"t": "calls", "calls": [[1, "1", "a", {}]], "wake": None, "delay": None},
    "output": {"t": "output", "text": "x", "cut": False},
    "cancel": {"t": "cancel", "id": 1},
    "idle": {"t": "idle"},
    "live": {"t": "live"},
    "final": {"t": "final", "status": "failed", "has_value": False, "failure": FAILURE, "notes": []},
}

BAD = [
    ("calls", {"extra": 1}),
    ("calls", {"wake": 1.5}),
    ("calls", {"wake": -1}),
    ("calls", {"wake": 2**60}),
    ("calls", {"delay": True}),
    ("calls", {"calls": {}}),
    ("calls", {"calls": [[True, "1", "a", {}]]}),
    ("calls", {"calls": [["1", "1", "a", {}]]}),
    ("calls", {"calls": [[1.0, "1", "a", {}]]}),
    ("calls", {"calls": [[10**90, "1", "a", {}]]}),
    ("calls", {"calls": [[1, "p" * 161, "a", {}]]}),
    ("calls", {"calls": [[1, None, "a", {}]]}),
    ("calls", {"calls": [[1, "3/1", "a", {}]]}),
    ("calls", {"calls": [[1, "", "a", {}]]}),
    ("calls", {"calls": [[1, "1", "a" * 513, {}]]}),
    ("calls", {"calls": [[1, "1", "a", []]]}),
    ("calls", {"calls": [[1, "1", "a", {}, 1]]}),
    ("sites", {"sites": [["a", ["k"], 0, 0, 1, 0]]}),
    ("sites", {"sites": [["a", [1], 0, False, 1, 0]]}),
    ("sites", {"sites": [["a", ["k"], -1, False, 1, 0]]}),
    ("sites", {"sites": [["a", ["k"], 0, False, 1, 0]] * 20_001}),
    ("output", {"text": 1}),
    ("output", {"cut": None}),
    ("cancel", {"id": "1"}),
    ("live", {"now": 1}),
    ("final", {"status": "timed_out"}),
    ("final", {"status": "completed"}),
    ("final", {"failure": None}),
    ("final", {"failure": "KeyError"}),
    ("final", {"has_value": True}),
    ("final", {"notes": ["x"] * 101}),
    ("final", {"notes": "x"}),
    ("final", {"failure": {**FAILURE, "more": 1}}),
    ("final", {"failure": {**FAILURE, "message": None}}),
    ("final", {"failure": {**FAILURE, "message": "x" * 65_537}}),
    ("final", {"failure": {**FAILURE, "line": "1"}}),
    ("final", {"failure": {**FAILURE, "refusals": [["a"]]}}),
    ("final", {"t": "approve"}),
    ("final", {"t": ["final"]}),
]


@pytest.mark.parametrize("kind", GOOD)
def test_the_examples_of_good_messages_are_good(kind: str) -> None:
    decoder.decode_guest_message(json.dumps(GOOD[kind]).encode())


@pytest.mark.parametrize(("kind", "change"), BAD)
def test_a_message_of_another_shape_is_a_breach(kind: str, change: dict[str, Any]) -> None:
    with pytest.raises(GuestProtocolError, match="the guest sent "):
        decoder.decode_guest_message(json.dumps({**GOOD[kind], **change}).encode())


@pytest.mark.parametrize("kind", GOOD)
def test_a_message_without_one_of_its_fields_is_a_breach(kind: str) -> None:
    for field in GOOD[kind]:
        rest = {key: value for key, value in GOOD[kind].items() if key != field}
        with pytest.raises(GuestProtocolError):
            decoder.decode_guest_message(json.dumps(rest).encode())


@given(data=st.binary(max_size=200))
def test_no_bytes_do_anything_but_decode_or_breach(data: bytes) -> None:
    try:
        decoder.decode_guest_message(data)
    except GuestProtocolError as error:
        assert len(str(error)) < 300


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(list(GOOD)),
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.dictionaries(st.sampled_from(["t", "calls", "wake", "delay", "text", "id", "notes", "status"]), inner)
    ),
    max_leaves=25,
)


@given(value=JSON, kind=st.sampled_from(list(GOOD)), data=st.data())
def test_no_change_to_a_message_does_anything_but_decode_or_breach(
    value: object, kind: str, data: st.DataObject
) -> None:
    field = data.draw(st.sampled_from(list(GOOD[kind])))
    try:
        decoder.decode_guest_message(json.dumps({**GOOD[kind], field: value}).encode())
    except GuestProtocolError:
        return
