"""The progress bars of a terminal."""

from __future__ import annotations

import io

from rich.console import Console

from codemode.catalog.loading import LoadingStep
from codemode.serving.cli.loading import LoadingBars

STEPS = (
    LoadingStep("reading", "gym"),
    LoadingStep("parsing", "gym", size_bytes=12_340_000),
    LoadingStep("reading", "[bold]\x1b[2J"),
    LoadingStep("loaded", "gym", tools=137),
    LoadingStep("failed", "[bold]\x1b[2J"),
    LoadingStep("indexing", tools=137),
    LoadingStep("indexed", tools=137),
    LoadingStep("embedding", tools=137, done=64),
)


async def test_each_source_has_a_row_with_its_size_and_tools() -> None:
    console = Console(width=80, file=io.StringIO(), force_terminal=True, color_system=None)
    bars = LoadingBars(console)
    with bars.shown(after_s=3600.0):
        for step in STEPS:
            bars.update(step)
        with console.capture() as captured:
            console.print(bars)
    rows = captured.get().splitlines()
    assert [row.split("━")[0].strip() for row in rows] == ["gym", "[bold]\\x1b[2J", "index", "embeddings"]
    assert "12.3 MB, 137 tools" in rows[0]
    assert "failed" in rows[1]
    assert "137 tools" in rows[2]
    assert "64 of 137 tools" in rows[3]
    assert all(row.endswith(" s") for row in rows)


async def test_what_loads_at_once_draws_nothing() -> None:
    console = Console(file=io.StringIO(), force_terminal=True)
    bars = LoadingBars(console)
    with bars.shown():
        bars.update(STEPS[0])
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().strip() == ""
