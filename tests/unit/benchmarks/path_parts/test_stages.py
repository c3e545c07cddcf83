"""The table of stages names functions of the product, which may be renamed."""

from __future__ import annotations

import pytest

from benchmarks.path_parts import stages


def test_every_function_of_a_stage_exists_once() -> None:
    found = [(function.owner, function.name) for function in stages.resolved()]
    assert len(found) == len(set(found)) > 50


def test_an_unknown_name_is_reported_with_its_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(stages.STAGES, "response", ("codemode.service:CodeMode.gone",))
    with pytest.raises(LookupError, match=r"the stage 'response' names codemode\.service:CodeMode\.gone"):
        list(stages.resolved())
