"""The records: read from a file, each a program, or frames of a hostile guest."""

from __future__ import annotations

import base64
import json
import struct
import sys
from dataclasses import dataclass

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


def steps(record):
    """Return what the hostile guest does, as JSON: ["raw", base64], ["wait", seconds], ["hangup"]."""
    done = eval(record.payload, {**_STEPS})  # noqa: S307 - the corpus is development data, written as expressions
    return json.dumps(done)


def _record(item):
    code = item.get("code")
    if "code_py" in item:
        code = eval(item["code_py"])  # noqa: S307 - as above
    if isinstance(code, bytes):
        code = code.decode("utf-8", "surrogateescape")
    return Record(
        id=item["id"],
        category=item["category"],
        kind=item["kind"],
        layers=tuple(item["layers"]),
        expect=item["expect"],
        code=code,
        payload=item.get("payload_py"),
        control_may_hold="control" in item or sys.version_info < _NEEDS_PYTHON.get(item["id"], (3, 11)),
    )


#: Attempts with what an older Python does not have.
_NEEDS_PYTHON = {"cls-type-param": (3, 12), "dir-subinterpreters": (3, 13), "rp-c-iteration-zip": (3, 12)}


def _raw(data):
    return ["raw", base64.b64encode(data).decode()]


def _frame_bytes(data):
    return _raw(struct.pack(">I", len(data)) + data)


def _frame(message):
    return _frame_bytes(json.dumps(message).encode())


def _call(tool, args, id=1, **extra):  # noqa: A002 - the corpus calls it so
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
