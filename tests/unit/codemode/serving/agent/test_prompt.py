from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.catalog.tokens import estimate
from codemode.serving.agent.prompt import system_prompt

if TYPE_CHECKING:
    from codemode.settings import AgentMode


@pytest.mark.parametrize("mode", ["code", "hybrid", "native", "menu", "deferred"])
def test_what_the_operator_says_of_parallel_calls_overrides_the_prompt(mode: AgentMode) -> None:
    prompt = system_prompt(mode, "Make one tool call at a time.")
    assert "Unless told otherwise, " in prompt
    assert prompt.endswith("\n\nMake one tool call at a time.")
    assert estimate(system_prompt(mode, "")) <= 100
