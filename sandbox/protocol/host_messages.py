"""What the host says: encoded by the host, decoded by the guest.

    {"t":"compile",PROGRAM,"limits":{…}}                        to a worker that only compiles: say what comes of it
    {"t":"run",PROGRAM,"seed":hex64,"now":µs,"limits":{…},"inputs":bool,"asks":bool}
    {…}                                                          the frame after a run with inputs: the inputs, bare
    {"t":"go"}                                                               asked: the call sites are accepted
    {"t":"reply","id":n,"now":µs,"ok":value}                                              a call was answered
    {"t":"reply","id":n,"now":µs,"error":{"message","kind","status","body","retry_after_s"}}
    {"t":"tick","now":µs}                                                                 a timer is due
    {"t":"live","now":µs}                                               all that was recorded has been sent: say so

PROGRAM is "code":str,"names":[…],"parameters":{name:[…]},"compiled":base64|null. `names` are the roots that a program
finds; `parameters` are those that a tool or function takes by position, too; `compiled` is what a worker said that was
given this program to compile. It is given nothing of a run, which it could carry to other runs.
`now` is the host's clock in µs since the epoch. A reply or tick may carry `"marks":[µs,…]`: when the host read each
`calls` message that had a `delay`, in order; the timers that it spoke of count from there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from sandbox.protocol.framing import frame
from sandbox.protocol.strict_json import RESULT_DIGITS, JsonValue, check_shape, dumps, encode

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sandbox.errors import CallFailed
    from sandbox.limits import Limits

#: Nesting of a reply: what a tool may return. Deeper values would not survive the program's own `json.dumps`.
REPLY_DEPTH = 200


def encode_program(code: str, names: Collection[str], compiled: str | None = None) -> bytes:
    """Return what a run says of its program: the same at each run. `compiled` is what it was compiled to before.

    Raises InvalidJson, TypeError for code that cannot cross.
    """
    told = b"null" if compiled is None else b'"%s"' % compiled.encode()
    return _PROGRAM % (encode(code), *_encode_names(tuple(sorted(names))), told)


def encode_run(
    program: bytes,
    *,
    seed: bytes,
    now: int,
    limits: Limits,
    inputs: Mapping[str, JsonValue],
    asks: bool = True,
) -> bytes:
    """Return the start of a program, one frame or two; `program` comes from `encode_program`.

    With `asks` the guest tells the call sites and waits for `go`.

    Raises InvalidJson, TypeError for inputs that cannot cross.
    """
    rest = (
        seed.hex().encode(),
        now,
        _encode_limits(limits),
        b"true" if inputs else b"false",
        b"true" if asks else b"false",
    )
    start = frame(_RUN % (program, *rest))
    return start + frame(dumps(dict(inputs), depth=REPLY_DEPTH, digits=RESULT_DIGITS)) if inputs else start


def encode_compile(program: bytes, *, limits: Limits) -> bytes:
    """Return the frame that asks what a program is compiled to; `program` comes from `encode_program`."""
    return frame(_COMPILE % (program, _encode_limits(limits)))


def encode_go() -> bytes:
    """Return the frame that lets the program run."""
    return _GO


def encode_value(value: JsonValue) -> bytes:
    """Return a call's value as JSON, ready for `encode_reply`. Raises InvalidJson, TypeError: not JSON data."""
    data = encode(value)
    check_shape(data, depth=REPLY_DEPTH, digits=RESULT_DIGITS)
    return data


def encode_reply(call_id: int, *, now: int, value: bytes, marks: Sequence[int] = ()) -> bytes:
    """Return the frame that answers a call; `value` comes from `encode_value`."""
    return frame(b'{"t":"reply","id":%d,"now":%d%s,"ok":%s}' % (call_id, now, _marks(marks), value))


def encode_failure(error: CallFailed) -> bytes:
    """Return the fields of an error as JSON, ready for `encode_failed_reply`."""
    fields = {
        "message": error.message,
        "kind": error.kind,
        "status": error.status,
        "body": error.body,
        "retry_after_s": error.retry_after_s,
    }
    return encode_value(fields)


def encode_failed_reply(call_id: int, *, now: int, fields: bytes, marks: Sequence[int] = ()) -> bytes:
    """Return the frame that tells the program that a call failed; `fields` come from `encode_failure`."""
    return frame(b'{"t":"reply","id":%d,"now":%d%s,"error":%s}' % (call_id, now, _marks(marks), fields))


def encode_tick(*, now: int, marks: Sequence[int] = ()) -> bytes:
    """Return the frame that says that a timer is due."""
    return frame(b'{"t":"tick","now":%d%s}' % (now, _marks(marks)))


def encode_live(*, now: int) -> bytes:
    """Return the marker behind frames that were sent ahead: the guest acknowledges it when it reads it."""
    return frame(b'{"t":"live","now":%d}' % now)


#: The limits that the guest keeps by itself, so that a program is told what it did; the host keeps all of them.
_TOLD = (
    "source_bytes",
    "source_depth",
    "output_bytes",
    "result_bytes",
    "result_depth",
    "calls",
    "frame_bytes",
)


@lru_cache(maxsize=64)
def _encode_names(names: Sequence[str]) -> tuple[bytes, bytes]:
    """Return the roots of the names and their parameters: `search(query, limit)` may be given them by position."""
    parameters = {}
    for name in names:
        path, _, listed = name.partition("(")
        parameters[path] = [part.strip() for part in listed.rstrip(")").split(",") if part.strip()]
    roots = list(dict.fromkeys(path.partition(".")[0] for path in parameters))
    return encode(roots), encode({path: listed for path, listed in parameters.items() if listed})


@lru_cache(maxsize=64)
def _encode_limits(limits: Limits) -> bytes:
    return encode({name: getattr(limits, name) for name in _TOLD})


def _marks(marks: Sequence[int]) -> bytes:
    return b',"marks":[%s]' % b",".join(b"%d" % mark for mark in marks) if marks else b""


_GO = frame(b'{"t":"go"}')
_PROGRAM = b'"code":%s,"names":%s,"parameters":%s,"compiled":%s'
_COMPILE = b'{"t":"compile",%s,"limits":%s}'
_RUN = b'{"t":"run",%s,"seed":"%s","now":%d,"limits":%s,"inputs":%s,"asks":%s}'
