"""The system prompt: the same bytes for the same catalog and settings; what varies comes last."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codemode.settings import AgentSettings

#: Characters of a plan's JSON that reach the model.
PLAN_CHARACTERS = 1_500

_CODE = (
    "You do what the user asks with tools. search finds tools and answers their Python signatures; execute runs a "
    "Python program that calls them. Search first, unless you know the exact names. Then write one program that does "
    "as much as possible at once: loops, filters, joins and parallel calls. Return only what you need to see. Where a "
    "program failed, look at what had been done before you run it again. Answer from results alone, and briefly."
)

_TOOLS = (
    "You do what the user asks with the tools that you are given. Make calls that do not depend on each other in one "
    "answer. Answer from results alone, and briefly."
)

_HYBRID = " Some tools are there to be called directly as well: do so where one call is enough."


def system_prompt(settings: AgentSettings, *, plan: Any = None, menu: str = "") -> str:
    """The instructions of the mode, the operator's, a plan where an orchestrator gave one, what a menu has to say."""
    mode = {"code": _CODE, "hybrid": _CODE + _HYBRID}.get(settings.mode, _TOOLS)
    given = "" if plan is None else f"A plan was made for this; follow it as far as it is right:\n{plan_text(plan)}"
    return "\n\n".join(part for part in (mode, settings.instructions.strip(), given, menu) if part)


def plan_text(plan: Any) -> str:
    """The plan as JSON of at most 1,500 characters."""
    text = json.dumps(plan, ensure_ascii=False, separators=(",", ":"), default=str)
    return text if len(text) <= PLAN_CHARACTERS else text[: PLAN_CHARACTERS - 1] + "…"
