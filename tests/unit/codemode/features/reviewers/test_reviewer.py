"""Reviewers: what each mode lets an opinion do, and how a failed review ends."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from codemode import Approved, PluginCall, Rejected
from codemode.errors import ConfigurationError
from codemode.executions.plugins.loading import load_hooks
from codemode.features.reviewers.loading import load_reviewers
from codemode.features.reviewers.reviewer import Reviewer
from codemode.settings import ReviewerSettings, Settings

if TYPE_CHECKING:
    from pathlib import Path


def pending(effect: str = "write", *, low_risk: bool = True, tool: str = "shop.refund") -> PluginCall:
    return PluginCall("ex_1", "1", tool, effect, {"order": 7}, "key-1", "support", "rule 2", low_risk=low_risk)


class Opinion:
    """Always has the same opinion, and keeps the calls that it saw."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.seen: list[PluginCall] = []

    async def __call__(self, call: PluginCall) -> Any:
        self.seen.append(call)
        return self.answer


def reviewer(opinion: Any, **settings: Any) -> Reviewer:
    whole = {"name": "fraud", "function": "reviews:limits", **settings}
    return Reviewer(ReviewerSettings.model_validate(whole), opinion)


@pytest.mark.parametrize(
    ("mode", "call", "expected"),
    [
        ("veto", pending(), None),
        ("approve", pending(), Approved("fine")),
        ("approve", pending(low_risk=False), None),
        ("approve", pending("destructive"), None),
    ],
)
async def test_an_approval_counts_only_as_far_as_the_mode_allows(mode: str, call: PluginCall, expected: Any) -> None:
    assert await reviewer(Opinion(Approved("fine")), mode=mode).answer_approval(call) == expected


@pytest.mark.parametrize("mode", ["veto", "approve"])
@pytest.mark.parametrize("call", [pending(), pending("destructive", low_risk=False)])
async def test_a_rejection_counts_in_both_modes(mode: str, call: PluginCall) -> None:
    assert await reviewer(Opinion(Rejected("too much")), mode=mode).answer_approval(call) == Rejected("too much")


async def test_only_the_configured_tools_and_effects_are_reviewed() -> None:
    opinion = Opinion(Rejected("no"))
    asked = reviewer(opinion, tools="shop.*", effects="write")
    assert await asked.answer_approval(pending(tool="mail.send")) is None
    assert await asked.answer_approval(pending("destructive")) is None
    assert opinion.seen == []
    assert await asked.answer_approval(pending()) == Rejected("no")


async def test_a_late_review_leaves_the_call_to_a_person(caplog: pytest.LogCaptureFixture) -> None:
    async def never(_: PluginCall) -> None:
        await asyncio.Event().wait()

    assert await reviewer(never, timeout_s=0.01).answer_approval(pending()) is None
    assert "reviewer fraud gave no answer on shop.refund within 0.01 s; a person decides" in caplog.text


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "async def limits(call):\n    return None\n\ndef plain(call):\n    return None\n"
    (tmp_path / "reviews.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "reviews", raising=False)


@pytest.mark.usefixtures("module")
def test_a_function_is_loaded_by_its_path() -> None:
    settings = Settings.model_validate({"reviewers": [{"name": "fraud", "function": "reviews:limits"}]})
    rejecting, approving = load_reviewers(settings)
    assert load_hooks((), (), first=rejecting, last=approving).identity == "fraud"


@pytest.mark.usefixtures("module")
def test_vetoes_are_asked_before_anything_can_approve() -> None:
    named = [{"name": mode, "mode": mode, "function": "reviews:limits"} for mode in ("approve", "veto")]
    rejecting, approving = load_reviewers(Settings.model_validate({"reviewers": named}))
    assert [one.name for one in rejecting] == ["veto"]
    assert [one.name for one in approving] == ["approve"]


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("reviews:limit", "reviewers: fraud: reviews has no function 'limit'; did you mean 'limits'?"),
        ("reviews:plain", "reviewers: fraud: reviews:plain must be a coroutine function: `async def plain(call)`"),
        ("no_such_reviews:a", "reviewers: fraud: no_such_reviews cannot be imported: No module named"),
    ],
)
def test_a_function_that_cannot_be_used_is_rejected_at_the_start(function: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_reviewers(Settings.model_validate({"reviewers": [{"name": "fraud", "function": function}]}))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("reviewers", "message"),
    [
        ([{"name": "a"}], "reviewer 'a': write exactly one of `function` and `model`"),
        (
            [{"name": "a", "function": "a:b", "mode": "approve", "effects": "destructive"}],
            "`mode: approve` never approves destructive calls",
        ),
        ([{"name": "a", "function": "a:b"}] * 2, "the reviewer 'a' is named twice"),
    ],
)
def test_contradictory_settings_are_rejected(reviewers: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Settings.model_validate({"reviewers": reviewers})
