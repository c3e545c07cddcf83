"""Models without tool calling: the prompt lists the tools, and calls are parsed from the text."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codemode.serving.agent.models import ModelRequest
from codemode.serving.agent.transcript import AssistantMessage, ModelAnswer, ToolMessage, UserMessage
from codemode.serving.agent.written_calls import programs, with_calls, written_calls

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence

    from codemode.serving.agent.models import Model
    from codemode.serving.agent.transcript import Message

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
    if names:
        runnable = programs(answer.text) if "execute" in names else ()
        calls = written_calls(answer.text, names, runnable)
        if calls:
            return with_calls(answer, calls)
    return replace(answer, text=_FINAL.sub("", answer.text))


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
