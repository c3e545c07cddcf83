"""The first answer of `codemode mcp`: to `initialize`, while what answers everything else is still imported.

The SDK takes half a second to import, and clients wait for this answer before they do anything. It is the SDK's own,
word for word, for a test holds the two together; the SDK is given the request as well, and its answer is left out.
Nothing but the standard library is imported here.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

#: The versions of the protocol that begin with `initialize`, and the one that is offered to who asks for another.
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

INSTRUCTIONS = "Find tools with search, then call them in one Python program with execute."
MENU_INSTRUCTIONS = "Only some tools are listed: request_more_tools and request_tool load others."

_TASKS: dict[str, Any] = {"cancel": {}, "list": {}, "requests": {"tools": {"call": {}}}}
_PIECE_BYTES = 65_536

#: A longer first message is no greeting.
_LONGEST_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Server:
    """What the server says of itself."""

    version: str
    is_menu: bool = False
    has_tasks: bool = False

    def answer(self, line: bytes) -> dict[str, Any] | None:
        """The answer to a line that is a whole `initialize`; None for anything else, which the SDK answers."""
        try:
            request = json.loads(line)
            params = request["params"]
            wanted, client = params["protocolVersion"], params["clientInfo"]
            is_greeting = (
                (request["jsonrpc"], request["method"]) == ("2.0", "initialize")
                and type(request["id"]) in (int, str)
                and isinstance(params["capabilities"], dict)
                and all(isinstance(text, str) for text in (wanted, client["name"], client["version"]))
            )
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        if not is_greeting:
            return None
        capabilities = {"tasks": _TASKS} if self.has_tasks and not self.is_menu else {}
        result = {
            "capabilities": {**capabilities, "tools": {"listChanged": self.is_menu}},
            "instructions": MENU_INSTRUCTIONS if self.is_menu else INSTRUCTIONS,
            "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[-1],
            "serverInfo": {"name": "codemode", "version": self.version},
        }
        return {"jsonrpc": "2.0", "id": request["id"], "result": result}


class Input:
    """Standard input behind a socket, so that it can be ended; `answered` is the id of a greeting answered here.

    It takes the place of file descriptor 0 when it is made.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self.answered: int | str | None = None
        self._wire = os.dup(0)
        self._ours, theirs = socket.socketpair()
        os.dup2(theirs.fileno(), 0)
        theirs.close()
        threading.Thread(target=self._copy, daemon=True).start()

    def end(self) -> None:
        """End it, as a client does that goes away."""
        with suppress(OSError):
            self._ours.shutdown(socket.SHUT_WR)

    def _copy(self) -> None:
        with suppress(OSError):
            self._ours.sendall(self._first())
            while data := os.read(self._wire, _PIECE_BYTES):
                self._ours.sendall(data)
        self.end()

    def _first(self) -> bytes:
        """What was read up to the end of the first line, which is answered where it is a greeting."""
        data = b""
        while b"\n" not in data and len(data) < _LONGEST_BYTES:
            piece = os.read(self._wire, _PIECE_BYTES)
            if not piece:
                return data
            data += piece
        answer = self._server.answer(data.partition(b"\n")[0])
        if answer is not None:
            self.answered = answer["id"]
            _write(json.dumps(answer, separators=(",", ":"), ensure_ascii=False).encode() + b"\n")
        return data


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]
