"""What a guest says, and the guest's half of it: frames, ready to be written. The host reads them in `guest_decoder`.

    {"t":"compiled","code":base64|null}        the one answer of a worker that only compiles: see `decode_compiled`
    {"t":"sites","sites":[[name,[keyword,…],positional,open_ended,line,column],…]}   once, before anything runs
    {"t":"calls","calls":[[id,path,tool,{…}],…],"wake":µs|null,"delay":µs|null}      when the guest is about to wait
    {"t":"output","text":"…","cut":false}                                            printed since the last one
    {"t":"cancel","id":n}                                                            nobody waits for call n any more
    {"t":"live"}                                                                     the marker of the host was read
    {"t":"final","status":"…","has_value":true,"failure":{…}|null,"notes":["…"]}     the end
    …                                                 the frame after a final with has_value: the value, bare JSON
    [item,…]                                          before a final: a part of a list that is the value; [] takes back

`wake` is the earliest moment at which a timer of the guest is due (µs since the epoch, the host's clock), `delay` the
smallest delay of the timers that were started since the last message: those count from when the host reads of them.
Each `calls` message replaces the wishes of the one before.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from sandbox.protocol.framing import frame
from sandbox.protocol.strict_json import JsonValue, encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sandbox.outcome import CallSite

#: Longest compiled program, as base64: some 2,000 lines. What is longer is compiled each time.
COMPILED_CHARACTERS = 512 * 1024
#: Longest name of a tool, a keyword or a type.
NAME_CHARACTERS = 512


def encode_compiled(code: str | None) -> bytes:
    """Return the frame that tells the compiled program; None where it cannot be told."""
    return frame(encode({"t": "compiled", "code": code}))


def encode_sites(sites: Iterable[CallSite]) -> bytes:
    """Return the frame that names the call sites."""
    rows = [[s.name, list(s.keywords), s.positional, s.open_ended, s.line, s.column] for s in sites]
    return frame(encode({"t": "sites", "sites": rows}))


def encode_call(call_id: int, path: str, tool: str, arguments: bytes) -> bytes:
    """Return one call, ready for `encode_calls`; `arguments` are an object as JSON, from `strict_json`."""
    return b'[%d,"%s",%s,%s]' % (call_id, path.encode(), _encode_name(tool), arguments)


def encode_calls(calls: Sequence[bytes], *, wake: int | None = None, delay: int | None = None) -> bytes:
    """Return the frame that makes these calls, each from `encode_call`."""
    wishes = b"null" if wake is None else b"%d" % wake, b"null" if delay is None else b"%d" % delay
    return frame(b'{"t":"calls","calls":[%s],"wake":%s,"delay":%s}' % (b",".join(calls), *wishes))


@lru_cache(maxsize=64)
def _encode_name(tool: str) -> bytes:
    return encode(tool)


def encode_output(text: str, *, cut: bool = False) -> bytes:
    """Return the frame that carries printed text. Halves of surrogate pairs are replaced."""
    return frame(encode({"t": "output", "text": text.encode("utf-8", "replace").decode(), "cut": cut}))


def encode_cancel(call_id: int) -> bytes:
    """Return the frame that gives up on a call."""
    return frame(encode({"t": "cancel", "id": call_id}))


def encode_live() -> bytes:
    """Return the frame that acknowledges the host's marker."""
    return frame(b'{"t":"live"}')


def encode_final(
    status: str,
    *,
    value: bytes | None = None,
    failure: Mapping[str, JsonValue] | None = None,
    notes: Sequence[str] = (),
) -> bytes:
    """Return the end: one frame, or two when there is a value (`value` is its JSON text, from `strict_json`).

    `failure` has the keys of `Failure`; `refusals` in it is a list of `[rule, message, line, column, hint]`.
    """
    if status == "completed" and not notes:
        end = COMPLETED[value is not None]
    else:
        end = frame(_final(status, failure=failure, notes=notes, has_value=value is not None))
    return end if value is None else end + frame(value)


def _final(
    status: str, *, failure: Mapping[str, JsonValue] | None = None, notes: Sequence[str] = (), has_value: bool
) -> bytes:
    message = {
        "t": "final",
        "status": status,
        "has_value": has_value,
        "failure": dict(failure) if failure is not None else None,
        "notes": list(notes),
    }
    return encode(message)


#: How most programs end, by whether there is a value.
COMPLETED = {has_value: frame(_final("completed", has_value=has_value)) for has_value in (False, True)}
