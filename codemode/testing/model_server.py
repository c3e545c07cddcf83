"""A scripted model over HTTP: chat completions and responses, streamed or not, as strict as OpenAI's API.

def script(seen: ModelRequest) -> Reply:
    if not seen.answers:
        return Reply(calls=[("search", {"queries": [seen.message]})])
    return Reply("found: " + seen.answers[-1].text)

async with ModelServer(script) as server:
    client = AsyncOpenAI(base_url=server.base_url, api_key=server.key)
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, Self

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from codemode.catalog.tokens import estimate
from codemode.testing.model_refusals import Refused, check_chat, check_responses
from codemode.testing.served import Served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from starlette.requests import Request

#: Characters of each piece of a streamed answer.
_PIECE = 12


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer to a tool call, as the model reads it."""

    id: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request to either API. `messages` are in chat completion format; `tools` maps names to definitions."""

    api: Literal["chat", "responses"]
    body: dict[str, Any]
    system: str
    messages: list[dict[str, Any]]
    tools: dict[str, dict[str, Any]]

    @property
    def message(self) -> str:
        """The user's last message."""
        return next((str(one["content"]) for one in reversed(self.messages) if one["role"] == "user"), "")

    @property
    def answers(self) -> list[ToolAnswer]:
        """Tool answers after the user's last message."""
        last = max((at for at, one in enumerate(self.messages) if one["role"] == "user"), default=-1)
        names = {call["id"]: call["function"]["name"] for one in self.messages for call in one.get("tool_calls") or ()}
        return [
            ToolAnswer(one["tool_call_id"], names.get(one["tool_call_id"], ""), str(one["content"]))
            for one in self.messages[last + 1 :]
            if one["role"] == "tool"
        ]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the model. `calls` are pairs of name and arguments: an object, or a text that is sent unchanged.

    `finish` is the `finish_reason`; the default follows from the content. `usage` is (input tokens, output tokens);
    the default is an estimate, and () reports none.
    """

    text: str = ""
    calls: Sequence[tuple[str, Mapping[str, Any] | str]] = ()
    finish: str = ""
    refusal: str = ""
    usage: tuple[int, ...] | None = None

    @property
    def reason(self) -> str:
        """The `finish_reason`."""
        return self.finish or ("tool_calls" if self.calls else "stop")


Script = Callable[[ModelRequest], Reply]


@dataclass(slots=True)
class _Spoken:
    """An answer with its ids."""

    say: Reply
    id: str
    model: str
    calls: list[tuple[str, str, str]] = field(default_factory=list)
    tokens: tuple[int, ...] = ()


class ModelServer:
    """Serves a script on a loopback port. `seen` has the accepted requests, `refused` the reasons for rejected ones.

    An exception in the script is answered with 500, and raised again when the server is closed.
    """

    def __init__(self, script: Script, *, key: str = "a-model-key") -> None:
        self.key = key
        self.seen: list[ModelRequest] = []
        self.refused: list[str] = []
        self._script = script
        self._faults: list[Exception] = []
        self._numbers = count(1)
        routes = [
            Route("/v1/chat/completions", self._chat, methods=["POST"]),
            Route("/v1/responses", self._responses, methods=["POST"]),
        ]
        app = Starlette(routes=routes, exception_handlers={Refused: self._refusal, Exception: self._fault})
        self._served = Served(app)

    @property
    def base_url(self) -> str:
        """Base URL; ends in `/v1`."""
        return f"{self._served.url}/v1"

    async def __aenter__(self) -> Self:
        await self._served.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._served.__aexit__()
        if self._faults:
            raise self._faults[0]

    async def _chat(self, request: Request) -> Response:
        body = await self._body(request)
        check_chat(body)
        messages = [one for one in body["messages"] if one["role"] not in ("system", "developer")]
        system = "\n".join(str(one["content"]) for one in body["messages"] if one["role"] in ("system", "developer"))
        tools = {tool["function"]["name"]: tool["function"] for tool in body.get("tools") or ()}
        spoken = self._spoken(ModelRequest("chat", body, system, messages, tools), body)
        if not body.get("stream"):
            return JSONResponse(_completion(spoken))
        usage = bool((body.get("stream_options") or {}).get("include_usage"))
        return _events(_chunks(spoken, with_usage=usage), end="data: [DONE]\n\n")

    async def _responses(self, request: Request) -> Response:
        body = await self._body(request)
        check_responses(body)
        tools = {tool["name"]: tool for tool in body.get("tools") or ()}
        messages = _as_chat(body["input"])
        spoken = self._spoken(ModelRequest("responses", body, body.get("instructions") or "", messages, tools), body)
        return _events(_response_events(spoken)) if body.get("stream") else JSONResponse(_response(spoken))

    async def _body(self, request: Request) -> dict[str, Any]:
        if request.headers.get("authorization") != f"Bearer {self.key}":
            raise Refused("Incorrect API key provided.", status=401, code="invalid_api_key")
        body: dict[str, Any] = await request.json()
        return body

    async def _refusal(self, _: Request, refused: Exception) -> Response:
        assert isinstance(refused, Refused)  # noqa: S101 -- the handler is registered for it
        self.refused.append(str(refused))
        return JSONResponse({"error": refused.to_json()}, status_code=refused.status)

    async def _fault(self, _: Request, error: Exception) -> Response:
        self._faults.append(error)
        return JSONResponse({"error": {"message": f"the script raised {type(error).__name__}"}}, status_code=500)

    def _spoken(self, seen: ModelRequest, body: dict[str, Any]) -> _Spoken:
        """Run the script. Like the API, honour `tool_choice: none` and `parallel_tool_calls: false`."""
        self.seen.append(seen)
        say = self._script(seen)
        calls = [] if body.get("tool_choice") == "none" else list(say.calls)
        if body.get("parallel_tool_calls") is False:
            calls = calls[:1]
        given = [
            (f"call_{next(self._numbers)}", name, arguments if isinstance(arguments, str) else json.dumps(arguments))
            for name, arguments in calls
        ]
        written = say.text + "".join(arguments for _, _, arguments in given)
        tokens = (estimate(json.dumps(body)), estimate(written)) if say.usage is None else say.usage
        final = Reply(say.text, calls, say.finish, say.refusal, say.usage)
        return _Spoken(final, f"{next(self._numbers)}", str(body.get("model")), given, tokens)


def _completion(spoken: _Spoken) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": spoken.say.text or None}
    if spoken.say.refusal:
        message["refusal"] = spoken.say.refusal
    if spoken.calls:
        message["tool_calls"] = [_call(id_, name, arguments) for id_, name, arguments in spoken.calls]
    choice = {"index": 0, "message": message, "finish_reason": spoken.say.reason, "logprobs": None}
    return {**_head(spoken, "chat.completion"), "choices": [choice], **_usage(spoken)}


def _chunks(spoken: _Spoken, *, with_usage: bool) -> Iterable[dict[str, Any]]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return {**_head(spoken, "chat.completion.chunk"), "choices": [choice]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(spoken.say.text):
        yield chunk({"content": piece})
    if spoken.say.refusal:
        yield chunk({"refusal": spoken.say.refusal})
    for index, (id_, name, arguments) in enumerate(spoken.calls):
        yield chunk({"tool_calls": [{"index": index, **_call(id_, name, "")}]})
        for piece in _pieces(arguments):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, spoken.say.reason)
    if with_usage and spoken.tokens:
        yield {**_head(spoken, "chat.completion.chunk"), "choices": [], **_usage(spoken)}


def _response(spoken: _Spoken) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    if spoken.say.text or spoken.say.refusal:
        part: dict[str, Any] = {"type": "output_text", "text": spoken.say.text, "annotations": []}
        if spoken.say.refusal:
            part = {"type": "refusal", "refusal": spoken.say.refusal}
        message = {"type": "message", "id": f"msg_{spoken.id}", "role": "assistant", "status": "completed"}
        output.append({**message, "content": [part]})
    output += [
        {"type": "function_call", "id": f"fc_{id_}", "call_id": id_, "name": name, "arguments": arguments}
        for id_, name, arguments in spoken.calls
    ]
    reasons = {"length": "max_output_tokens", "content_filter": "content_filter"}
    reason = reasons.get(spoken.say.reason)
    usage = None
    if spoken.tokens:
        given, made = spoken.tokens
        usage = {
            "input_tokens": given,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": made,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": given + made,
        }
    return {
        "id": f"resp_{spoken.id}",
        "object": "response",
        "created_at": 0,
        "model": spoken.model,
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "error": None,
        "output": output,
        "usage": usage,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def _response_events(spoken: _Spoken) -> Iterable[dict[str, Any]]:
    whole = _response(spoken)
    numbers = count()
    yield {
        "type": "response.created",
        "sequence_number": next(numbers),
        "response": {**whole, "status": "in_progress", "output": [], "usage": None},
    }
    for place, item in enumerate(whole["output"]):
        added = {"type": "response.output_item.added", "output_index": place}
        empty: dict[str, Any] = {"content": []} if item["type"] == "message" else {"arguments": ""}
        yield {**added, "sequence_number": next(numbers), "item": {**item, **empty, "status": "in_progress"}}
        for event in _item_events(item):
            yield {**event, "sequence_number": next(numbers), "item_id": item["id"], "output_index": place}
        done = {"type": "response.output_item.done", "output_index": place}
        yield {**done, "sequence_number": next(numbers), "item": item}
    ended = "response.incomplete" if whole["status"] == "incomplete" else "response.completed"
    yield {"type": ended, "sequence_number": next(numbers), "response": whole}


def _item_events(item: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """Yield the content of an output item in pieces."""
    if item["type"] != "message":
        for piece in _pieces(item["arguments"]):
            yield {"type": "response.function_call_arguments.delta", "delta": piece}
        yield {"type": "response.function_call_arguments.done", "name": item["name"], "arguments": item["arguments"]}
        return
    for place, part in enumerate(item["content"]):
        empty = {**part, "text": ""} if part["type"] == "output_text" else part
        yield {"type": "response.content_part.added", "content_index": place, "part": empty}
        for piece in _pieces(part.get("text", "")):
            delta = {"content_index": place, "delta": piece, "logprobs": []}
            yield {"type": "response.output_text.delta", **delta}
        yield {"type": "response.content_part.done", "content_index": place, "part": part}


def _as_chat(given: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Convert items of the Responses API to chat completion messages."""
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    messages: list[dict[str, Any]] = []
    for item in given:
        match item.get("type", "message"):
            case "function_call":
                call = _call(item["call_id"], item["name"], item["arguments"])
                if messages and messages[-1].get("tool_calls"):
                    messages[-1]["tool_calls"].append(call)
                else:
                    messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            case "function_call_output":
                messages.append({"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]})
            case "message":
                messages.append({"role": item["role"], "content": item["content"]})
    return messages


def _events(data: Iterable[dict[str, Any]], end: str = "") -> StreamingResponse:
    """Return a stream of server-sent events, one per object."""

    async def written() -> AsyncIterator[str]:
        for one in data:
            named = f"event: {one['type']}\n" if "type" in one else ""
            yield f"{named}data: {json.dumps(one)}\n\n"
        yield end

    return StreamingResponse(written(), media_type="text/event-stream")


def _head(spoken: _Spoken, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{spoken.id}", "object": kind, "created": 0, "model": spoken.model}


def _usage(spoken: _Spoken) -> dict[str, Any]:
    if not spoken.tokens:
        return {}
    given, made = spoken.tokens
    return {"usage": {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}}


def _call(id_: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def _pieces(text: str) -> list[str]:
    return re.findall(rf"(?s).{{1,{_PIECE}}}", text)
