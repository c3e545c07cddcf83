"""Fuzz what decodes the guest's frames: mutations of good conversations, judged by what may never happen.

    python tests/security/fuzz/frames.py [--seconds 60] [--seed N]

Whatever the bytes, the host's side must either admit a message or raise GuestProtocolError or FrameTooLarge, within
its budgets and in time; depth is checked against a slow and simple count. A failure prints the seed and the bytes.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from itertools import count
from typing import TYPE_CHECKING, Any

from sandbox.errors import GuestProtocolError
from sandbox.limits import Limits
from sandbox.protocol.conversation import Conversation, State
from sandbox.protocol.framing import FrameBuffer, FrameTooLarge
from sandbox.protocol.guest_messages import (
    encode_call,
    encode_calls,
    encode_cancel,
    encode_final,
    encode_idle,
    encode_live,
    encode_output,
    encode_sites,
)
from sandbox.protocol.strict_json import InvalidJson, check_shape, loads_result, weight

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Seconds that no conversation takes.
SLOW_S = 5.0

LIMITS = Limits(frame_bytes=100_000, result_bytes=100_000, calls=100, output_bytes=10_000)
#: Bytes that change what JSON means, more often than others.
SPICES = [
    b"[",
    b"]",
    b"{",
    b"}",
    b'"',
    b"\\",
    b",",
    b":",
    b"\\ud800",
    b"NaN",
    b"1e999",
    b"9" * 200,
    b"\xff",
    b"\0",
    b"null",
]
PIECES = ['"', "\\", "[", "{", "}", "]", "a", '"]', '\\"', "\\\\", '","', '{"', "\u2028", "\ud7ff"]


def conversation_of(chance: random.Random) -> bytes:
    """Return the frames of a guest that behaves."""
    frames = [encode_sites([])]
    for number in range(1, chance.randrange(6)):
        arguments = json.dumps({"x": value(chance, 3)}).encode()
        call = encode_call(number, str(number), "ns.tool", arguments)
        frames.append(encode_calls([call], wake=chance.choice([None, 5])))
        frames.append(chance.choice([encode_output("text"), encode_cancel(number), encode_live(), encode_idle(), b""]))
    frames.append(encode_final("completed", value=json.dumps(value(chance, 4)).encode()))
    return b"".join(frames)


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Change some bytes, cut, repeat, or insert."""
    for _ in range(chance.randrange(5)):
        at = chance.randrange(len(data) + 1)
        kind = chance.randrange(4)
        if kind == 0:
            data = data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
        elif kind == 1:
            data = data[:at] + chance.choice(SPICES) * chance.choice([1, 1, 2, 100]) + data[at:]
        elif kind == 2:
            data = data[:at] + data[at + chance.randrange(8) :]
        else:
            data += data[at : at + 50]
    return data


def listen(data: bytes, chance: random.Random) -> None:
    """Be the host of these bytes, cut anywhere."""
    conversation, buffer = Conversation(LIMITS), FrameBuffer()
    while data:
        size = chance.choice([1, 3, 50, 10_000])
        buffer.feed(data[:size])
        data = data[size:]
        while (body := buffer.next_frame(budget=conversation.budget)) is not None:
            if conversation.state is State.VALUE:
                conversation.received_value(weight(body))
                loads_result(body, depth=LIMITS.result_depth)
                continue
            conversation.received(body)
            if conversation.state is State.ASKED:
                conversation.went()
    assert conversation.calls <= LIMITS.calls
    assert conversation.output_bytes <= LIMITS.output_bytes


def value(chance: random.Random, depth: int) -> Any:
    """Return JSON data with awkward strings."""
    kind = chance.random()
    if depth == 0 or kind < 0.4:
        return "".join(chance.choice(PIECES) for _ in range(chance.randrange(5)))
    if kind < 0.7:
        return [value(chance, depth - 1) for _ in range(chance.randrange(4))]
    return {value(chance, 0): value(chance, depth - 1) for _ in range(chance.randrange(4))}


def depth_of(data: Any) -> int:
    """Count nesting, the slow and simple way."""
    if isinstance(data, list):
        return 1 + max(map(depth_of, data), default=0)
    if isinstance(data, dict):
        return 1 + max(map(depth_of, data.values()), default=0)
    return 0


def check_depth(chance: random.Random) -> None:
    """Compare the count on the bytes with the count on the data."""
    data = value(chance, 6)
    text = json.dumps(data, ensure_ascii=chance.random() < 0.5).encode()
    true_depth = depth_of(data)
    for limit in range(max(0, true_depth - 1), true_depth + 2):
        try:
            check_shape(text, depth=limit, digits=100)
            is_deeper = False
        except InvalidJson:
            is_deeper = True
        assert is_deeper == (true_depth > limit), (text, true_depth, limit)


def conversations(seed: int) -> Iterator[tuple[int, bytes]]:
    """Hear one hostile conversation after the other, and yield its number and bytes."""
    for number in count():
        chance = random.Random(seed * 1_000_003 + number)  # noqa: S311 - repeatable on purpose
        data = mutated(conversation_of(chance), chance)
        try:
            check_depth(chance)
            listen(data, chance)
        except (GuestProtocolError, FrameTooLarge, InvalidJson):
            pass
        except BaseException:
            sys.stderr.write(f"seed {seed}, conversation {number}: {data!r}\n")
            raise
        yield number, data


def main() -> int:
    """Parse the command line and fuzz."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    ended = time.process_time()
    deadline = ended + options.seconds
    for number, data in conversations(options.seed):
        begun, ended = ended, time.process_time()
        if ended - begun > SLOW_S:
            sys.exit(f"seed {options.seed}, conversation {number} took {ended - begun:.1f} s: {data!r}")
        if ended > deadline:
            break
    sys.stdout.write(f"{number + 1} conversations, seed {options.seed}: every one admitted or refused\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
