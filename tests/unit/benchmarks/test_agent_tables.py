"""The published tables of agents are those that the files in the tree give."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.agent_tables import FIGURES, PAGES, PLOT, filled, plotted
from codemode.bench.figures import figures_of, write_figures
from codemode.bench.results import read_all, read_results, text_of
from codemode.errors import ConfigurationError
from tests.unit.codemode.bench.samples import gold, result

if TYPE_CHECKING:
    from pathlib import Path

    from codemode.bench.results import Key

BEFORE = """Before.

<!-- Gold programs of *.jsonl* -->
| stale |

After.

<!-- Origin of a.jsonl -->

- stale

End.
"""

FILES = sorted(FIGURES.glob("*.jsonl*"))


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.name)
def test_a_page_has_the_tables_of_its_files(file: Path) -> None:
    page = file.read_text(encoding="utf-8")
    assert filled(page) == page, "run `python -m benchmarks.agent_tables --write`"


def test_the_plot_of_the_crossing_is_that_of_its_file() -> None:
    assert PLOT.read_text(encoding="utf-8") == plotted(), "run `python -m benchmarks.agent_tables --write`"


def test_there_are_files_and_a_page_names_each() -> None:
    page = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert FILES
    assert [file.name for file in FILES if file.name not in page] == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_in_the_tree_has_figures_alone_and_names_their_origin(file: Path) -> None:
    results = read_results(file)
    assert [figures_of(one) for one in results] == results
    assert [one.task for one in results if not {"date", "commit"} <= one.about.keys()] == []


def test_the_recording_has_every_request_behind_the_figures() -> None:
    names = ("paired.jsonl.xz", "surface.jsonl.xz", "strong-attacked.jsonl.xz")
    played = [one for one in read_all([FIGURES / name for name in names]) if one.mode != "pydantic-ai"]
    recorded = recorded_usage(FIGURES / "recordings" / "strong.jsonl.xz")
    assert len(played) > 500
    for one in played:
        usage = [(turn.requests, turn.input_tokens, turn.output_tokens, turn.cached_tokens) for turn in one.turns]
        assert tuple(map(sum, zip(*usage, strict=True))) == recorded[one.key], one.key


def recorded_usage(file: Path) -> dict[Key, tuple[int, int, int, int]]:
    """Return requests and tokens (input, output, cached) of each attempt. The last one of an attempt counts."""
    usage: dict[Key, tuple[int, int, int, int]] = {}
    for line in map(json.loads, text_of(file).splitlines()):
        key = tuple(line[name] for name in ("suite", "task", "model", "mode", "policy", "repeat"))
        before = usage[key] if line["number"] else (0, 0, 0, 0)
        tokens = line["answer"]["usage"]
        usage[key] = (
            before[0] + 1,
            before[1] + tokens["input"],
            before[2] + tokens["output"],
            before[3] + tokens["cached"],
        )
    return usage


def test_a_table_is_replaced_after_its_mark(tmp_path: Path) -> None:
    write_figures([gold(about={"date": "2026-11-26"})], tmp_path / "a.jsonl")
    write_figures([result()], tmp_path / "b.jsonl.xz")
    text = filled(BEFORE, tmp_path)
    assert "| shop | off | 1/1 |" in text
    assert "- date 2026-11-26." in text
    assert "stale" not in text
    assert [text.count(word) for word in ("Before.", "After.", "End.")] == [1, 1, 1]
    assert filled(text, tmp_path) == text


def test_a_table_that_the_files_do_not_give_is_named(tmp_path: Path) -> None:
    write_figures([gold()], tmp_path / "a.jsonl")
    with pytest.raises(ConfigurationError, match="give no table 'Gold program'; did you mean 'Gold programs'"):
        filled("<!-- Gold program of a.jsonl -->\n\n", tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no file .*gone\.jsonl"):
        filled("<!-- Success of gone.jsonl -->\n\n", tmp_path)


def test_costs_are_those_of_each_price_list(tmp_path: Path) -> None:
    write_figures([result()], tmp_path / "a.jsonl")
    (tmp_path / "prices.yaml").write_text("- {name: one, prices: '10000,0,0'}\n- {name: two, prices: '0,0,10000'}\n")
    (turn,) = result().turns
    fresh, written = turn.input_tokens - turn.cached_tokens, turn.output_tokens
    text = filled("<!-- Costs of a.jsonl -->\n", tmp_path)
    assert text.splitlines()[2:] == [
        "| model | mode | policy | one | two |",
        "| --- | --- | --- | --- | --- |",
        f"| m | code | off | {fresh:.2f} | {written:.2f} |",
    ]


def test_lost_requests_are_counted_by_cause_and_mode(tmp_path: Path) -> None:
    lines = ["code\t1\t7\ttypes\tlooked first", "native\t1\t3\town\t“a”", "code\t2\t9\ttypes\t"]
    (tmp_path / "remarks.tsv").write_text("\n".join(lines))
    assert filled("<!-- Lost requests of remarks.tsv -->\n", tmp_path).splitlines()[2:] == [
        "| cause | code | native |",
        "| --- | --- | --- |",
        "| types | 2 |  |",
        "| own |  | 1 |",
    ]
