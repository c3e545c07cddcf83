"""Progress bars while sources are read, and tools are indexed and embedded: source, megabytes, seconds."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, ProgressColumn
from rich.text import Text

from codemode.serving.output.terminal import WAIT_S
from codemode.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console, RenderableType
    from rich.progress import Task, TaskID

    from codemode.catalog.loading import LoadingStep

_BAR = 20
_REFRESHES_PER_S = 8
#: Names of the rows that concern all sources.
_ALL = {"indexing": "index", "indexed": "index", "embedding": "embeddings", "embedded": "embeddings"}
_ENDS = ("loaded", "failed", "indexed", "embedded")


class LoadingBars:
    """One row for each source, for the index and for the embeddings. `update` is a `LoadingListener`."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            _Plain("description", "bold"),
            BarColumn(_BAR),
            _Plain("amount", "dim"),
            _Seconds(),
            console=console,
            refresh_per_second=_REFRESHES_PER_S,
            transient=True,
            redirect_stdout=False,
        )
        self._rows: dict[str, TaskID] = {}

    def update(self, step: LoadingStep) -> None:
        """Show a step. Drawing happens at most eight times a second, in a thread of its own."""
        name = step.source or _ALL[step.step]
        row = self._rows.get(name)
        if row is None:
            row = self._rows[name] = self._progress.add_task(visible(name), total=None, amount="")
        if step.step == "parsing":
            self._progress.update(row, amount=f"{step.size_bytes / 1e6:,.1f} MB")
        elif step.step == "embedding":
            amount = f"{step.done:,} of {step.tools:,} tools"
            self._progress.update(row, total=step.tools, completed=step.done, amount=amount)
        elif step.step in _ENDS:
            size = self._progress.tasks[row].fields["amount"] if step.source else ""
            end = "failed" if step.step == "failed" else f"{step.tools:,} tools"
            self._progress.update(row, total=1, completed=1, amount=", ".join(filter(None, (size, end))))

    def __rich__(self) -> RenderableType:
        return self._progress.get_renderable()

    @contextmanager
    def shown(self, *, after_s: float = WAIT_S) -> Iterator[None]:
        """Draw the rows while the block runs, if it takes longer than `after_s` seconds. Needs an event loop."""
        appearing = asyncio.get_running_loop().call_later(after_s, self._progress.start)
        try:
            yield
        finally:
            appearing.cancel()
            self._progress.stop()


class _Plain(ProgressColumn):
    """A field of a row as plain text: names of sources have no markup."""

    def __init__(self, field: str, style: str) -> None:
        super().__init__()
        self._field = field
        self._style = style

    def render(self, task: Task) -> Text:
        text = task.description if self._field == "description" else task.fields[self._field]
        return Text(text, style=self._style)


class _Seconds(ProgressColumn):
    """The seconds of a row, to a tenth."""

    def render(self, task: Task) -> Text:
        elapsed_s = task.finished_time if task.finished else task.elapsed
        return Text(f"{elapsed_s or 0.0:.1f} s", style="cyan")
