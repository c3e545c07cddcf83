"""One of several server processes, and what it shares with the others."""

from __future__ import annotations

import os
import shutil
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

#: Folder below the shared one. prometheus_client names its files by pid.
_METRICS = "metrics"


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """Process `number` of `count`, counted from 1.

    `folder` belongs to all processes. The file descriptor `supervisor_end` can be read once the supervisor has ended.
    """

    number: int
    count: int
    folder: Path
    supervisor_end: int

    def end_with_supervisor(self, loop: asyncio.AbstractEventLoop) -> None:
        """Stop as after SIGTERM if the supervisor ends, and remove what it can no longer remove."""

        def stop() -> None:
            loop.remove_reader(self.supervisor_end)
            shutil.rmtree(self.folder, ignore_errors=True)
            os.kill(os.getpid(), signal.SIGTERM)

        loop.add_reader(self.supervisor_end, stop)

    @property
    def metrics(self) -> Path:
        """The folder of the metrics."""
        folder = self.folder / _METRICS
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def share_metrics(self) -> None:
        """Have prometheus_client write to the folder of the metrics. Call it before that is imported."""
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(self.metrics)  # noqa: TID251 -- its only interface

    @staticmethod
    def forget(folder: Path, pid: int) -> None:
        """Remove the gauges of an ended process. Its counters still count."""
        for gauge in (folder / _METRICS).glob(f"gauge_live*_{pid}.db"):
            gauge.unlink(missing_ok=True)
