"""Messages of the host, encoded as frames and decoded by the guest.

    {"t":"compile",PROGRAM,"limits":{…}}                                      compile the program and do not run it
    {"t":"run",PROGRAM,"seed":hex64,"now":µs,"limits":{…},"inputs":bool,"asks":bool}
    {…}                                                                       the inputs, if `inputs`
    {"t":"go"}                                                                the call sites are accepted
    {"t":"reply","id":n,"now":µs,"ok":value}                                  a call was answered
    {"t":"reply","id":n,"now":µs,"error":{"message","kind","status","body","retry_after_s"}}
    {"t":"tick","now":µs}                                                     a timer is due
    {"t":"live","now":µs}                                                     the marker behind the record

PROGRAM is "code":str,"names":[…],"parameters":{name:[…]},"values":{name:function},"compiled":base64|null. `names` are
the root names bound for the program. `parameters` maps each tool that also takes positional arguments to their names.
`values` maps each name that has a value if the program reads it to the function that returns the value. `compiled` is
the answer of an earlier worker that was sent `compile`, and therefore nothing of any run.
`now` is the host's clock in µs since the epoch. A reply or tick may carry `"marks":[µs,…]`: the moments at which the
host read each `calls` message with a `delay`, in order. The delays count from these moments.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from sandbox.protocol.framing import frame
from sandbox.protocol.large_answers import encode_large
from sandbox.protocol.strict_json import RESULT_DIGITS, JsonValue, check_shape, encode

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sandbox.errors import CallFailed
    from sandbox.limits import Limits

#: Deepest nesting of a tool's answer. The program's own `json.dumps` would fail on deeper values.
REPLY_DEPTH = 200


def encode_program(code: str, names: Collection[str], compiled: str | None = None) -> bytes:
    """Return the part of a message that describes the program, with its compiled form if that is known.

    Raises InvalidJson for code with a lone surrogate.
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
    """Return the frame that starts a program, followed by the frame of its inputs if there are any.

    `program` comes from `encode_program`. With `asks`, the guest sends its call sites and waits for `go`.
    Raises InvalidJson or TypeError for inputs that are not JSON data.
    """
    rest = (
        seed.hex().encode(),
        now,
        _encode_limits(limits),
        b"true" if inputs else b"false",
        b"true" if asks else b"false",
    )
    start = frame(_RUN % (program, *rest))
    return start + frame(encode_value(dict(inputs))) if inputs else start


def encode_compile(program: bytes, *, limits: Limits) -> bytes:
    """Return the frame that has a program compiled; `program` comes from `encode_program`."""
    return frame(_COMPILE % (program, _encode_limits(limits)))


def encode_go() -> bytes:
    """Return the frame that lets the program run."""
    return _GO


def encode_value(value: JsonValue) -> bytes:
    """Return a tool's answer as JSON, for `encode_reply`. Raises InvalidJson or TypeError if it is not JSON data."""
    data = encode(value)
    check_shape(data, depth=REPLY_DEPTH, digits=RESULT_DIGITS)
    return data


def encode_large_value(value: JsonValue) -> bytes:
    """Return the same as `encode_value` for a large answer, in slices. Call it in a thread."""
    data = encode_large(value)
    check_shape(data, depth=REPLY_DEPTH, digits=RESULT_DIGITS)
    return data


def encode_reply(call_id: int, *, now: int, value: bytes, marks: Sequence[int] = ()) -> bytes:
    """Return the frame that answers a call; `value` comes from `encode_value`."""
    return frame(b'{"t":"reply","id":%d,"now":%d%s,"ok":%s}' % (call_id, now, _marks(marks), value))


def encode_failure(error: CallFailed) -> bytes:
    """Return an error as JSON, for `encode_failed_reply`. Raises InvalidJson or TypeError for its body."""
    fields = {
        "message": error.message,
        "kind": error.kind,
        "status": error.status,
        "body": error.body,
        "retry_after_s": error.retry_after_s,
    }
    return encode_value(fields)


def encode_failed_reply(call_id: int, *, now: int, fields: bytes, marks: Sequence[int] = ()) -> bytes:
    """Return the frame that reports a failed call; `fields` come from `encode_failure`."""
    return frame(b'{"t":"reply","id":%d,"now":%d%s,"error":%s}' % (call_id, now, _marks(marks), fields))


def encode_tick(*, now: int, marks: Sequence[int] = ()) -> bytes:
    """Return the frame that reports that a timer is due."""
    return frame(b'{"t":"tick","now":%d%s}' % (now, _marks(marks)))


def encode_live(*, now: int) -> bytes:
    """Return the marker behind a record; the guest acknowledges it."""
    return frame(b'{"t":"live","now":%d}' % now)


#: The limits that the guest checks first, so that a program sees an error of its own. The host enforces all of them.
_TOLD = ("source_bytes", "source_depth", "output_bytes", "result_bytes", "result_depth", "calls", "frame_bytes")


@lru_cache(maxsize=64)
def _encode_names(names: Sequence[str]) -> tuple[bytes, bytes, bytes]:
    """Return root names, positional parameters as in `search(query, limit)`, and values as in `last=load`."""
    values = dict(name.split("=", 1) for name in names if "=" in name)
    parameters = {}
    for name in names:
        if "=" in name:
            continue
        path, _, listed = name.partition("(")
        parameters[path] = [part.strip() for part in listed.rstrip(")").split(",") if part.strip()]
    roots = list(dict.fromkeys(path.partition(".")[0] for path in parameters))
    return encode(roots), encode({path: listed for path, listed in parameters.items() if listed}), encode(values)


@lru_cache(maxsize=64)
def _encode_limits(limits: Limits) -> bytes:
    return encode({name: getattr(limits, name) for name in _TOLD})


def _marks(marks: Sequence[int]) -> bytes:
    return b',"marks":[%s]' % b",".join(b"%d" % mark for mark in marks) if marks else b""


_GO = frame(b'{"t":"go"}')
_PROGRAM = b'"code":%s,"names":%s,"parameters":%s,"values":%s,"compiled":%s'
_COMPILE = b'{"t":"compile",%s,"limits":%s}'
_RUN = b'{"t":"run",%s,"seed":"%s","now":%d,"limits":%s,"inputs":%s,"asks":%s}'
