"""Conversations from OpenAI messages, Responses API items, SDK objects or LangChain messages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_ROLES = {
    "user": "human",
    "human": "human",
    "assistant": "assistant",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "HumanMessageChunk": "human",
    "function_call": "assistant",
}


@dataclass(frozen=True, slots=True)
class AskedCall:
    """A tool call by a model. `problem` says why its arguments are not a JSON object."""

    name: str
    arguments: Mapping[str, Any]
    id: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message. `role` is `human`, `assistant` or `other`, and `answers` the id of the call that it answers."""

    role: str
    text: str
    calls: tuple[AskedCall, ...] = ()
    answers: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A human message, the messages before it, and the calls in its answer so far."""

    message: str
    before: tuple[Turn, ...] = ()
    calls: tuple[AskedCall, ...] = ()
    summary: str = ""

    @classmethod
    def of(cls, message: str, history: Iterable[Any] = (), summary: str = "") -> Conversation:
        """Build the conversation at this message.

        If the history already contains it as the last human message, the history ends there.
        """
        turns = tuple(map(read_turn, history))
        calls = tuple(call for turn in turns for call in turn.calls)
        last = next((at for at in reversed(range(len(turns))) if turns[at].role == "human"), None)
        if last is not None and message in ("", turns[last].text):
            return cls(turns[last].text, turns[:last], calls, summary)
        return cls(message, turns, calls, summary)

    def human(self, count: int, scanned: int) -> list[str]:
        """Return up to `count` human messages among the last `scanned` messages, newest first."""
        recent = self.before[len(self.before) - scanned + 1 :] if scanned <= len(self.before) else self.before
        texts = [self.message, *(turn.text for turn in reversed(recent) if turn.role == "human")]
        return texts[:count]


def read_turn(message: Any) -> Turn:
    """Read a message of any supported kind."""
    if isinstance(message, str):
        return Turn("human", message)
    if isinstance(message, tuple) and len(message) == 2:  # as LangChain takes them
        return Turn(_role(message[0]), _text(message[1]))
    kind = _get(message, "type")
    role = _role(_get(message, "role") or kind)
    if kind == "function_call":
        return Turn(role, "", (read_call(message),))
    calls = tuple(map(read_call, _get(message, "tool_calls") or ()))
    answers = str(_get(message, "tool_call_id") or _get(message, "call_id") or "")
    return Turn(role, _text(_get(message, "content")), calls, answers)


def read_call(call: Any) -> AskedCall:
    """Read a tool call from chat completions, the Responses API or LangChain."""
    function = _get(call, "function")
    where = call if function is None else function
    given = _get(where, "arguments")
    if given is None:
        given = _get(where, "args")
    id_ = str(_get(call, "call_id") or _get(call, "id") or "")
    arguments, problem = read_arguments(given)
    return AskedCall(str(_get(where, "name") or ""), arguments, id_, problem)


def read_arguments(given: Any) -> tuple[Mapping[str, Any], str]:
    """Return the arguments as an object, and the problem with them or ""."""
    if given is None or given == "":
        return {}, ""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError as error:
            return {}, f"the arguments are not JSON: {error}"
        except RecursionError:
            return {}, "the arguments are nested too deeply"
    return (given, "") if isinstance(given, Mapping) else ({}, "the arguments are not a JSON object")


def _get(message: Any, name: str) -> Any:
    return message.get(name) if isinstance(message, Mapping) else getattr(message, name, None)


def _role(name: Any) -> str:
    return _ROLES.get(str(name), "other")


def _text(content: Any) -> str:
    """Return the text of a content: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    if not isinstance(content, (list, tuple)):
        return ""
    parts: Sequence[Any] = [part if isinstance(part, str) else _get(part, "text") for part in content]
    return "\n".join(part for part in parts if isinstance(part, str))
