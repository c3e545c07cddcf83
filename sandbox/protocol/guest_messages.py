"""Messages of the guest, encoded as frames. The host decodes them in `guest_decoder`.

    {"t":"compiled","code":base64|null}                                              the answer to `compile`
    {"t":"sites","sites":[[name,[keyword,…],positional,open_ended,line,column],…]}   once, before the program runs
    {"t":"calls","calls":[[id,path,tool,{…}],…],"wake":µs|null,"delay":µs|null}      before the guest waits
    {"t":"output","text":"…","cut":false}                                            text printed since the last one
    {"t":"cancel","id":n}                                                            call n is no longer needed
    {"t":"idle"}                                                                     only that timer is awaited
    {"t":"live"}                                                                     the marker has been read
    {"t":"final","status":"…","has_value":true,"failure":{…}|null,"notes":["…"]}     the end
    …                                                                                the value, if has_value
    [item,…]                                                                         a part of the value; see `parts`

`wake` is the moment at which the guest's next timer is due, in µs since the epoch by the host's clock. `delay` is the
smallest delay of the timers started since the last message, which count from the moment when the host reads it. The
two values of each `calls` message replace those of the message before.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from sandbox.protocol.framing import frame
from sandbox.protocol.strict_json import JsonValue, encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sandbox.outcome import CallSite

#: Longest compiled program, as base64: about 2,000 lines. Longer ones are compiled in each run.
COMPILED_CHARACTERS = 512 * 1024
#: Longest name of a tool, a keyword or a type.
NAME_CHARACTERS = 512


def encode_compiled(code: str | None) -> bytes:
    """Return the frame with the compiled program, or None if there is none."""
    return frame(encode({"t": "compiled", "code": code}))


def encode_sites(sites: Iterable[CallSite]) -> bytes:
    """Return the frame with the call sites."""
    rows = [[s.name, list(s.keywords), s.positional, s.open_ended, s.line, s.column] for s in sites]
    return frame(encode({"t": "sites", "sites": rows}))


def encode_call(call_id: int, path: str, tool: str, arguments: bytes) -> bytes:
    """Return one call for `encode_calls`; `arguments` are a JSON object from `strict_json`."""
    return b'[%d,"%s",%s,%s]' % (call_id, path.encode(), _encode_name(tool), arguments)


def encode_calls(calls: Sequence[bytes], *, wake: int | None = None, delay: int | None = None) -> bytes:
    """Return the frame with these calls, each from `encode_call`."""
    wishes = b"null" if wake is None else b"%d" % wake, b"null" if delay is None else b"%d" % delay
    return frame(b'{"t":"calls","calls":[%s],"wake":%s,"delay":%s}' % (b",".join(calls), *wishes))


@lru_cache(maxsize=64)
def _encode_name(tool: str) -> bytes:
    return encode(tool)


def encode_output(text: str, *, cut: bool = False) -> bytes:
    """Return the frame with printed text. Lone surrogates are replaced."""
    return frame(encode({"t": "output", "text": text.encode("utf-8", "replace").decode(), "cut": cut}))


def encode_cancel(call_id: int) -> bytes:
    """Return the frame that cancels a call."""
    return frame(encode({"t": "cancel", "id": call_id}))


def encode_idle() -> bytes:
    """Return the frame after `calls` of a guest that awaits no call, and no timer for a while."""
    return frame(b'{"t":"idle"}')


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
    """Return the final frame, followed by the frame of the value if there is one, a JSON text from `strict_json`.

    `failure` has the keys of `Failure`; its `refusals` are a list of `[rule, message, line, column, hint]`.
    """
    if status == "completed" and not notes:
        end = COMPLETED[value is not None]
    else:
        message = {
            "t": "final",
            "status": status,
            "has_value": value is not None,
            "failure": None if failure is None else dict(failure),
            "notes": list(notes),
        }
        end = frame(encode(message))
    return end if value is None else end + frame(value)


#: The final frame of most programs, by whether there is a value.
COMPLETED = {
    has_value: frame(b'{"t":"final","status":"completed","has_value":%s,"failure":null,"notes":[]}' % text)
    for has_value, text in ((False, b"false"), (True, b"true"))
}
