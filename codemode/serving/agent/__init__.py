"""The agent loop: a model of any provider with the tools of a `CodeMode`.

agent = Agent(service)                        # model, mode and bounds from the section `agent`
result = await agent.answer("Who came today?")
async for event in agent.run("Freeze the first of them.", history=result.messages):
    ...
"""

from codemode.serving.agent.agent import Agent
from codemode.serving.agent.events import (
    Action,
    AgentResult,
    AgentStatus,
    Asked,
    CallEnded,
    CallStarted,
    Ended,
    Event,
    ModeChanged,
    Repaired,
    TextDelta,
    ToolsRequested,
)
from codemode.serving.agent.models import ChatModel, Model, ModelRequest, ModelUnreachable, ResponsesModel
from codemode.serving.agent.transcript import ModelAnswer, TokenUsage, ToolRequest

__all__ = [
    "Action",
    "Agent",
    "AgentResult",
    "AgentStatus",
    "Asked",
    "CallEnded",
    "CallStarted",
    "ChatModel",
    "Ended",
    "Event",
    "ModeChanged",
    "Model",
    "ModelAnswer",
    "ModelRequest",
    "ModelUnreachable",
    "Repaired",
    "ResponsesModel",
    "TextDelta",
    "TokenUsage",
    "ToolRequest",
    "ToolsRequested",
]
