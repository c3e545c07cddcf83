"""Questions of a service to a person in the middle of a call, as MCP servers ask them (elicitation)."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from codemode.errors import UpstreamError

if TYPE_CHECKING:
    from collections.abc import Mapping


class InputRequired(UpstreamError):
    """The service asks a person something before it can carry out the call.

    `asks` is the question as JSON data: `mode`, `message`, and `requestedSchema` (form) or `url` (url), as in MCP's
    `elicitation/create`.
    """

    def __init__(self, source: str, asks: Mapping[str, Any]) -> None:
        self.asks = asks
        message = f"{source} asks a person, and an execution that is not recorded cannot wait for the answer"
        super().__init__(f"{message} (set journal.enabled: true): {asks['message']}")


def question_key(asks: Mapping[str, Any]) -> str:
    """Return the key under which the answer to a question is kept: a digest of the whole question."""
    return hashlib.sha256(json.dumps(asks, sort_keys=True).encode()).hexdigest()
