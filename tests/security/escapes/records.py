"""The records: read from a file, each a program, or frames of a hostile guest."""

from __future__ import annotations

import base64
import json
import struct
import sys
from dataclasses import dataclass
from itertools import count

import yaml


@dataclass(frozen=True)
class Record:
    """One attempt."""

    id: str
    category: str
    kind: str
    layers: tuple[str, ...]
    expect: str
    code: str | None
    payload: str | None
    control_may_hold: bool


def load(path):
    """Return all records of a file."""
    return [_record(item) for item in yaml.safe_load(path.read_text())]


def sent(code):
    """Return a program as a host could have got it: bytes that are no text, and halves of a pair, are replaced."""
    try:
        data = code.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # another half than those that stand for bytes
        data = code.encode("utf-8", "surrogatepass")
    return data.decode("utf-8", "replace")


def steps(record):
    """Return what the hostile guest does, as JSON: ["raw", base64], ["wait", seconds], ["hangup"]."""
    done = eval(record.payload, {**_STEPS})  # noqa: S307 - the corpus is development data, written as expressions
    joined = []
    for step in done:
        if step[0] == "raw" and joined and joined[-1][0] == "raw":
            joined[-1][1].append(step[1])
        else:
            joined.append(["raw", [step[1]]] if step[0] == "raw" else step)
    return json.dumps([_encoded(step) for step in joined])


def _record(item):
    code = item.get("code")
    if "code_py" in item:
        code = eval(item["code_py"])  # noqa: S307 - as above
    if isinstance(code, bytes):
        code = code.decode("utf-8", "surrogateescape")
    return Record(
        id=item["id"],
        category=item["category"],
        kind=item.get("kind", "code"),
        layers=tuple(item["layers"]),
        expect=item.get("expect", "no canary read, touched or reached"),
        code=code,
        payload=item.get("payload_py"),
        control_may_hold="control" in item
        or item["id"] in _BY_LUCK
        or not _PYTHON_FROM.get(item["id"], (3, 11)) <= sys.version_info < _PYTHON_BELOW.get(item["id"], (4,)),
    )


#: Attempts with what an older Python does not have.
_PYTHON_FROM = {"cls-type-param": (3, 12), "dir-subinterpreters": (3, 13), "rp-c-iteration-zip": (3, 12)}
#: Attempts that a newer Python holds by itself.
_PYTHON_BELOW = dict.fromkeys(("cls-annotation", "mod-base64-main", "mod-csv-io", "rp-c-iteration-zip"), (3, 14))

#: Attempts that do what memory happens to hold: broken bytecode that takes whatever lies behind the constants.
_BY_LUCK = {"res-segv-pure"}


def _encoded(step):
    return ["raw", base64.b64encode(b"".join(step[1])).decode()] if step[0] == "raw" else step


def _raw(data):
    return ["raw", data]


def _frame_bytes(data):
    return _raw(struct.pack(">I", len(data)) + data)


def _frame(message):
    return _frame_bytes(json.dumps(message).encode())


_numbers = count(1)


def _call(tool, args, id=None, **extra):  # noqa: A002 - the corpus calls it so
    if id is None:  # a call that is not about ids gets a good one, so that what it is about is reached
        id = next(_numbers)
    path = str(id)[:100]
    return _frame({"t": "calls", "calls": [[id, path, tool, args]], "wake": None, "delay": None, **extra})


_STEPS = {
    "raw": _raw,
    "frame_bytes": _frame_bytes,
    "frame": _frame,
    "call": _call,
    "wait": lambda seconds: ["wait", seconds],
    "hangup": lambda: ["hangup"],
}
