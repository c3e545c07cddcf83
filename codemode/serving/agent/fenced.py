"""Models without tool calling: the prompt lists the tools, and calls are parsed from the text."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codemode.serving.agent.models import ModelRequest
from codemode.serving.agent.transcript import AssistantMessage, ModelAnswer, ToolMessage, ToolRequest, UserMessage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence

    from codemode.serving.agent.models import Model
    from codemode.serving.agent.transcript import Message

#: A fenced block, closed or at the end of the text: language, rest of that line, content.
_BLOCK = re.compile(r"^[ \t]*```[ \t]*(\w*)[ \t]*([^\n`]*)\n(.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)
_PROGRAMS = frozenset(("python", "py", "python3", "tool_code"))

#: `<tool_call>{"name": …}</tool_call>`, as Hermes and Qwen write it.
_TAGGED = re.compile(r"<tool_call>\s*(\{.*?\})\s*(?:</tool_call>|\Z)", re.DOTALL)

#: `Action: name` and `Action Input: {…}` (Yao et al., ReAct, 2022).
_ACTION = re.compile(
    r"^[ \t]*Action:[ \t]*`?([\w.-]+)`?[ \t]*\n[ \t]*Action Input:[ \t]*"
    r"(.*?)(?=^[ \t]*(?:Observation|Action|Thought):|\Z)",
    re.DOTALL | re.MULTILINE,
)
_FINAL = re.compile(r"\A.*?^[ \t]*Final Answer:[ \t]*", re.DOTALL | re.MULTILINE)

_HOW = """\
You act by writing fenced blocks; their results are sent to you as observations. To call a tool write

```call NAME
{"argument": "value"}
```
"""

_HOW_TO_RUN = """
and for the code of execute simply

```python
...
```
"""

_END = "\nAfter your blocks stop and wait. When you know the answer, write it without such blocks.\n\nTools:\n"


class FencedModel:
    """Wraps a model without tool calling so that it behaves like one with it."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def ask(self, request: ModelRequest) -> AsyncIterator[str | ModelAnswer]:
        """Ask once. Raises ModelUnreachable."""
        names = [str(tool["function"]["name"]) for tool in request.tools]
        system = f"{request.system}\n\n{_described(request)}" if names and request.choice != "none" else request.system
        plain = ModelRequest(system, [*_with_observations(request.messages)])
        async for piece in self._model.ask(plain):
            if isinstance(piece, ModelAnswer):
                yield read_answer(piece, names if request.choice != "none" else ())
            else:
                yield piece


def read_answer(answer: ModelAnswer, names: Collection[str]) -> ModelAnswer:
    """Return the answer with the calls of these tools parsed from its text."""
    calls = [*_calls(answer.text, names)] if names else []
    if calls:
        numbered = (replace(call, id=f"act_{number}") for number, call in enumerate(calls))
        return replace(answer, calls=tuple(numbered))
    return replace(answer, text=_FINAL.sub("", answer.text))


def programs(text: str) -> list[str]:
    """Return the programs in the fenced blocks of a text."""
    return [code for language, _, code in _BLOCK.findall(text) if language.lower() in _PROGRAMS]


def _calls(text: str, names: Collection[str]) -> Iterable[ToolRequest]:
    """Yield the calls by kind: blocks, then tags, then actions."""
    for language, rest, content in _BLOCK.findall(text):
        word = language.lower()
        if word in _PROGRAMS and "execute" in names:
            yield ToolRequest("", "execute", json.dumps({"code": content}))
        elif word == "call":
            yield ToolRequest("", rest.strip(), content.strip())
        elif language in names:
            yield ToolRequest("", language, content.strip())
        elif word == "json":
            yield from _from_object(content, names)
    for content in _TAGGED.findall(text):
        yield from _from_object(content, None)
    for name, content in _ACTION.findall(text):
        yield ToolRequest("", name, content.strip())


def _from_object(text: str, names: Collection[str] | None) -> Iterable[ToolRequest]:
    """Yield calls written as JSON objects with a name and arguments. With `names`, yield only calls of these."""
    try:
        value: Any = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return
    for one in value if isinstance(value, list) else [value]:
        if not isinstance(one, dict):
            continue
        name = one.get("name") or one.get("tool") or one.get("action")
        given: Any = next((one[key] for key in ("arguments", "parameters", "args", "action_input") if key in one), {})
        if isinstance(name, str) and (names is None or name in names):
            yield ToolRequest("", name, given if isinstance(given, str) else json.dumps(given, ensure_ascii=False))


def _described(request: ModelRequest) -> str:
    lines = [_line(tool["function"]) for tool in request.tools]
    runs = any(tool["function"]["name"] == "execute" for tool in request.tools)
    forced = {"auto": "", "required": "Act at least once before you answer."}.get(
        request.choice, f"Call {request.choice} first."
    )
    how = _HOW + (_HOW_TO_RUN if runs else "") + _END + "\n".join(lines)
    return f"{how}\n\n{forced}" if forced else how


def _line(function: Mapping[str, Any]) -> str:
    parameters = json.dumps(function.get("parameters", {}), ensure_ascii=False, separators=(",", ":"))
    return f"- {function['name']}: {function.get('description', '')} Arguments: {parameters}"


def _with_observations(messages: Sequence[Message]) -> Iterable[Message]:
    """Yield the messages with tool results as observations. Consecutive results are joined in one message."""
    observed: list[str] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            observed.append(f"Observation of {message.name or 'a call'}:\n{message.text}")
            continue
        if observed:
            yield UserMessage("\n\n".join(observed))
            observed.clear()
        yield AssistantMessage(message.text) if isinstance(message, AssistantMessage) else message
    if observed:
        yield UserMessage("\n\n".join(observed))
