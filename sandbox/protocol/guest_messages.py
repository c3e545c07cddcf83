"""What a guest says: encoded by the guest, decoded by the host, which believes nothing.

    {"t":"compiled","code":base64|null}                            first of all, where it was asked for: see `Compiled`
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

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from sandbox.errors import GuestProtocolError
from sandbox.outcome import Call, CallSite, Failure, Refusal
from sandbox.protocol.framing import HEADER_BYTES, frame
from sandbox.protocol.strict_json import MESSAGE_DEPTH, InvalidJson, JsonValue, dumps, encode, loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

#: Longest path of a call: deeper places in the tree of tasks are named by a digest.
PATH_CHARACTERS = 160
#: Numbers of events, or of the digest of a deep place: whoever keeps records of calls may build on it.
_PATH = re.compile(r"[0-9a-f.~]+")
#: Longest compiled program, as base64: some 2,000 lines. What is longer is compiled each time.
COMPILED_CHARACTERS = 512 * 1024
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
#: Longest name of a tool, a keyword or a type.
NAME_CHARACTERS = 512
#: Most call sites of a program: its source has at most 100 kB.
SITES = 20_000
#: Longest text in a failure; the guest cuts, a longer one is a breach.
TEXT_CHARACTERS = 64 * 1024
#: Most notes and refusals in a final message.
NOTES = 100
#: Microseconds: a moment in the year 9999 fits, and so does any sum of two.
MOMENT = 2**58

STATUSES = frozenset({"completed", "failed", "refused", "out_of_memory"})


@dataclass(frozen=True, slots=True)
class Compiled:
    """What the program was compiled to, for the next worker that is to run it; None where that cannot be told.

    The host never looks into it. It comes before the program begins, so nothing but the source has a say in it, and it
    is given to no other source.
    """

    code: str | None


@dataclass(frozen=True, slots=True)
class Sites:
    """The calls that stand in the source."""

    sites: tuple[CallSite, ...]


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls to make, and when to wake the guest if nothing else does."""

    calls: tuple[Call, ...]
    wake: int | None
    delay: int | None


@dataclass(frozen=True, slots=True)
class Output:
    """Printed text; `cut` when the guest dropped what came after it."""

    text: str
    cut: bool


@dataclass(frozen=True, slots=True)
class Cancel:
    """Nobody waits for this call any more."""

    id: int


@dataclass(frozen=True, slots=True)
class Live:
    """All that was recorded is read, and the program waits for what comes after it."""


@dataclass(frozen=True, slots=True)
class Final:
    """How the program ended. With `has_value` one more frame follows: the value."""

    status: str
    has_value: bool
    failure: Failure | None
    notes: tuple[str, ...]


GuestMessage = Compiled | Sites | Calls | Output | Cancel | Live | Final


# --- the guest's half: frames, ready to be written -------------------------------------------------------------


def encode_compiled(code: str | None) -> bytes:
    """Return the frame that tells the compiled program."""
    return frame(encode({"t": "compiled", "code": code}))


def encode_sites(sites: Iterable[CallSite]) -> bytes:
    """Return the frame that names the call sites."""
    rows = [[s.name, list(s.keywords), s.positional, s.open_ended, s.line, s.column] for s in sites]
    return frame(encode({"t": "sites", "sites": rows}))


def encode_calls(calls: Sequence[Sequence[JsonValue]], *, wake: int | None = None, delay: int | None = None) -> bytes:
    """Return the frame that makes these calls, each `(id, path, tool, arguments)`.

    Raises InvalidJson or TypeError for arguments that cannot cross: `strict_json.dumps` tells the same beforehand.
    """
    return frame(dumps({"t": "calls", "calls": calls, "wake": wake, "delay": delay}))


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
        end = _COMPLETED[value is not None]
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


#: How most programs end, by whether there is a value; and what the host reads in it.
_COMPLETED = {has_value: frame(_final("completed", has_value=has_value)) for has_value in (False, True)}
_USUAL = {
    end[HEADER_BYTES:]: Final("completed", has_value=has_value, failure=None, notes=())
    for has_value, end in _COMPLETED.items()
}


# --- the host's half: exact shapes, or GuestProtocolError -------------------------------------------------------


def decode_guest_message(body: bytes) -> GuestMessage:
    """Read one frame that is not a value. Raises GuestProtocolError; the message never quotes the guest at length."""
    usual = _USUAL.get(body)
    if usual is not None:
        return usual
    one = _ONE_CALL.fullmatch(body)
    call = None if one is None else _read_one_call(*one.groups())
    if call is not None:
        return Calls((call,), wake=None, delay=None)
    try:
        message = loads(body)
    except InvalidJson as error:
        _breach(f"a frame that is {error}")
    if type(message) is not dict:
        _breach("a frame that is not an object")
    read = _READERS.get(_text(message.get("t"), "a type"))
    if read is None:
        _breach("a message of an unknown type")
    return read(message)


#: One call and nothing to wait for, as most messages are: only the arguments have to be parsed.
_ONE_CALL = re.compile(
    rb'\{"t":"calls","calls":\[\[([1-9][0-9]{0,16}),"([0-9a-f.~]{1,160})","([A-Za-z0-9_.]{1,512})",(\{.*\})\]\],'
    rb'"wake":null,"delay":null\}',
    re.DOTALL,
)
_AROUND_ARGUMENTS = 3


def _read_one_call(call_id: bytes, path: bytes, tool: bytes, arguments: bytes) -> Call | None:
    try:
        found = loads(arguments, depth=MESSAGE_DEPTH - _AROUND_ARGUMENTS)
    except InvalidJson:
        return None  # more than one call, or what the whole message will be refused for
    return Call(int(call_id), path.decode(), tool.decode(), found)


def _read_compiled(message: dict[str, Any]) -> Compiled:
    _exact_keys(message, _COMPILED_KEYS)
    code = message["code"]
    if code is not None and not _BASE64.fullmatch(_text(code, "a compiled program", COMPILED_CHARACTERS)):
        _breach("a compiled program that is not base64")
    return Compiled(code)


def _read_sites(message: dict[str, Any]) -> Sites:
    _exact_keys(message, _SITES_KEYS)
    rows = _list(message["sites"], "sites", SITES)
    return Sites(tuple(_read_site(row) for row in rows))


def _read_site(row: object) -> CallSite:
    name, keywords, positional, open_ended, line, column = _row(row, 6, "a call site")
    return CallSite(
        name=_name(name),
        keywords=tuple(_name(keyword) for keyword in _list(keywords, "keywords", SITES)),
        positional=_count(positional, SITES),
        open_ended=_flag(open_ended),
        line=_count(line, MOMENT),
        column=_count(column, MOMENT),
    )


def _read_calls(message: dict[str, Any]) -> Calls:
    _exact_keys(message, _CALLS_KEYS)
    rows = _list(message["calls"], "calls", MOMENT)
    return Calls(
        calls=tuple([_read_call(row) for row in rows]),
        wake=_moment(message["wake"]),
        delay=_moment(message["delay"]),
    )


def _read_call(row: object) -> Call:
    call_id, path, tool, arguments = _row(row, 4, "a call")
    if type(arguments) is not dict:
        _breach("a call whose arguments are not an object")
    if not _PATH.fullmatch(_text(path, "a path", PATH_CHARACTERS)):
        _breach("a path that is no place in a program")
    return Call(_count(call_id, MOMENT), path, _name(tool), arguments)


def _read_output(message: dict[str, Any]) -> Output:
    _exact_keys(message, _OUTPUT_KEYS)
    return Output(_text(message["text"], "output", MOMENT), _flag(message["cut"]))


def _read_cancel(message: dict[str, Any]) -> Cancel:
    _exact_keys(message, _CANCEL_KEYS)
    return Cancel(_count(message["id"], MOMENT))


def _read_live(message: dict[str, Any]) -> Live:
    _exact_keys(message, _LIVE_KEYS)
    return Live()


def _read_final(message: dict[str, Any]) -> Final:
    _exact_keys(message, _FINAL_KEYS)
    status = _text(message["status"], "a status")
    if status not in STATUSES:
        _breach("an unknown status")
    failure = message["failure"]
    has_value = _flag(message["has_value"])
    if (failure is None) != (status == "completed") or (has_value and status != "completed"):
        _breach("a final message that contradicts itself")
    return Final(
        status=status,
        has_value=has_value,
        failure=None if failure is None else _read_failure(failure),
        notes=tuple(_text(note, "a note", TEXT_CHARACTERS) for note in _list(message["notes"], "notes", NOTES)),
    )


def _read_failure(failure: object) -> Failure:
    if type(failure) is not dict:
        _breach("a failure that is not an object")
    _exact_keys(failure, _FAILURE_KEYS)
    texts = {key: _text(failure[key], key, TEXT_CHARACTERS) for key in _FAILURE_TEXTS}
    return Failure(
        line=_optional_count(failure["line"]),
        column=_optional_count(failure["column"]),
        refusals=tuple(_read_refusal(row) for row in _list(failure["refusals"], "refusals", NOTES)),
        **texts,
    )


def _read_refusal(row: object) -> Refusal:
    rule, message, line, column, hint = _row(row, 5, "a refusal")
    return Refusal(
        rule=_name(rule),
        message=_text(message, "a refusal", TEXT_CHARACTERS),
        line=_count(line, MOMENT),
        column=_count(column, MOMENT),
        hint=_text(hint, "a hint", TEXT_CHARACTERS),
    )


def _exact_keys(message: dict[str, Any], keys: frozenset[str]) -> None:
    if message.keys() != keys:
        _breach("a message with other fields than its own")


def _list(value: object, what: str, most: int) -> list[Any]:
    if type(value) is not list:
        _breach(f"{what} that are not a list")
    if len(value) > most:
        _breach(f"more than {most} {what}")
    return value


def _row(value: object, length: int, what: str) -> list[Any]:
    if type(value) is not list or len(value) != length:
        _breach(f"{what} that is not a list of {length}")
    return value


def _text(value: object, what: str, most: int = NAME_CHARACTERS) -> str:
    if type(value) is not str:
        _breach(f"{what} that is not text")
    if len(value) > most:
        _breach(f"{what} of more than {most} characters")
    return value


def _name(value: object) -> str:
    return _text(value, "a name")


def _flag(value: object) -> bool:
    if type(value) is not bool:
        _breach("a flag that is neither true nor false")
    return value


def _count(value: object, most: int) -> int:
    if type(value) is not int or not 0 <= value <= most:  # type(…): a bool is an int
        _breach("a number that is not a count")
    return value


def _optional_count(value: object) -> int | None:
    return None if value is None else _count(value, MOMENT)


def _moment(value: object) -> int | None:
    return None if value is None else _count(value, MOMENT)


def _breach(what: str) -> NoReturn:
    message = f"the guest sent {what}"
    raise GuestProtocolError(message)


_COMPILED_KEYS = frozenset({"t", "code"})
_SITES_KEYS = frozenset({"t", "sites"})
_CALLS_KEYS = frozenset({"t", "calls", "wake", "delay"})
_OUTPUT_KEYS = frozenset({"t", "text", "cut"})
_CANCEL_KEYS = frozenset({"t", "id"})
_LIVE_KEYS = frozenset({"t"})
_FINAL_KEYS = frozenset({"t", "status", "has_value", "failure", "notes"})
_FAILURE_TEXTS = ("type", "message", "excerpt", "hint", "traceback")
_FAILURE_KEYS = frozenset({*_FAILURE_TEXTS, "line", "column", "refusals"})
_READERS: dict[str, Callable[[dict[str, Any]], GuestMessage]] = {
    "compiled": _read_compiled,
    "sites": _read_sites,
    "calls": _read_calls,
    "output": _read_output,
    "cancel": _read_cancel,
    "live": _read_live,
    "final": _read_final,
}
