"""The `definitions` section: the signatures that `execute` carries."""

from __future__ import annotations

from pydantic import Field

from codemode.settings.policy import Names
from codemode.settings.section import Section


class DefinitionSettings(Section):
    """What the definition of `execute` lists, so that a model needs no search."""

    inline_tokens: int = Field(
        default=1_500,
        ge=0,
        le=100_000,
        description="Maximum length of the signatures in the definition of `execute`, in tokens. All tools that the "
        "caller may use are listed if they fit, else those of `inline`. 0: none.",
    )
    inline: Names = Field(
        default=(),
        description="Tools, groups, sources or saved programs to list if not all tools fit, the most important first. "
        "Empty: the tools that the role uses most.",
        examples=[["gym.clients", "saved.monthly_report"]],
    )
