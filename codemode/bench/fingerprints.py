"""Fingerprints of requests to a model: equal for the same conversation in another run."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from codemode.serving.agent.transcript import AssistantMessage, ToolMessage
from codemode.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.serving.agent.models import ModelRequest
    from codemode.serving.agent.transcript import Message

#: Ids of executions, plans and results, which are random in each run.
_RANDOM = re.compile(r"\b(ex|pl|h)_([0-9a-f]{32})\b")
_NUMBERED = re.compile(r"\b(ex|pl|h)_#(\d+)\b")


class RandomIds:
    """Random ids of one conversation, numbered in the order in which it names them."""

    def __init__(self) -> None:
        self._ids: list[str] = []

    def numbered(self, text: str) -> str:
        """Return the text with a number in place of each random id."""
        return _RANDOM.sub(lambda found: f"{found[1]}_#{self._number(found[2])}", text)

    def restored(self, text: str) -> str:
        """Return the text with this conversation's ids in place of their numbers."""
        return _NUMBERED.sub(self._restored, text)

    def _number(self, id_: str) -> int:
        if id_ not in self._ids:
            self._ids.append(id_)
        return self._ids.index(id_)

    def _restored(self, found: re.Match[str]) -> str:
        number = int(found[2])
        return f"{found[1]}_{self._ids[number]}" if number < len(self._ids) else found[0]


def fingerprint(request: ModelRequest, ids: RandomIds) -> list[str]:
    """Return a line for each part of a request: what it is, and its digest. The messages are last.

    The ids of calls are left out, as some providers make them at random.
    """
    return [
        f"system prompt {_digest(ids.numbered(request.system))}",
        f"tool choice {request.choice}",
        *(f"definition of {tool['function']['name']} {_digest(tool)}" for tool in request.tools),
        *(f"{name} {_digest(ids.numbered(text))}" for name, text in map(_named, request.messages)),
    ]


def difference(asked: Sequence[str], recorded: Sequence[str]) -> str:
    """Describe the first part in which two fingerprints differ."""
    for number, (here, there) in enumerate(zip(asked, recorded, strict=False), 1):
        if here != there:
            name, old = here.rpartition(" ")[0], there.rpartition(" ")[0]
            return f"part {number} ({name}) differs" if name == old else f"part {number} is {name!r} and was {old!r}"
    more = len(asked) - len(recorded)
    return f"it has {counted(abs(more), 'part')} {'more' if more > 0 else 'fewer'}" if more else "it is the same"


def shared(asked: Sequence[str], recorded: Sequence[str]) -> int:
    """Return the number of equal parts at the start of two fingerprints."""
    pairs = enumerate(zip(asked, recorded, strict=False))
    return next((at for at, (here, there) in pairs if here != there), min(len(asked), len(recorded)))


def _named(message: Message) -> tuple[str, str]:
    match message:
        case ToolMessage():
            return f"result of {message.name}", message.text
        case AssistantMessage():
            calls = [[call.name, call.arguments] for call in message.calls]
            return "answer of the model", json.dumps([message.text, calls])
        case _:
            return "message of the user", json.dumps([message.text, list(message.images)])


def _digest(content: Any) -> str:
    text = content if isinstance(content, str) else json.dumps(content, sort_keys=True, default=str)
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]
