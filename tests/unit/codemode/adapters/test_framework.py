"""A framework that is not installed."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest

from codemode.errors import ConfigurationError

ADAPTERS = {
    "fastmcp": ("fastmcp", "fastmcp"),
    "langchain": ("langchain", "langchain"),
    "openai_agents": ("agents", "openai-agents"),
    "pydantic_ai": ("pydantic_ai", "pydantic-ai-slim"),
}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_adapter_without_its_framework_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, adapter: str) -> None:
    module, package = ADAPTERS[adapter]
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, f"codemode.adapters.{adapter}", raising=False)
    with pytest.raises(ConfigurationError, match=f"pip install {package}$"):
        import_module(f"codemode.adapters.{adapter}")
