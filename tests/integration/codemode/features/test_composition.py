"""A service is whole without features, and says what it was made without."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode import CodeMode
from codemode.errors import ConfigurationError
from codemode.features.all import FEATURES
from codemode.features.plans.plans import Plans
from codemode.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


def double(number: int) -> int:
    """Double a number."""
    return 2 * number


def settings(folder: Path, **more: object) -> Settings:
    return Settings.model_validate({"state_folder": folder, "journal": {"enabled": True}, **more})


async def test_without_features_tools_are_found_and_programs_run(tmp_path: Path) -> None:
    async with CodeMode(settings(tmp_path), {"sums": [double]}, features=()) as service:
        assert "sums.double" in (await service.search("double a number")).text
        outcome = await service.execute("sums.double(number=21)")
        assert (outcome.status, outcome.value) == ("completed", 42)
        assert [call.tool for call in outcome.calls] == ["sums.double"]
        stored = await service.executions.outcome(outcome.id, service.tools().caller)
        assert stored["value"] == 42


async def test_a_plan_is_refused_where_there_are_none(tmp_path: Path) -> None:
    async with CodeMode(settings(tmp_path), {"sums": [double]}, features=()) as service:
        with pytest.raises(ConfigurationError, match=r"this service has no plans, so pl_\w+ cannot be run"):
            await service.execute("", plan=f"pl_{'0' * 32}")
        with pytest.raises(ConfigurationError, match="this service was made without Plans"):
            service.part(Plans)


async def test_a_part_that_the_settings_do_not_ask_for_says_what_to_set(tmp_path: Path) -> None:
    without = Settings.model_validate({"state_folder": tmp_path, "journal": {"enabled": False}})
    async with CodeMode(without, {"sums": [double]}) as service:
        with pytest.raises(ConfigurationError, match=r"set `journal\.enabled: true`"):
            service.part(Plans)


def test_a_section_without_its_feature_is_refused(tmp_path: Path) -> None:
    reviewers = [{"name": "second", "function": "builtins:print"}]
    with pytest.raises(ConfigurationError, match="`reviewers` is configured, and this service was made without"):
        CodeMode(settings(tmp_path, reviewers=reviewers), features=())
    others = [feature for feature in FEATURES if feature.name != "reviewers"]
    with pytest.raises(ConfigurationError, match="`reviewers` is configured"):
        CodeMode(settings(tmp_path, reviewers=reviewers), features=others)
