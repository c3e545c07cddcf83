from __future__ import annotations

import json
import subprocess
import sys

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "late", "version": "1"}},
}

#: A server whose SDK has taken standard output, so that tools which print do not write to the client.
DIVERTED = """
import os, sys
from codemode.serving.mcp.greeting import Input, Server
input_ = Input(Server("1"))
os.dup2(2, 1)
os.write(2, b"diverted\\n")
sys.stdin.readline()
"""


def test_a_greeting_that_comes_after_the_sdk_took_the_output_is_answered() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", DIVERTED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        assert process.stderr.readline() == "diverted\n"
        answered, errors = process.communicate(json.dumps(HELLO) + "\n")
    assert (json.loads(answered)["id"], errors) == (1, "")
