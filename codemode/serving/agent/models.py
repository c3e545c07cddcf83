"""Models of providers with OpenAI's chat completions or responses API, called through the official client."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from openai import NOT_GIVEN, AsyncOpenAI, OpenAIError

from codemode.errors import CodeModeError, ConfigurationError
from codemode.serving.agent.transcript import (
    AssistantMessage,
    ModelAnswer,
    TokenUsage,
    ToolMessage,
    ToolRequest,
    UserMessage,
    chat_messages,
)
from codemode.transports.http.network import pinned_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

    from codemode.serving.agent.transcript import Message
    from codemode.settings import AgentSettings, Secrets

OPENAI_URL = "https://api.openai.com/v1"

#: Tool choices that are keywords. Any other choice is the name of a tool.
CHOICES = ("auto", "required", "none")


class ModelUnreachable(CodeModeError):
    """The model's provider could not be reached, or answered with an error."""

    code = "model_unreachable"


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request to a model. `tools` are chat completion definitions; `choice` is a keyword or a tool name."""

    system: str
    messages: Sequence[Message]
    tools: Sequence[Mapping[str, Any]] = ()
    choice: str = "auto"


class Model(Protocol):
    """Anything that answers requests. It yields pieces of the text, then the whole answer."""

    def ask(self, request: ModelRequest) -> AsyncIterator[str | ModelAnswer]:
        """Ask once. Raises ModelUnreachable."""


def model_of(settings: AgentSettings, secrets: Secrets) -> ChatModel | ResponsesModel:
    """Return the model named by completed settings. Raises ConfigurationError, as `client_of` does."""
    return (ChatModel if settings.api == "chat" else ResponsesModel)(client_of(settings, secrets), settings)


def client_of(settings: AgentSettings, secrets: Secrets) -> AsyncOpenAI:
    """Return a client of the provider named by completed settings, which calls no other origin.

    Raises ConfigurationError if a required key is missing or the address is invalid.
    """
    key = secrets.text(settings.api_key)
    if not key and settings.base_url is None:
        raise ConfigurationError("the model's provider needs a key: set OPENAI_API_KEY, or agent.api_key")
    base_url = settings.base_url or OPENAI_URL
    http = pinned_client(base_url, timeout_s=settings.timeout_s)
    return AsyncOpenAI(api_key=key or "none", base_url=base_url, timeout=settings.timeout_s, http_client=http)


class ChatModel:
    """A model behind `POST /chat/completions`."""

    def __init__(self, client: AsyncOpenAI, settings: AgentSettings) -> None:
        self._client = client
        self._settings = settings

    async def ask(self, request: ModelRequest) -> AsyncIterator[str | ModelAnswer]:
        """Ask once. Raises ModelUnreachable."""
        settings = self._settings
        arguments: dict[str, Any] = {
            "model": settings.model,
            "messages": [{"role": "system", "content": request.system}, *chat_messages(request.messages)],
            "max_completion_tokens": _or_not_given(settings.answer_tokens),
            "temperature": _or_not_given(settings.temperature),
            "seed": _or_not_given(settings.seed),
        }
        if request.tools:
            named = {"type": "function", "function": {"name": request.choice}}
            arguments["tools"] = list(request.tools)
            arguments["tool_choice"] = request.choice if request.choice in CHOICES else named
            arguments["parallel_tool_calls"] = NOT_GIVEN if settings.max_parallel_tool_calls > 1 else False
        try:
            if not settings.stream:
                answer = _read_completion(await self._client.chat.completions.create(**arguments))
                yield answer.text
                yield answer
                return
            streamed = _Streamed()
            arguments |= {"stream": True, "stream_options": {"include_usage": True}}
            async with await self._client.chat.completions.create(**arguments) as stream:
                async for chunk in stream:
                    yield streamed.take(chunk)
            yield streamed.answer()
        except OpenAIError as error:
            raise _unreachable(error, self._client) from None

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()


class ResponsesModel:
    """A model behind `POST /responses`. The provider stores nothing: each request has the whole conversation."""

    def __init__(self, client: AsyncOpenAI, settings: AgentSettings) -> None:
        self._client = client
        self._settings = settings

    async def ask(self, request: ModelRequest) -> AsyncIterator[str | ModelAnswer]:
        """Ask once. Raises ModelUnreachable."""
        settings = self._settings
        arguments: dict[str, Any] = {
            "model": settings.model,
            "instructions": request.system,
            "input": [item for message in request.messages for item in _items(message)],
            "store": False,
            "max_output_tokens": _or_not_given(settings.answer_tokens),
            "temperature": _or_not_given(settings.temperature),
        }
        if request.tools:
            named = {"type": "function", "name": request.choice}
            arguments["tools"] = [{"type": "function", "strict": False, **tool["function"]} for tool in request.tools]
            arguments["tool_choice"] = request.choice if request.choice in CHOICES else named
            arguments["parallel_tool_calls"] = NOT_GIVEN if settings.max_parallel_tool_calls > 1 else False
        try:
            if not settings.stream:
                answer = _read_response(await self._client.responses.create(**arguments))
                yield answer.text
                yield answer
                return
            async for piece in self._streamed(arguments):
                yield piece
        except OpenAIError as error:
            raise _unreachable(error, self._client) from None

    async def _streamed(self, arguments: dict[str, Any]) -> AsyncIterator[str | ModelAnswer]:
        async with await self._client.responses.create(**arguments, stream=True) as stream:
            async for event in stream:
                match event.type:
                    case "response.output_text.delta":
                        yield event.delta
                    case "response.completed" | "response.incomplete" | "response.failed":
                        yield _read_response(event.response)
                        return
                    case "error":
                        message = f"the model's provider reports an error: {event.message}"
                        raise ModelUnreachable(message)
        raise ModelUnreachable("the model's provider ended the stream before the answer was complete")

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()


@dataclass(slots=True)
class _Streamed:
    """Collects the pieces of a chat completion."""

    text: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    calls: list[ToolRequest] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    finish: str = ""
    usage: TokenUsage | None = None

    def take(self, chunk: Any) -> str:
        """Add a chunk and return its text."""
        if chunk.usage is not None:
            self.usage = _chat_usage(chunk.usage)
        text = ""
        for choice in chunk.choices[:1]:
            self.finish = choice.finish_reason or self.finish
            text = choice.delta.content or ""
            self.text.append(text)
            self.refusal.append(getattr(choice.delta, "refusal", None) or "")
            for piece in choice.delta.tool_calls or ():
                self._take_call(piece)
        return text

    def _take_call(self, piece: Any) -> None:
        """Add a piece to the call with the same index. Providers without indices send whole calls."""
        index = piece.index if piece.index is not None else len(self.calls)
        place = self.places.setdefault(index, len(self.calls))
        if place == len(self.calls):
            self.calls.append(ToolRequest("", "", ""))
        call, function = self.calls[place], piece.function
        self.calls[place] = ToolRequest(
            call.id or piece.id or "",
            call.name + ((function and function.name) or ""),
            call.arguments + ((function and function.arguments) or ""),
        )

    def answer(self) -> ModelAnswer:
        """Return the whole answer. Raises ModelUnreachable if the stream ended early."""
        if not self.finish:
            raise ModelUnreachable("the model's provider ended the stream before the answer was complete")
        return _identified(
            ModelAnswer("".join(self.text), tuple(self.calls), self.finish, "".join(self.refusal), self.usage)
        )


def _read_completion(completion: Any) -> ModelAnswer:
    if not completion.choices:
        raise ModelUnreachable("the model's provider sent an answer without choices")
    choice = completion.choices[0]
    calls = tuple(
        ToolRequest(call.id or "", call.function.name or "", call.function.arguments or "")
        for call in choice.message.tool_calls or ()
        if call.function is not None
    )
    usage = None if completion.usage is None else _chat_usage(completion.usage)
    refusal = getattr(choice.message, "refusal", None) or ""
    return _identified(ModelAnswer(choice.message.content or "", calls, choice.finish_reason or "stop", refusal, usage))


def _read_response(response: Any) -> ModelAnswer:
    if response.error is not None:
        message = f"the model's provider reports an error: {response.error.message}"
        raise ModelUnreachable(message)
    calls = tuple(
        ToolRequest(item.call_id or "", item.name or "", item.arguments or "")
        for item in response.output
        if item.type == "function_call"
    )
    parts = [part for item in response.output if item.type == "message" for part in item.content]
    refusal = "".join(part.refusal for part in parts if part.type == "refusal")
    reason = response.incomplete_details.reason if response.incomplete_details else ""
    finish = {"max_output_tokens": "length", "content_filter": "content_filter"}.get(reason or "", "stop")
    usage = None
    if response.usage is not None:
        details = response.usage.input_tokens_details
        cached = (details.cached_tokens if details is not None else 0) or 0
        usage = TokenUsage(response.usage.input_tokens, response.usage.output_tokens, cached)
    text = "".join(part.text for part in parts if part.type == "output_text")
    return _identified(ModelAnswer(text, calls, finish, refusal, usage))


def _items(message: Message) -> Iterable[dict[str, Any]]:
    """Yield a message as items of the Responses API."""
    match message:
        case UserMessage():
            images = [{"type": "input_image", "image_url": url, "detail": "auto"} for url in message.images]
            content = [{"type": "input_text", "text": message.text}, *images] if images else message.text
            yield {"role": "user", "content": content}
        case ToolMessage():
            yield {"type": "function_call_output", "call_id": message.id, "output": message.text}
        case AssistantMessage():
            if message.text:
                yield {"role": "assistant", "content": message.text}
            for call in message.calls:
                yield {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}


def _identified(answer: ModelAnswer) -> ModelAnswer:
    """Give every call a unique id: some providers send none, or the same one for all."""
    taken: set[str] = set()
    calls = []
    for number, call in enumerate(answer.calls):
        id_ = call.id if call.id and call.id not in taken else f"{call.id or 'call'}_{number}"
        taken.add(id_)
        calls.append(replace(call, id=id_))
    return replace(answer, calls=tuple(calls))


def _chat_usage(usage: Any) -> TokenUsage:
    details = getattr(usage, "prompt_tokens_details", None)
    cached = getattr(details, "cached_tokens", None) or 0
    return TokenUsage(usage.prompt_tokens or 0, usage.completion_tokens or 0, cached)


def _or_not_given(value: Any) -> Any:
    return NOT_GIVEN if value is None else value


def _unreachable(error: OpenAIError, client: AsyncOpenAI) -> ModelUnreachable:
    status = getattr(error, "status_code", None)
    details = str(error if status or error.__cause__ is None else error.__cause__)
    details = without_key(details, client)
    where = f"the model's provider at {client.base_url}"
    return ModelUnreachable(f"{where} answered {details}" if status else f"{where} cannot be reached: {details}")


def without_key(text: str, client: AsyncOpenAI) -> str:
    """Return a text without the key of the client, which some providers repeat in their errors."""
    return text.replace(client.api_key, "***") if client.api_key else text
