"""The configured engine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from codemode.errors import ConfigurationError
from codemode.executions.run.engines import engine_name, engine_of
from codemode.settings import SandboxSettings, Settings
from sandbox import Limits, MontySandbox, Sandbox

if TYPE_CHECKING:
    from sandbox import Engine


def of(**settings: object) -> Engine:
    return engine_of(SandboxSettings.model_validate(settings), Limits())


def test_the_default_is_the_process_engine() -> None:
    assert isinstance(of(), Sandbox)
    assert engine_name(SandboxSettings()) == "process"


def test_monty_is_chosen_by_name() -> None:
    assert isinstance(of(engine="monty"), MontySandbox)
    assert engine_name(SandboxSettings(engine="monty")).startswith("monty 1.")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("pydantic_monty", "sandbox.monty.engine", "sandbox.monty.session", "sandbox.monty.roots"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)
    with pytest.raises(ConfigurationError, match=r"needs pydantic-monty: pip install codemode\[monty\]"):
        of(engine="monty")


def test_layers_of_the_process_engine_cannot_be_required_of_monty() -> None:
    with pytest.raises(ValidationError, match="engine: monty has no such layers: remove `require`"):
        Settings.model_validate({"sandbox": {"engine": "monty", "require": ["seccomp"]}})
    assert of(engine="process", require=["seccomp"]) is not None
