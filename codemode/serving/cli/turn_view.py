"""The events of one turn of a model on the terminal."""

from __future__ import annotations

from contextlib import ExitStack, aclosing
from typing import TYPE_CHECKING, Any

from codemode.serving.agent import (
    Asked,
    CallEnded,
    CallStarted,
    Ended,
    ModeChanged,
    Repaired,
    TextDelta,
    ToolsRequested,
)
from codemode.serving.cli.markdown import TextStream
from codemode.serving.output import terminal as show
from codemode.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codemode.serving.agent import Agent, AgentResult, Event, TokenUsage


async def show_turn(agent: Agent, message: str, history: Sequence[Mapping[str, Any]]) -> AgentResult:
    """Answer a message, and show the events as they happen. Cancelling it cancels the turn."""
    text = TextStream()
    with ExitStack() as ending:
        ending.callback(text.close)
        waiting = ending.enter_context(ExitStack())
        async with aclosing(agent.run(message, history=history)) as events:
            async for event in events:
                waiting.close()
                if isinstance(event, Asked):
                    waiting.enter_context(show.waiting(f"waiting for {agent.settings.model}"))
                elif isinstance(event, TextDelta):
                    text.feed(event.text)
                else:
                    text.close()
                    _show(event)
                if isinstance(event, Ended):
                    return event.result
    raise RuntimeError("the turn has no end")


def account(requests: int, usage: TokenUsage, cost: float | None, duration_s: float) -> str:
    """Return what turns took: `2 requests, 1,000 + 20 tokens, cost 0.0102, 1.3 s`."""
    price = "" if cost is None else f", cost {cost:.4f}"
    tokens = f"{usage.input:,} + {usage.output:,} tokens"
    return f"{counted(requests, 'request')}, {tokens}{price}, {duration_s:.1f} s"


def _show(event: Event) -> None:
    match event:
        case CallStarted():
            code = event.arguments.get("code")
            title = show.plain(f"\n{event.name}" + ("" if code else f" {event.arguments}"), style="bold")
            show.console.print(title)
            if isinstance(code, str):
                show.console.print(show.program(code))
        case CallEnded() if event.outcome is not None:
            show.console.print(show.outcome(event.outcome))
        case CallEnded() | ToolsRequested():
            is_search = isinstance(event, CallEnded) and event.name == "search"
            show.console.print(show.first_lines(event.text) if is_search else show.shortened("answer", event.text))
        case Repaired():
            show.console.print(show.plain(f"\n(retrying: {event.problem})", style="yellow"))
        case ModeChanged():
            text = f"\n(changing to mode {event.mode} after {counted(event.malformed, 'malformed call')})"
            show.console.print(show.plain(text, style="yellow"))
        case Ended():
            _show_end(event.result)


def _show_end(result: AgentResult) -> None:
    if not result.ok:
        show.console.print(show.plain(f"\n{result.status}: {result.text}", style="red"), end="")
    if result.figures:
        text = f"\nno result contains {', '.join(result.figures)}"
        show.console.print(show.plain(text, style="yellow"), end="", soft_wrap=True)
    line = account(result.iterations, result.usage, result.cost, result.duration_s)
    show.console.print(show.plain(f"\n{line}", style="dim"))
