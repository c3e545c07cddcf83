"""The system prompt. Equal catalogs and settings give equal bytes; variable parts come last, for prompt caching."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codemode.settings import AgentMode

#: Maximum length of a plan's JSON in the prompt, in characters.
PLAN_CHARACTERS = 1_500

_CODE = (
    "You do what the user asks with tools. execute runs a Python program that calls them. Search only for tools whose "
    "signatures you lack. Unless told otherwise, do as much as possible in one program. Return only what you need to "
    "see. If a program failed, check what it had done before you run it again. Answer briefly, and from results only."
)

_TOOLS = (
    "You do what the user asks with the given tools. Unless told otherwise, make independent calls in one answer. "
    "Answer briefly, and from results only."
)

_DEFERRED = " Functions that are not listed are found with tool_search."

_HYBRID = " Some tools can also be called directly: do so where one call is enough."


def system_prompt(mode: AgentMode, instructions: str, *, plan: Any = None, menu: str = "") -> str:
    """Join the instructions of the mode, those of the operator, an optional plan, and the menu's text."""
    how = {"code": _CODE, "hybrid": _CODE + _HYBRID, "deferred": _TOOLS + _DEFERRED}.get(mode, _TOOLS)
    given = "" if plan is None else f"A plan for this; follow it as far as it is right:\n{plan_text(plan)}"
    return "\n\n".join(part for part in (how, instructions.strip(), given, menu) if part)


def plan_text(plan: Any) -> str:
    """Return the plan as JSON of at most 1,500 characters."""
    text = json.dumps(plan, ensure_ascii=False, separators=(",", ":"), default=str)
    return text if len(text) <= PLAN_CHARACTERS else text[: PLAN_CHARACTERS - 1] + "…"
