"""The code mode of pydantic-ai's harness: `run_code`, whose description has the signatures of all tools."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from pydantic_ai import Agent, Tool, capture_run_messages
from pydantic_ai.exceptions import AgentRunError, ModelAPIError, ToolFailed, UsageLimitExceeded
from pydantic_ai.messages import ModelRequest, ModelResponse
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RunUsage, UsageLimits
from pydantic_ai_harness import CodeMode as HarnessCodeMode

from benchmarks.agents.service_tools import CallFailed, tools_of
from codemode.bench.players import SHOWN, with_instructions
from codemode.bench.results import Step, TurnRecord
from codemode.serving.agent.models import client_of, without_key
from codemode.settings import Secrets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.agents.service_tools import ServiceTool
    from codemode.bench.suite import Episode, Task
    from codemode.service import CodeMode
    from codemode.settings import AgentSettings

#: Added to the instructions: the harness has none of its own, and ours are for our two tools.
_PROMPT = "You do what the user asks with the given tools. Answer briefly, and from results only."


class PydanticAiPlayer:
    """An agent of pydantic-ai with the harness's code mode."""

    mode = "pydantic-ai"
    packages = ("pydantic-ai-slim", "pydantic-ai-harness")

    def __init__(self, settings: AgentSettings) -> None:
        self.model = settings.model
        self._settings = settings
        self._history: dict[int, list[Any]] = {}

    async def answer(
        self, service: CodeMode, task: Task, episode: Episode, index: int, before: Sequence[TurnRecord]
    ) -> TurnRecord:
        """Send the message to the model, with the conversation so far."""
        settings = with_instructions(self._settings, task)
        history = self._history.pop(id(episode), []) if index else []
        usage, begun = RunUsage(), time.monotonic()
        async with client_of(settings, Secrets()) as client:
            agent = Agent(
                OpenAIChatModel(settings.model, provider=OpenAIProvider(openai_client=client)),
                instructions="\n\n".join(filter(None, (_PROMPT, settings.instructions))),
                tools=[_tool(one) for one in await tools_of(service)],
                capabilities=[HarnessCodeMode()],
                model_settings=_model_settings(settings),
            )
            limits = UsageLimits(request_limit=settings.most_iterations)
            with capture_run_messages() as messages:
                try:
                    result = await agent.run(
                        task.messages[index], message_history=history, usage=usage, usage_limits=limits
                    )
                    status, text = "completed", str(result.output)
                except AgentRunError as error:
                    status, text = _status(error), without_key(str(error), client)
        new = messages[len(history) :]
        if index + 1 < len(task.messages):
            self._history[id(episode)] = messages
        return TurnRecord(
            message=task.messages[index],
            answer=text,
            steps=list(_steps(new)),
            status=status,
            requests=usage.requests,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cached_tokens=usage.cache_read_tokens,
            duration_s=time.monotonic() - begun,
        )


def _model_settings(settings: AgentSettings) -> Any:
    given = {
        "temperature": settings.temperature,
        "seed": settings.seed,
        "max_tokens": settings.answer_tokens,
    }
    return ModelSettings(**{name: value for name, value in given.items() if value is not None})


def _status(error: AgentRunError) -> str:
    if isinstance(error, UsageLimitExceeded):
        return "iterations"
    return "unreachable" if isinstance(error, ModelAPIError) else "malformed"


def _tool(tool: ServiceTool) -> Any:
    async def call(**arguments: Any) -> Any:
        try:
            return await tool.call(**arguments)
        except CallFailed as error:
            raise ToolFailed(str(error)) from None

    return Tool.from_schema(call, tool.name, tool.description, tool.parameters)


def _steps(messages: Sequence[Any]) -> Iterator[Step]:
    """Yield each call with its result, and each answer that was not accepted with the reason."""
    asked: dict[str, str] = {}
    written = ""
    for message in messages:
        if isinstance(message, ModelResponse):
            written = message.text or ""
            for call in message.tool_calls:
                arguments = call.args_as_dict(raise_if_invalid=False)
                asked[call.tool_call_id] = str(arguments.get("code") or f"{call.tool_name}({call.args})")
        elif isinstance(message, ModelRequest):
            for part in message.parts:
                match part.part_kind:
                    case "tool-return":
                        status = "completed" if part.outcome == "success" else part.outcome
                        yield Step(asked.get(part.tool_call_id, ""), status, part.model_response_str()[:SHOWN])
                    case "retry-prompt" | "retry-feedback":
                        program = asked.get(getattr(part, "tool_call_id", ""), written)
                        yield Step(program, "asked again", error=part.model_response()[:SHOWN])


player = PydanticAiPlayer
