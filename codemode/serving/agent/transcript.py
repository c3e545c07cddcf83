"""Messages between user, model and tools, independent of the wire format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one or several requests. `cached` is the part of the input served from the provider's cache."""

    input: int = 0
    output: int = 0
    cached: int = 0

    @property
    def total(self) -> int:
        """Input plus output."""
        return self.input + self.output

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(self.input + other.input, self.output + other.output, self.cached + other.cached)


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call requested by the model. `arguments` is its unparsed text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """One answer of a model. `finish` is the `finish_reason`; `usage` is None if the provider reports none."""

    text: str = ""
    calls: tuple[ToolRequest, ...] = ()
    finish: str = "stop"
    refusal: str = ""
    usage: TokenUsage | None = None


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A user's message, or a message of the loop. `images` are URLs, mostly `data:` URLs."""

    text: str
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """An answer of the model."""

    text: str = ""
    calls: tuple[ToolRequest, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The result of a call."""

    id: str
    name: str
    text: str


Message = UserMessage | AssistantMessage | ToolMessage


def chat_messages(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Return messages in chat completion format."""
    return [_chat(message) for message in messages]


def without_images(messages: Iterable[Message]) -> Iterable[Message]:
    """Return messages without images, whose tokens do not depend on the length of their URLs."""
    return (UserMessage(each.text) if isinstance(each, UserMessage) else each for each in messages)


def read_history(history: Sequence[Mapping[str, Any] | Message]) -> list[Message]:
    """Parse messages in chat completion format. System messages are dropped: the loop adds its own."""
    found: list[Message] = []
    for message in history:
        if isinstance(message, (UserMessage, AssistantMessage, ToolMessage)):
            found.append(message)
            continue
        if not isinstance(message, Mapping):
            raise _strange("a message", message)
        match message.get("role"):
            case "user":
                content = message.get("content")
                found.append(UserMessage(_text(content), tuple(_images(content))))
            case "assistant":
                found.append(AssistantMessage(_text(message.get("content")), tuple(_calls(message))))
            case "tool":
                text = _text(message.get("content"))
                found.append(ToolMessage(str(message.get("tool_call_id", "")), str(message.get("name", "")), text))
            case "system" | "developer":
                continue
            case role:
                error = f"history: unknown role {role!r}; valid: user, assistant, tool, system"
                raise ValueError(error)
    return answered(found)


def answered(messages: Sequence[Message]) -> list[Message]:
    """Match calls and answers one to one, since providers reject other histories."""
    given = {message.id: message for message in messages if isinstance(message, ToolMessage)}
    found: list[Message] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            continue  # added after the call that it answers
        found.append(message)
        if isinstance(message, AssistantMessage):
            lost = "the answer to this call was lost"
            found += [given.get(call.id) or ToolMessage(call.id, call.name, lost) for call in message.calls]
    return found


def _chat(message: Message) -> dict[str, Any]:
    match message:
        case UserMessage():
            images = [{"type": "image_url", "image_url": {"url": url}} for url in message.images]
            content = [{"type": "text", "text": message.text}, *images] if images else message.text
            return {"role": "user", "content": content}
        case ToolMessage():
            return {"role": "tool", "tool_call_id": message.id, "content": message.text}
        case AssistantMessage():
            calls = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in message.calls
            ]
            said: dict[str, Any] = {"role": "assistant", "content": message.text}
            return {**said, "tool_calls": calls} if calls else said


def _calls(message: Mapping[str, Any]) -> Iterable[ToolRequest]:
    calls = message.get("tool_calls") or ()
    if not isinstance(calls, (list, tuple)):
        raise _strange("tool_calls", calls)
    for call in calls:
        function = (call.get("function") or {}) if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping):
            raise _strange("a tool call", call)
        yield ToolRequest(str(call.get("id", "")), str(function.get("name", "")), str(function.get("arguments", "")))


def _strange(what: str, given: Any) -> ValueError:
    return ValueError(f"history: {what} is not in chat completion format: {given!r:.60} ({type(given).__name__})")


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict) and not _url(part))
    return "" if content is None else str(content)


def _images(content: Any) -> Iterable[str]:
    parts = content if isinstance(content, list) else ()
    return (_url(part) for part in parts if isinstance(part, dict) and _url(part))


def _url(part: Mapping[str, Any]) -> str:
    """Return the URL of an image in a part of a message, "" for other parts."""
    image = part.get("image_url") if part.get("type") == "image_url" else None
    url = image.get("url") if isinstance(image, Mapping) else image
    return url if isinstance(url, str) else ""
