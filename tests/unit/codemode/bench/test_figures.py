"""Figures leave out every text of a suite and of a model, and give the same tables."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from codemode.bench.figures import write_figures
from codemode.bench.origins import given, origin_of
from codemode.bench.players import IdlePlayer
from codemode.bench.results import read_all, read_results
from codemode.bench.tables import tables_of
from codemode.errors import ConfigurationError
from tests.unit.codemode.bench.samples import PAY, TURN, gold, result

if TYPE_CHECKING:
    from pathlib import Path

DETAILS = {"attack_succeeded": True, "said": "secret text", "score": 0.5}


@pytest.mark.parametrize("name", ["figures.jsonl", "figures.jsonl.xz"])
def test_figures_give_the_tables_of_the_results(name: str, tmp_path: Path) -> None:
    results = [result(suite="shop:x", details=DETAILS), result("b", solved=False), gold(about={"date": "today"})]
    write_figures(results, tmp_path / name)
    found = read_results(tmp_path / name)
    assert tables_of(found) == tables_of(results)
    assert [one.key for one in found] == [one.key for one in results]
    assert found[0].details == {"attack_succeeded": True, "score": 0.5}
    assert [one.is_silently_wrong for one in found] == [one.is_silently_wrong for one in results]


def test_no_text_is_left(tmp_path: Path) -> None:
    file = tmp_path / "figures.jsonl"
    write_figures([result(solved=False, details=DETAILS)], file)
    text = file.read_text(encoding="utf-8")
    for secret in (TURN.message, TURN.answer, PAY.program, "committed", "not paid", "secret", "no tool"):
        assert secret not in text
    (turn,) = json.loads(text)["turns"]
    assert [step.get("refusals") for step in turn["steps"]] == [None, ["unknown_tool"], None]


def test_facts_are_added_to_the_origin(tmp_path: Path) -> None:
    file = tmp_path / "figures.jsonl"
    write_figures([result(about={"date": "today"})], file, given(["weights=Q4_K_M", "date = 2026-11-26"]))
    assert read_results(file)[0].about == {"date": "2026-11-26", "weights": "Q4_K_M"}


@pytest.mark.parametrize("fact", ["weights", "=Q4", "weights="])
def test_a_fact_without_name_or_value_is_rejected(fact: str) -> None:
    with pytest.raises(ConfigurationError, match="is not NAME=VALUE, such as weights=Q4_K_M"):
        given([fact])


def test_the_origin_of_results_names_what_a_reader_needs() -> None:
    suite = SimpleNamespace(name="shop", packages=["pytest", "a-package-that-is-missing"])
    found = origin_of([suite, IdlePlayer()], {"temperature": 0.0, "seed": None})
    assert {"date", "codemode", "Python", "tokens", "temperature", "pytest"} <= found.keys()
    assert "a-package-that-is-missing" not in found
    assert "seed" not in found


def test_two_files_with_one_attempt_are_reported_apart(tmp_path: Path) -> None:
    before, after, other = (tmp_path / f"{name}.jsonl" for name in ("before", "after", "other"))
    write_figures([result()], before)
    write_figures([result()], after)
    write_figures([result(mode="native")], other)
    assert len(read_all([before, other])) == 2
    with pytest.raises(ConfigurationError, match=r"after\.jsonl and .*before\.jsonl both have an attempt of shop a"):
        read_all([before, after])
    before.write_text(before.read_text(encoding="utf-8") * 2, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"before\.jsonl has twice an attempt of shop a .*repeat 0"):
        read_all([before])


def test_a_missing_file_is_named_with_the_command_that_writes_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no file .*gone\.jsonl: `codemode measure SUITE --out"):
        read_all([tmp_path / "gone.jsonl"])


def test_a_file_that_only_looks_compressed_is_rejected(tmp_path: Path) -> None:
    file = tmp_path / "figures.jsonl.xz"
    file.write_text("{}\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="not a file compressed with xz"):
        read_results(file)
    other = tmp_path / "figures.jsonl"
    other.write_bytes(b"\xff\n")
    with pytest.raises(ConfigurationError, match=r"figures\.jsonl: not a text in UTF-8"):
        read_results(other)
