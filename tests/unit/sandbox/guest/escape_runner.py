"""Runs escape records in guests with no wall around them, each in a process of its own, and tells what came of it.

Reads records (JSON, one a line) from standard input and writes one JSON object a line. Started by the tests as a
process, so that a record that ends its process ends nothing else.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from sandbox.guest import program
from tests.unit.sandbox.guest.host_double import run_guest

HOST_SECRET = "a secret of the host's module"
MARK = ("escape", "mark")
#: What a second program in the same process must still see.
NEXT_RUN = """
import json, math, re, datetime, collections, decimal, string
[json.dumps({'a': 1}), math.pi, re.sub('a', 'b', 'a'), datetime.MINYEAR, collections.Counter('aab').most_common(),
 str(decimal.Decimal(1) / 3), string.Template('$x').substitute(x=1), string.ascii_lowercase, sorted([2, 1]),
 isinstance(1, collections.ChainMap)]
"""
UNCHANGED = [
    '{"a": 1}',
    3.141592653589793,
    "b",
    1,
    [["a", 2], ["b", 1]],
    "0.3333333333333333333333333333",
    "1",
    "abcdefghijklmnopqrstuvwxyz",
    [1, 2],
    False,
]


def main() -> None:
    """Run all records."""
    program.warm_up()
    secret = Path(tempfile.mkdtemp()) / "secret"
    secret.write_text("the secret file")
    written = secret.with_name("written")
    written.write_text("as it was")
    for line in sys.stdin:
        record = json.loads(line)
        sys.stdout.write(json.dumps({"id": record["id"], **_run(record, secret, written)}) + "\n")


def _run(record: dict[str, Any], secret: Path, written: Path) -> dict[str, Any]:
    code = record["code"]
    places = {"SECRET_FILE": secret, "WRITE_FILE": written, "DIR": secret.parent, "PORT": 9, "ABSTRACT": "none"}
    places |= {"VICTIM": os.getpid(), "HOST_PID": os.getpid(), "M1": MARK[0], "M2": MARK[1]}
    for name, value in places.items():
        code = code.replace(f"@{name}@", str(value))
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            signal.alarm(30)
            os.write(writer, json.dumps(_attempt(code)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read()
    os.waitpid(pid, 0)
    if not told:
        return {"held": False, "why": "the process ended"}
    outcome = json.loads(told)
    seen = outcome["seen"]
    for sign in ("".join(MARK), "the secret file", HOST_SECRET, "a canary in the environment"):
        if sign in seen:
            return {"held": False, "why": f"it shows {sign!r}"}
    if written.read_text() != "as it was":
        return {"held": False, "why": "it wrote a file"}
    if outcome["next"] != UNCHANGED:
        return {"held": False, "why": f"the next run saw {outcome['next']}"}
    return {"held": True, "why": ""}


def _attempt(code: str) -> dict[str, Any]:
    tools = {name: lambda **_: "answer" for name in ("tool", "call", "obj.read")}
    ended = run_guest(code, tools, names=["tool", "call", "obj"])
    following = run_guest(NEXT_RUN)
    return {
        "seen": ended.output + json.dumps(ended.value) + json.dumps(ended.failure and ended.failure["message"]),
        "next": following.value,
    }


if __name__ == "__main__":
    main()
