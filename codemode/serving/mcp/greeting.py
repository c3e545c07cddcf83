"""Answers `initialize` for `codemode mcp` while the MCP SDK is still being imported.

The import takes half a second, and clients wait for this answer before they do anything else. The answer is identical
to the SDK's, which a test checks. The SDK gets the request too, and its own answer is dropped. This module imports
only the standard library.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

#: Protocol versions that begin with `initialize`. A client that asks for another version gets the last one.
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

INSTRUCTIONS = (
    "Call tools in one Python program with execute. Find those whose signatures its definition lacks with search."
)
MIXED_INSTRUCTIONS = (
    "If search and execute are listed, call tools in one Python program with execute. Find those whose signatures its "
    "definition lacks with search."
)
MENU_INSTRUCTIONS = "Only some tools are listed: request_more_tools and request_tool load others."

_PIECE_BYTES = 65_536

#: A longer first message is left to the SDK.
_LONGEST_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Server:
    """The server's description of itself."""

    version: str
    is_menu: bool = False
    is_mixed: bool = False

    def answer(self, line: bytes) -> dict[str, Any] | None:
        """Return the answer to a complete `initialize` request. Return None for other lines, which the SDK answers."""
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
        result = {
            "capabilities": {"logging": {}, "tools": {"listChanged": self.is_menu or self.is_mixed}},
            "instructions": instructions(is_menu=self.is_menu, is_mixed=self.is_mixed),
            "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[-1],
            "serverInfo": {"name": "codemode", "version": self.version},
        }
        return {"jsonrpc": "2.0", "id": request["id"], "result": result}


def instructions(*, is_menu: bool, is_mixed: bool) -> str:
    """Return the server's instructions. With mixed modes they hold for each of them."""
    if is_mixed:
        return MIXED_INSTRUCTIONS
    return MENU_INSTRUCTIONS if is_menu else INSTRUCTIONS


class Input:
    """Replaces standard input (file descriptor 0) by a socket, which can be closed from here.

    `answered` is the id of the `initialize` request that was answered here.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self.answered: int | str | None = None
        self._wire = os.dup(0)
        self._output = os.dup(1)  # while the SDK serves, 1 is standard error, and `initialize` may come late
        self._ours, theirs = socket.socketpair()
        os.dup2(theirs.fileno(), 0)
        theirs.close()
        threading.Thread(target=self._copy, daemon=True).start()

    def end(self) -> None:
        """Close standard input, as if the client had gone away."""
        with suppress(OSError):
            self._ours.shutdown(socket.SHUT_WR)

    def _copy(self) -> None:
        with suppress(OSError):
            self._ours.sendall(self._first())
            while data := os.read(self._wire, _PIECE_BYTES):
                self._ours.sendall(data)
        self.end()

    def _first(self) -> bytes:
        """Read up to the end of the first line, answer it if it is `initialize`, and return the bytes read."""
        data = b""
        while b"\n" not in data and len(data) < _LONGEST_BYTES:
            piece = os.read(self._wire, _PIECE_BYTES)
            if not piece:
                return data
            data += piece
        answer = self._server.answer(data.partition(b"\n")[0])
        if answer is not None:
            self.answered = answer["id"]
            self._write(json.dumps(answer, separators=(",", ":"), ensure_ascii=False).encode() + b"\n")
        return data

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._output, data) :]
