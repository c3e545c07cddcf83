"""Decode the messages of a guest, which is not trusted. Any other shape raises GuestProtocolError."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from sandbox.errors import GuestProtocolError
from sandbox.outcome import Call, CallSite, Failure, Refusal
from sandbox.protocol.framing import HEADER_BYTES
from sandbox.protocol.guest_messages import COMPILED_CHARACTERS, COMPLETED, NAME_CHARACTERS
from sandbox.protocol.strict_json import MESSAGE_DEPTH, InvalidJson, loads

if TYPE_CHECKING:
    from collections.abc import Callable

#: Most call sites of a program, whose source has at most 100 kB.
SITES = 20_000
#: Most notes and refusals in a final message.
NOTES = 100
#: Latest moment in µs since the epoch: beyond the year 9999, and the sum of two fits 64 bits.
MOMENT = 2**58

STATUSES = frozenset({"completed", "failed", "refused", "out_of_memory"})
#: Longest path of a call; the guest replaces longer ones by a digest.
PATH_CHARACTERS = 160
#: Longest text in a failure; the guest truncates it.
TEXT_CHARACTERS = 64 * 1024
#: Event numbers or a digest. Recordings may rely on this form.
_PATH = re.compile(r"[0-9a-f.~]+")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")


@dataclass(frozen=True, slots=True)
class Sites:
    """The call sites of the source."""

    sites: tuple[CallSite, ...]


class Calls(NamedTuple):
    """Calls to make, and the next timer of the guest; see `guest_messages`."""

    calls: tuple[Call, ...]
    wake: int | None
    delay: int | None


@dataclass(frozen=True, slots=True)
class Output:
    """Printed text; after `cut`, the guest dropped the rest."""

    text: str
    cut: bool


@dataclass(frozen=True, slots=True)
class Cancel:
    """A call that is no longer needed."""

    id: int


@dataclass(frozen=True, slots=True)
class Idle:
    """The guest has read all answers, and awaits nothing but the timer of its last `Calls`."""


@dataclass(frozen=True, slots=True)
class Live:
    """The guest has read its whole record, up to the marker."""


@dataclass(frozen=True, slots=True)
class Final:
    """The end of the program. With `has_value`, the value follows in a frame of its own."""

    status: str
    has_value: bool
    failure: Failure | None
    notes: tuple[str, ...]


GuestMessage = Sites | Calls | Output | Cancel | Idle | Live | Final


#: The final messages of most programs, which need no parsing.
_USUAL = {
    end[HEADER_BYTES:]: Final("completed", has_value=has_value, failure=None, notes=())
    for has_value, end in COMPLETED.items()
}


def decode_compiled(body: bytes) -> str | None:
    """Return the compiled program from the answer to `compile`. Raises GuestProtocolError.

    The host does not interpret it. It goes only to guests that run the same source; see `host.compiled`.
    """
    message = _object(body)
    _exact_keys(message, _COMPILED_KEYS)
    if message["code"] is None:
        return None
    code = _text(message["code"], "a compiled program", COMPILED_CHARACTERS)
    if not _BASE64.fullmatch(code):
        _breach("a compiled program that is not base64")
    return code


def decode_guest_message(body: bytes) -> GuestMessage:
    """Decode one frame that is not a value. Raises GuestProtocolError, whose text never quotes the guest."""
    usual = _USUAL.get(body)
    if usual is not None:
        return usual
    one = _ONE_CALL.fullmatch(body)
    call = None if one is None else _read_one_call(*one.groups())
    if call is not None:
        return Calls((call,), wake=None, delay=None)
    message = _object(body)
    fields, read = _READERS.get(_text(message.get("t"), "a type"), (None, None))
    if fields is None or read is None:
        _breach("a message of an unknown type")
    _exact_keys(message, fields)
    return read(message)


def _object(body: bytes) -> dict[str, Any]:
    try:
        message = loads(body)
    except InvalidJson as error:
        _breach(f"a frame that is {error}")
    if type(message) is not dict:
        _breach("a frame that is not an object")
    return message


#: One call without timers, as in most messages. Only its arguments are parsed; this halves the time.
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
        return None  # several calls, or an error that parsing the whole message will report
    return Call(int(call_id), path.decode(), tool.decode(), found)


def _read_sites(message: dict[str, Any]) -> Sites:
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
    rows = _list(message["calls"], "calls", MOMENT)
    return Calls(
        calls=tuple([_read_call(row) for row in rows]),
        wake=_optional_count(message["wake"]),
        delay=_optional_count(message["delay"]),
    )


def _read_call(row: object) -> Call:
    call_id, path, tool, arguments = _row(row, 4, "a call")
    if type(arguments) is not dict:
        _breach("a call whose arguments are not an object")
    if not _PATH.fullmatch(_text(path, "a path", PATH_CHARACTERS)):
        _breach("a path of other characters than 0-9, a-f, . and ~")
    return Call(_count(call_id, MOMENT), path, _name(tool), arguments)


def _read_output(message: dict[str, Any]) -> Output:
    return Output(_text(message["text"], "output", MOMENT), _flag(message["cut"]))


def _read_cancel(message: dict[str, Any]) -> Cancel:
    return Cancel(_count(message["id"], MOMENT))


def _read_final(message: dict[str, Any]) -> Final:
    status = _text(message["status"], "a status")
    if status not in STATUSES:
        _breach("an unknown status")
    failure = message["failure"]
    has_value = _flag(message["has_value"])
    if (failure is None) != (status == "completed") or (has_value and status != "completed"):
        _breach("a final message whose fields contradict each other")
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


def _exact_keys(message: dict[str, Any], keys: set[str]) -> None:
    if message.keys() != keys:
        _breach("a message with missing or unknown fields")


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


def _breach(what: str) -> NoReturn:
    message = f"the guest sent {what}"
    raise GuestProtocolError(message)


_COMPILED_KEYS = {"t", "code"}
_FAILURE_TEXTS = ("type", "message", "excerpt", "hint", "traceback")
_FAILURE_KEYS = {*_FAILURE_TEXTS, "line", "column", "refusals"}
#: The fields of each message, and the function that reads them.
_READERS: dict[str, tuple[set[str], Callable[[dict[str, Any]], GuestMessage]]] = {
    "sites": ({"t", "sites"}, _read_sites),
    "calls": ({"t", "calls", "wake", "delay"}, _read_calls),
    "output": ({"t", "text", "cut"}, _read_output),
    "cancel": ({"t", "id"}, _read_cancel),
    "idle": ({"t"}, lambda _: Idle()),
    "live": ({"t"}, lambda _: Live()),
    "final": ({"t", "status", "has_value", "failure", "notes"}, _read_final),
}
