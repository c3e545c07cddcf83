"""The pages take their figures from docs/figures.json, and the product still measures them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from benchmarks.figures import PROGRAM, QUERIES, QUESTION, figures
from tests.acceptance.docs.pages import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FIGURES = json.loads((ROOT / "docs" / "figures.json").read_text(encoding="utf-8"))
TASK = FIGURES["task"]
README, INDEX, BENCHMARKS = ROOT / "README.md", ROOT / "docs" / "index.md", ROOT / "docs" / "benchmarks" / "index.md"


#: The modes of the task, by their names in the pages.
MODES = {"native tools": "native", "native tools, deferred": "deferred", "two tools (code mode)": "code"}


def rounded(tokens: int) -> str:
    """The README says thousands, and hundreds of small figures."""
    return f"{round(tokens, -3 if tokens > 10_000 else -2):,}"


#: What each page says, by the file.
SENTENCES = [
    (README, "The {tools} operations of the example API cost {native:,} tokens in every request"),
    (README, "The two tools cost {code:,},"),
    (README, "compares {native:,} tokens of native tools with {code:,} of two tools"),
    (README, "native tools rise to {native:,} tokens, a menu of 15 stays at {menu:,}, the two tools at {code:,}"),
    (INDEX, "compares {native:,} tokens of native tools with {code:,} of two tools"),
    (BENCHMARKS, "| native tools | {tools} | {native:,} |"),
    (BENCHMARKS, "| native tools, deferred | 6 | {deferred:,} |"),
    (BENCHMARKS, "| a menu of 15 for each message | 15 | {menu:,} |"),
    (BENCHMARKS, "| two tools (code mode) | 2 | {code:,} |"),
]


@pytest.mark.parametrize(("page", "sentence"), SENTENCES)
def test_a_page_says_the_measured_figure(page: Path, sentence: str) -> None:
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert sentence.format(**{key: value for key, value in FIGURES.items() if key != "task"}) in text


def test_the_readme_tells_the_measured_task() -> None:
    text = README.read_text(encoding="utf-8")
    assert f"> **You:** {QUESTION}" in text
    assert f"search({', '.join(json.dumps(query) for query in QUERIES)})" in text
    assert PROGRAM in text
    assert f"The program makes {TASK['calls']} calls" in text
    assert f"> **Answer:** {', '.join(TASK['answer'][:4])}, " in text
    rows = re.findall(r"^\| .+? \| \**(\d)\** \| \**([\d,]+)\** \|$", text, re.MULTILINE)
    assert rows == [
        (str(TASK[key]["requests"]), rounded(TASK[key]["tokens"])) for key in ("native", "deferred", "code")
    ]


def test_the_first_page_of_the_site_tells_the_measured_task() -> None:
    text = INDEX.read_text(encoding="utf-8")
    assert QUESTION in " ".join(text.split())
    assert f"takes {TASK['calls']} calls" in text
    shown = re.findall(r"<b>([\d,]+)</b> tokens .*, in (\d) requests", text)
    assert shown == [(f"{TASK[key]['tokens']:,}", str(TASK[key]["requests"])) for key in MODES.values()]


def test_the_benchmarks_page_has_the_task_too() -> None:
    text = BENCHMARKS.read_text(encoding="utf-8")
    for name, key in (
        ("native tools", "native"),
        ("native tools, deferred", "deferred"),
        ("two tools (code mode)", "code"),
    ):
        assert f"| {name} | {TASK[key]['requests']} | {TASK[key]['tokens']:,} |" in text


async def test_the_file_is_what_the_product_measures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))  # by estimate, on every machine
    measured = await figures()
    assert (measured["tools"], measured["task"]["answer"]) == (FIGURES["tools"], TASK["answer"])
    assert measured["task"]["calls"] == TASK["calls"]
    for key in ("native", "deferred", "menu", "code"):
        assert measured[key] == pytest.approx(FIGURES[key], rel=0.08), key
    for key in MODES.values():
        assert measured["task"][key]["requests"] == TASK[key]["requests"]
        assert measured["task"][key]["tokens"] == pytest.approx(TASK[key]["tokens"], rel=0.08), key
